import { amend } from "../router";

/** Shows a tab of what happened, with a record selected, and brings it into view. */
export function showTab(tab: "" | "calls" | "data" | "history", rec: number | null) {
  amend({ tab: tab || null, rec: rec === null ? null : String(rec) });
  intoView(".happened");
}

/** Selects a state in the diagram, and brings that into view. */
export function showState(state: string) {
  amend({ state });
  intoView(".columns");
}

function intoView(selector: string) {
  requestAnimationFrame(() => document.querySelector(selector)?.scrollIntoView({ block: "start" }));
}
