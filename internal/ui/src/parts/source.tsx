import type { Diagnostic } from "../api";
import "./source.css";

/** Something that is wrong, with or without a place. */
export type Remark = Partial<Diagnostic> & { message: string; pointer?: string };

const isWarning = (d: Remark) => d.severity === "warning";

function RemarkText(p: { remark: Remark }) {
  const d = p.remark;
  return (
    <span class={isWarning(d) ? "remark warning" : "remark"}>
      <b>
        <span aria-hidden="true">{isWarning(d) ? "▲" : "✕"}</span> {isWarning(d) ? "warning" : "error"} {d.code}
      </b>{" "}
      {d.message}
      {d.hint && <span class="quiet"> {d.hint}</span>}
    </span>
  );
}

/** Remarks as a list; with go each leads to its place. */
export function Places(p: { remarks: Remark[]; go?: (d: Remark) => void }) {
  return (
    <ul class="places">
      {p.remarks.map((d) => {
        const at = (d.file ? d.file + ":" : "") + (d.line ? `${d.line}:${d.column ?? 1}` : (d.pointer ?? ""));
        return (
          <li>
            {p.go && d.line ? (
              <button type="button" onClick={() => p.go!(d)}>
                <span class="unseen">Go to </span>
                {at}
              </button>
            ) : (
              at && <code>{at}</code>
            )}
            <RemarkText remark={d} />
          </li>
        );
      })}
    </ul>
  );
}

/** What is wrong with a text that should be JSON, at its place; null: nothing. */
export function jsonRemark(text: string): Remark | null {
  try {
    JSON.parse(text);
    return null;
  } catch (e) {
    const message = (e as Error).message;
    const position = /position (\d+)/.exec(message);
    const at = position ? Number(position[1]) : text.length;
    const before = text.slice(0, at).split("\n");
    return {
      severity: "error",
      code: "JSON",
      message: message.replace(/ \(line.*\)$/, "").replace(/ in JSON at position \d+$/, ""),
      line: before.length,
      column: before[before.length - 1]!.length + 1,
    };
  }
}
