// What someone wrote is kept in the browser, for each beginning apart, so that nothing is
// lost by choosing another example, by leaving or by closing the page.
import { nothing, type Texts } from "./playground-examples";

const prefix = "lockstep-playground:";

/** What was written from a beginning, if it differs from it. */
export function readDraft(base: string): Texts | null {
  try {
    const kept = JSON.parse(localStorage.getItem(prefix + base) ?? "null") as Texts | null;
    return kept && typeof kept.definition === "string" ? { ...nothing, ...kept } : null;
  } catch {
    return null; // no storage, or not ours
  }
}

/** Keeps what was written; null forgets it. Says whether that could be done. */
export function keepDraft(base: string, texts: Texts | null): boolean {
  try {
    if (texts) localStorage.setItem(prefix + base, JSON.stringify(texts));
    else localStorage.removeItem(prefix + base);
    return true;
  } catch {
    return false;
  }
}
