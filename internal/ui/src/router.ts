// The address is the state: every filter, selection and tab that someone may want to keep
// or send is in it, and Back brings it back.
import { computed, signal } from "@preact/signals";

const href = signal(location.pathname + location.search);

/** Where the page is. */
export const place = computed(() => {
  const url = new URL(location.origin + href.value); // in one: "//x" alone is another server
  const parts = url.pathname.replace(/\/$/, "").split("/").slice(1).map(decode);
  return { path: url.pathname, parts, query: url.searchParams };
});

/** A part of a path; one that is not well formed stands for itself. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Where the reader was in each place of the session's history.
const scrolls = new Map<string, number>();
let entry: string = (history.state as { entry?: string } | null)?.entry ?? newEntry();
history.scrollRestoration = "manual";
history.replaceState({ entry }, "");

function newEntry(): string {
  return crypto.randomUUID?.() ?? String(Math.random());
}

function remember() {
  scrolls.set(entry, window.scrollY);
}

/** The place to scroll to once a page has drawn what it had; called by pages with lists. */
export function restoreScroll() {
  const y = scrolls.get(entry);
  scrolls.delete(entry); // once: later answers must not move the reader
  if (y !== undefined) requestAnimationFrame(() => window.scrollTo(0, y));
}

/** Goes to another place. */
export function go(to: string) {
  if (to === location.pathname + location.search) return;
  remember();
  entry = newEntry();
  history.pushState({ entry }, "", location.origin + to);
  href.value = to;
  window.scrollTo(0, 0);
}

/** Changes the query of the place without a step in the history, as while typing. */
export function amend(change: Record<string, string | null>) {
  const url = new URL(location.origin + href.value);
  for (const [key, value] of Object.entries(change)) {
    if (value === null || value === "") url.searchParams.delete(key);
    else url.searchParams.set(key, value);
  }
  const to = url.pathname + url.search;
  history.replaceState({ entry }, "", location.origin + to);
  href.value = to;
}

addEventListener("popstate", (e) => {
  remember();
  entry = (e.state as { entry?: string } | null)?.entry ?? newEntry();
  href.value = location.pathname + location.search;
});

// Plain clicks on links of this page do not load it again.
addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const a = (e.target as Element).closest?.("a[href]");
  if (!(a instanceof HTMLAnchorElement) || a.target || a.hasAttribute("download") || a.origin !== location.origin) return;
  if (a.pathname.startsWith("/api/") || a.pathname === "/metrics" || a.pathname.startsWith("/openapi")) return;
  e.preventDefault();
  const to = a.pathname + a.search;
  if (a.hash && to === location.pathname + location.search) enter(a.hash.slice(1));
  else go(to);
});

/** Takes the reader to a part of the page, as the browser does for links with a hash. */
function enter(id: string) {
  const part = document.getElementById(id);
  part?.scrollIntoView();
  part?.focus({ preventScroll: true });
}
