import { Problem } from "../api";

/** What went wrong, and what to do about it. */
export function ProblemBox(p: { error: unknown; again?: () => void }) {
  const e = p.error;
  if (!e) return null;
  const hint = e instanceof Problem ? e.hint : "";
  return (
    <div class="problem" role="alert">
      <p>{e instanceof Error ? e.message : String(e)}</p>
      {hint && <p class="quiet">{hint}</p>}
      {p.again && (
        <button type="button" onClick={p.again}>
          Try again
        </button>
      )}
    </div>
  );
}
