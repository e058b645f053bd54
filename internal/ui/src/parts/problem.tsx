import { useRef } from "preact/hooks";
import { Problem } from "../api";
import { connection } from "../live";
import type { Remark } from "./source";

/** The errors of a problem, where they stand in a document. */
export function remarksOf(e: unknown): Remark[] {
  const errors = e instanceof Problem ? e.body.errors : undefined;
  return Array.isArray(errors) ? (errors as Remark[]) : [];
}

/** What went wrong, and what to do about it. */
export function ProblemBox(p: { error: unknown; again?: () => void }) {
  const e = p.error;
  const status = e instanceof Problem ? e.status : undefined;
  const back = useBack(status === 0);
  if (!e) return null;
  const hint = e instanceof Problem ? e.hint : "";
  const again = status !== 403 && p.again && (
    <button type="button" onClick={p.again}>
      Try again
    </button>
  );
  if (back) {
    return (
      <div class="panel" role="status">
        The server did not answer, and does so again now: what you wanted can be tried once more. {again}
      </div>
    );
  }
  return (
    <div class="problem" role="alert">
      <p>{e instanceof Error ? e.message : String(e)}</p>
      {hint && <p class="quiet">{hint}</p>}
      {again}
    </div>
  );
}

/** Whether the server was lost and is back since something got no answer. */
function useBack(unanswered: boolean): boolean {
  const lost = useRef(false);
  const live = connection.value === "live";
  if (!unanswered) lost.current = false;
  else if (!live) lost.current = true;
  return lost.current && live;
}
