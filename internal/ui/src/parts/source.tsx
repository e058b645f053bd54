import { useEffect, useRef } from "preact/hooks";
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

/** A document with the number of each line, and what is to be said of it below the line. */
export function Source(p: { text: string; remarks: Remark[]; line?: number }) {
  const lines = p.text.replace(/\n$/, "").split("\n");
  const chosen = useRef<HTMLLIElement>(null);
  useEffect(() => chosen.current?.scrollIntoView({ block: "center" }), [p.line]);
  const elsewhere = p.remarks.filter((d) => !d.line || d.file || d.line > lines.length);
  const byLine = new Map<number, Remark[]>();
  for (const d of p.remarks) if (d.line && !elsewhere.includes(d)) byLine.set(d.line, [...(byLine.get(d.line) ?? []), d]);
  return (
    <>
      {elsewhere.length > 0 && <Places remarks={elsewhere} />}
      <ol class="source" tabIndex={0} aria-label="Source">
        {lines.map((text, i) => {
          const here = byLine.get(i + 1) ?? [];
          const kind = here.length === 0 ? "" : here.every(isWarning) ? "odd" : "wrong";
          return (
            <li key={i} ref={p.line === i + 1 ? chosen : undefined} class={kind + (p.line === i + 1 ? " chosen" : "")}>
              <code>{text || " "}</code>
              {here.map((d) => (
                <RemarkText remark={d} />
              ))}
            </li>
          );
        })}
      </ol>
    </>
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
            {p.go && d.line && !d.file ? (
              <button type="button" onClick={() => p.go!(d)} aria-label={`Go to line ${d.line}`}>
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

/** A text to write, with the number of each line and a sign where something is wrong. */
export function Writing(p: { id: string; label: string; value: string; rows?: number; remarks: Remark[]; onInput: (text: string) => void; onSubmit?: () => void }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const count = p.value.split("\n").length;
  const kinds = new Map<number, string>();
  for (const d of p.remarks) if (d.line && !d.file && kinds.get(d.line) !== "wrong") kinds.set(d.line, isWarning(d) ? "odd" : "wrong");
  const follow = () => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop;
  };
  useEffect(follow);
  const goTo = (d: Remark) => {
    const t = area.current;
    if (!t || !d.line) return;
    const before = t.value.split("\n").slice(0, d.line - 1);
    const at = before.reduce((n, l) => n + l.length + 1, 0) + Math.max(0, (d.column ?? 1) - 1);
    t.focus();
    t.setSelectionRange(at, at);
    t.scrollTop = Math.max(0, (d.line - 4) * 20);
  };
  const list = p.id + "-remarks";
  return (
    <>
      <label for={p.id}>{p.label}</label>
      <div class="writing">
        <div class="gutter" ref={gutter} aria-hidden="true">
          <div>
            {Array.from({ length: count }, (_, i) => (
              <span class={kinds.get(i + 1)}>{(kinds.has(i + 1) ? (kinds.get(i + 1) === "odd" ? "▲ " : "✕ ") : "") + (i + 1)}</span>
            ))}
          </div>
        </div>
        <textarea
          id={p.id}
          ref={area}
          rows={p.rows ?? 10}
          value={p.value}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          wrap="off"
          aria-describedby={list}
          aria-invalid={[...kinds.values()].includes("wrong")}
          onInput={(e) => p.onInput(e.currentTarget.value)}
          onScroll={follow}
          onKeyDown={(e) => {
            if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && p.onSubmit) {
              e.preventDefault();
              p.onSubmit();
            }
          }}
        />
      </div>
      <div id={list}>{p.remarks.length > 0 && <Places remarks={p.remarks} go={goTo} />}</div>
    </>
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
