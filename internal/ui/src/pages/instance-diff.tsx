import { useMemo, useState } from "preact/hooks";
import { differences, mostDifferences, type Difference } from "../parts/differences";
import { number, offsetOf } from "../parts/format";
import { Json } from "../parts/json";
import { isTree, sizeOf } from "../parts/json-rows";
import { millis, type History, type Rec } from "./instance-history";

const signs = { added: "+", removed: "−", changed: "~", inside: "" };
const words = { added: "added", removed: "removed", changed: "changed", inside: "" };

/** What differs between two values. */
export function Changes(p: { before: unknown; after: unknown }) {
  const { list, count } = useMemo(() => differences(p.before, p.after), [p.before, p.after]);
  if (list.length === 0) return <p class="quiet">No difference.</p>;
  return (
    <div class="changes" role="region" aria-label="Differences" tabIndex={0}>
      <Level list={list} />
      {count > mostDifferences && <p class="quiet">and {number(count - mostDifferences)} more differences</p>}
    </div>
  );
}

function Level(p: { list: Difference[] }) {
  return (
    <ul>
      {p.list.map((d) => (
        <li key={d.key}>
          <span class={"change " + d.change}>
            {d.change !== "inside" && (
              <>
                <span class="change-sign" aria-hidden="true">
                  {signs[d.change]}
                </span>
                <span class="unseen">{words[d.change]} </span>
              </>
            )}
            <b>{typeof d.key === "number" ? `[${d.key}]` : d.key}</b>
            {d.change !== "inside" && ": "}
            {d.change !== "added" && d.change !== "inside" && <Brief value={d.before} tag="del" />}
            {d.change === "changed" && " → "}
            {d.change !== "removed" && d.change !== "inside" && <Brief value={d.after} tag="ins" />}
          </span>
          {d.inner.length > 0 && <Level list={d.inner} />}
        </li>
      ))}
    </ul>
  );
}

function Brief(p: { value: unknown; tag: "del" | "ins" }) {
  const Tag = p.tag;
  const text = JSON.stringify(p.value) ?? "";
  if (text.length <= 120) return <Tag>{text}</Tag>;
  const says = isTree(p.value) ? (Array.isArray(p.value) ? `[… ${number(sizeOf(p.value))} items]` : `{… ${number(sizeOf(p.value))} keys}`) : text.slice(0, 120) + "…";
  return <Tag title={text.slice(0, 2000)}>{says}</Tag>;
}

const mostPoints = 400;

/**
 * The points at which data is known: of the workflow, and of the tasks inside its tasks. Of too many,
 * the outer ones stay, and the first and the last of those inside.
 */
function pointsOf(h: History): { points: Rec[]; of: number } {
  const all = [...h.head, ...h.tail].filter((r) => r.data !== undefined && ["started", "entered", "left", "finished"].includes(r.type));
  const levels: Rec[][] = [];
  for (const r of all) (levels[r.depth ?? 0] ??= []).push(r);
  const points: Rec[] = [];
  for (const level of levels) {
    if (!level) continue; // the records that have this depth carry no data
    const half = Math.floor((mostPoints - points.length) / 2);
    points.push(...(level.length <= 2 * half ? level : [...level.slice(0, half), ...level.slice(level.length - half)]));
  }
  return { points: points.sort((a, b) => a.seq - b.seq), of: all.length };
}

function nameOf(r: Rec): string {
  const of = { started: "Input of the instance", entered: `Before ${r.node}`, left: `After ${r.node}`, finished: "Output of the instance" }[r.type as "started"];
  return of + (r.index === undefined ? "" : `, item ${number(r.index)}`);
}

/** The data of the workflow at any two points, and what differs between them. */
export function DataTab(p: { history: History }) {
  const { points, of } = useMemo(() => pointsOf(p.history), [p.history.head, p.history.tail]);
  const [from, setFrom] = useState<number>();
  const [to, setTo] = useState<number>();
  const first = points[0];
  if (!first) return <p class="quiet">No data is recorded yet.</p>;
  const a = points.find((r) => r.seq === from) ?? first;
  const b = points.find((r) => r.seq === to) ?? points.at(-1)!;
  const start = millis(first.time);
  const options = points.map((r) => (
    <option key={r.seq} value={r.seq}>
      {nameOf(r)}, +{offsetOf(millis(r.time) - start)}
    </option>
  ));
  const at = points.indexOf(b);
  const show = (i: number) => {
    const next = points[i];
    if (!next) return;
    setTo(next.seq);
    setFrom(points[Math.max(0, i - 1)]!.seq);
  };
  return (
    <section aria-label="Data">
      <div class="heading data-bar">
        <label>
          <span>From</span>{" "}
          <select value={a.seq} onChange={(e) => setFrom(Number(e.currentTarget.value))}>
            {options}
          </select>
        </label>
        <label>
          <span>To</span>{" "}
          <select value={b.seq} onChange={(e) => setTo(Number(e.currentTarget.value))}>
            {options}
          </select>
        </label>
        <span class="data-steps" role="group" aria-label="Step by step">
          <button type="button" disabled={at <= 0} onClick={() => show(at - 1)}>
            ‹ Step back
          </button>
          <button type="button" disabled={at >= points.length - 1} onClick={() => show(at + 1)}>
            Step on ›
          </button>
        </span>
      </div>
      {points.length < of && (
        <p class="quiet">
          {number(points.length)} of {number(of)} points can be chosen: of the tasks inside others, those in the middle are left out.
        </p>
      )}
      <h3>Differences</h3>
      <Changes before={a.data} after={b.data} />
      <div class="call-sides">
        <div>
          <h3>{nameOf(a)}</h3>
          <Json key={a.seq} value={a.data} label={"Data: " + nameOf(a)} />
        </div>
        <div>
          <h3>{nameOf(b)}</h3>
          <Json key={b.seq} value={b.data} label={"Data: " + nameOf(b)} />
        </div>
      </div>
      {p.history.unread > 0 && <p class="quiet">Points in records that are not read are left out.</p>}
    </section>
  );
}
