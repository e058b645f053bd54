import { useMemo, useState } from "preact/hooks";
import type { Diagnostic, Fault, Instance, Status } from "../api";
import type { NodeMark } from "../parts/diagram";
import { Json } from "../parts/json";
import { StatusMark } from "../parts/status";
import { span } from "../parts/when";

export interface PlayRecord {
  seq: number;
  time: string;
  type: string;
  node?: string;
  depth?: number;
  name?: string;
  attempt?: number;
  at?: string;
  data?: unknown;
  error?: Fault;
  text?: string;
  status?: string;
  place?: { line: number; column: number };
}

export interface PlayRun {
  status: string;
  message: string;
  clock: string;
  next?: string;
  steps: number;
  output?: unknown;
  error?: Fault & { place?: { line: number; column: number } };
  limit?: string;
  stopped: { instance: string; node: string; data?: unknown; place?: { line: number; column: number } }[];
  instances: (Instance & { job?: { state: string } })[];
  records: { instance: string; record: PlayRecord }[];
  notes: string[];
}

export interface Played {
  id?: string;
  dialect?: string;
  job: boolean;
  diagnostics: Diagnostic[];
  graph?: string;
  run?: PlayRun;
}

const final = ["completed", "failed", "cancelled", "terminated", "waiting"];
const others: Record<string, [string, string]> = {
  stopped: ["‖", "stopped"],
  later: ["◔", "waits for its time"],
  limit: ["✕", "cut off"],
  none: ["○", "not started"],
};

export function Result(p: { run: PlayRun; stale: boolean; onLine: (line: number, column: number) => void; state: string; onAll: () => void }) {
  const { run } = p;
  const other = others[run.status];
  return (
    <section class="play-result" aria-label="Result">
      <p class="play-verdict">
        {final.includes(run.status) ? (
          <StatusMark status={run.status as Status} />
        ) : (
          <span class={"status " + (run.status === "limit" ? "failed" : "paused")}>
            <span aria-hidden="true">{other?.[0]}</span> {other?.[1] ?? run.status}
          </span>
        )}{" "}
        {run.message}
        {run.error?.place && (
          <>
            {" "}
            <button type="button" class="link" onClick={() => p.onLine(run.error!.place!.line, run.error!.place!.column)}>
              Line {run.error.place.line}
            </button>
          </>
        )}
      </p>
      {p.stale && <p class="quiet">The text has changed since this run.</p>}
      {run.notes.length > 0 && (
        <ul class="play-notes">
          {run.notes.map((note) => (
            <li>{note}</li>
          ))}
        </ul>
      )}
      {run.stopped.map((s) => (
        <>
          <h3>Input of {s.node}</h3>
          <Json value={s.data} label={`Input of ${s.node}`} />
        </>
      ))}
      {run.output !== undefined && (
        <>
          <h3>Output</h3>
          <Json value={run.output} label="Output" />
        </>
      )}
      <Timeline run={run} state={p.state} onAll={p.onAll} />
    </section>
  );
}

const atOnce = 100; // lines of the timeline

function Timeline(p: { run: PlayRun; state: string; onAll: () => void }) {
  const [shown, setShown] = useState(atOnce);
  const many = p.run.instances.length > 1;
  const all = p.run.records.filter((r) => !p.state || r.record.node === p.state || r.record.node?.startsWith(p.state + "/"));
  const begun = Date.parse(p.run.records[0]?.record.time ?? p.run.clock);
  let before = begun;
  return (
    <>
      <h3>
        What happened{p.state && <> in {p.state}</>}{" "}
        {p.state && (
          <button type="button" class="link" onClick={p.onAll}>
            Show all
          </button>
        )}
      </h3>
      {all.length === 0 && <p class="quiet">Nothing.</p>}
      <ol class="play-timeline">
        {all.slice(0, shown).flatMap(({ instance, record: r }) => {
          const at = Date.parse(r.time);
          const gap = at - before;
          before = at;
          return [
            gap > 0 && (
              <li class="play-gap" key={`gap${r.seq}`}>
                {span(gap)} pass
              </li>
            ),
            <li key={r.seq} class={isBad(r) ? "bad" : undefined}>
              <span class="quiet mono">+{span(at - begun)}</span>
              <Line record={r} of={many ? instance : ""} />
            </li>,
          ];
        })}
      </ol>
      {all.length > shown && (
        <button type="button" onClick={() => setShown(shown + atOnce)}>
          Show {Math.min(atOnce, all.length - shown)} more of {all.length}
        </button>
      )}
    </>
  );
}

function Line(p: { record: PlayRecord; of: string }) {
  const text = (p.of ? p.of + ": " : "") + sentence(p.record);
  if (p.record.data === undefined) return <span>{text}</span>;
  return (
    <details>
      <summary>{text}</summary>
      <Json value={p.record.data} label={`Data of ${text}`} />
    </details>
  );
}

const isBad = (r: PlayRecord) => ["callFailed", "timedOut", "warning"].includes(r.type) || r.status === "failed";

/** A record in words. */
function sentence(r: PlayRecord): string {
  const node = r.node ?? "";
  const why = r.error ? `: ${[r.error.name, r.error.detail].filter(Boolean).join(", ")}` : "";
  switch (r.type) {
    case "started":
      return "The instance starts";
    case "entered":
      return `${node} begins`;
    case "left":
      return `${node} is done`;
    case "called":
      return `${node} calls ${r.name}${r.attempt && r.attempt > 1 ? `, attempt ${r.attempt}` : ""}`;
    case "returned":
      return `${r.name} answers`;
    case "callFailed":
      return `${r.name} fails${why}`;
    case "waiting":
      return `${node} waits${r.name ? ` for ${r.name}` : ""}${r.at ? ` until ${r.at}` : ""}`;
    case "consumed":
      return `${node} takes the event ${r.name ?? ""}`;
    case "produced":
      return `${node} produces the event ${r.name ?? ""}`;
    case "timedOut":
      return `${node} runs out of time`;
    case "retrying":
      return `${node} will be tried again${r.at ? ` at ${r.at}` : ""}`;
    case "caught":
      return `${node} handles the error${why}`;
    case "compensating":
      return `${node} is undone`;
    case "taken":
      return `${r.name ?? "Somebody"} chooses ${r.text || node}`;
    case "finished":
      return `The instance is ${r.status}${why}`;
    case "warning":
      return `${node ? node + ": " : ""}${r.text ?? ""}`;
  }
  return [r.type, node, r.name, r.text].filter(Boolean).join(" ") + why;
}

/** Marks the tasks inside of one that goes on without them: after an error, or since another was first. */
function endInside(marks: Map<string, NodeMark>, node: string) {
  for (const [name, mark] of marks) {
    if (name.startsWith(node + "/") && mark.kind !== "done") marks.set(name, { kind: "none", says: "not completed" });
  }
}

/** What the run says of the states of the diagram. */
export function useMarks(run: PlayRun | undefined): Map<string, NodeMark> {
  return useMemo(() => {
    const marks = new Map<string, NodeMark>();
    if (!run) return marks;
    const first = run.records[0]?.instance;
    for (const { instance, record: r } of run.records) {
      if (instance !== first || !r.node) continue;
      if (r.type === "entered" || r.type === "retrying") marks.set(r.node, { kind: "active", says: "running" });
      if (r.type === "waiting") marks.set(r.node, { kind: "waiting", says: "waiting" });
      if (r.type === "left" || r.type === "taken") marks.set(r.node, { kind: "done", says: "done" });
      if (r.type === "left" || r.type === "caught" || r.type === "retrying") endInside(marks, r.node);
    }
    const row = run.instances.find((i) => i.id === first);
    for (const state of row?.states ?? []) if (!marks.has(state)) marks.set(state, { kind: "active", says: "running" });
    if (row?.job) marks.set(row.job.state, { kind: "active", says: "the job is here" });
    for (const s of run.stopped) marks.set(s.node, { kind: "waiting", says: "comes next" });
    if (run.error?.node) marks.set(run.error.node, { kind: "failed", says: "failed" });
    return marks;
  }, [run]);
}
