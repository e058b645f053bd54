// What a browser keeps of how someone likes the page: no data of the server, and nothing that
// an address could say. It may be refused, or full; then it lasts as long as the page.

const prefix = "lockstep:";

/** What is kept under a name. */
export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(prefix + name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps something, or forgets it. */
export function keep(name: string, text: string | undefined) {
  try {
    if (text === undefined) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, text);
  } catch {
    // see above
  }
}
