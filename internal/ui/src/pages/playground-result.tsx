import { useState } from "preact/hooks";
import type { Diagnostic, Fault, Instance, Status } from "../api";
import { span, virtual } from "../parts/format";
import { Json } from "../parts/json";
import { StatusMark } from "../parts/status";
import type { Rec } from "./instance-history";

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
  instances: Instance[];
  records: { instance: string; record: Rec }[];
  notes: string[];
}

export interface Played {
  id?: string;
  dialect?: string;
  job: boolean;
  diagnostics: Diagnostic[];
  graph?: string;
  files?: { path: string; id?: string; version?: string; dialect?: string; graph?: string }[];
  run?: PlayRun;
  scenario?: { file: string; definition: string; text: string };
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
              <span class="quiet mono">{at > begun ? `+${span(at - begun)}` : "+0"}</span>
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

function Line(p: { record: Rec; of: string }) {
  const text = (p.of ? p.of + ": " : "") + sentence(p.record);
  if (p.record.data === undefined) return <span>{text}</span>;
  return (
    <details>
      <summary>{text}</summary>
      <Json value={p.record.data} label={`Data of ${text}`} />
    </details>
  );
}

const isBad = (r: Rec) => ["callFailed", "timedOut", "warning"].includes(r.type) || r.status === "failed";

/** An instant of virtual time, which is in UTC. */

/** A record in words. */
function sentence(r: Rec): string {
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
      return `${node} waits${r.name ? ` for ${r.name}` : ""}${r.at ? ` until ${virtual(r.at)}` : ""}`;
    case "consumed":
      return `${node} takes the event ${r.name ?? ""}`;
    case "produced":
      return `${node} produces the event ${r.name ?? ""}`;
    case "timedOut":
      return `${node} runs out of time`;
    case "retrying":
      return `${node} will be tried again${r.at ? ` at ${virtual(r.at)}` : ""}`;
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
