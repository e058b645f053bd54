import { useState } from "preact/hooks";
import type { Instance } from "../api";
import { amend, place } from "../router";
import { Json } from "../parts/json";
import { ProblemBox } from "../parts/problem";
import { span } from "../parts/when";
import { dataAt, idle, isWrong, millis, type History, type Item, type Rec, type Visit } from "./instance-history";

const most = 200; // items, and records of one, that are drawn at once

export function Timeline(p: { history: History; items: Item[]; instance: Instance }) {
  const query = place.value.query;
  const failedOnly = query.get("only") === "failed";
  const selected = Number(query.get("rec") ?? 0);
  const [all, setAll] = useState(false);
  const { records } = p.history;
  const wanted = failedOnly ? p.items.filter((i) => (i.visit ? i.records.some(isWrong) : isWrong(i.record))) : p.items;
  const items = all ? wanted : wanted.slice(-most);
  const start = records[0] ? millis(records[0].time) : 0;
  let last = 0; // when something was told last
  return (
    <section aria-labelledby="timeline">
      <div class="heading">
        <h2 id="timeline">Timeline</h2>
        <label>
          <input type="checkbox" checked={failedOnly} onChange={(e) => amend({ only: e.currentTarget.checked ? "failed" : null })} /> Failed only
        </label>
        {p.history.loaded && <span class="quiet">{records.length.toLocaleString()} records{p.history.more && ", the first of more"}</span>}
      </div>
      <ProblemBox error={p.history.error} again={p.history.again} />
      {failedOnly && items.length === 0 && p.history.loaded && <p class="quiet">Nothing went wrong.</p>}
      {items.length < wanted.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show {(wanted.length - items.length).toLocaleString()} earlier
        </button>
      )}
      <ol class="timeline">
        {items.map((item) => {
          const first = item.visit ? item.records[0]! : item.record;
          const gap = last && !failedOnly ? millis(first.time) - last : 0;
          last = Math.max(last, millis((item.visit ? item.records.at(-1)! : item.record).time));
          return (
            <li key={first.seq}>
              {gap > idle && <Gap ms={gap} />}
              {item.visit ? (
                <VisitBox visit={item.visit} part={item.records} again={item.again} start={start} selected={selected} records={records} failedOnly={failedOnly} instance={p.instance} />
              ) : (
                <Line record={item.record} start={start} selected={selected} records={records} />
              )}
            </li>
          );
        })}
      </ol>
      {p.history.more && (
        <button type="button" onClick={p.history.loadMore}>
          Load more
        </button>
      )}
    </section>
  );
}

function Gap(p: { ms: number }) {
  return <div class="gap">{span(p.ms)} idle</div>;
}

function VisitBox(p: { visit: Visit; part: Rec[]; again: boolean; start: number; selected: number; records: Rec[]; failedOnly: boolean; instance: Instance }) {
  const v = p.visit;
  const [open, setOpen] = useState(() => p.records.length < 120 || v.error || !v.left || p.part.some((r) => r.seq === p.selected));
  const shown = p.failedOnly ? p.part.filter(isWrong) : p.part;
  const wrong = p.part.some(isWrong);
  const took = v.left ? span(millis(v.left.time) - millis(v.records[0]!.time)) : "";
  const calls = p.part.filter((r) => r.type === "called").length;
  const leftHere = p.part.at(-1) === v.left;
  let last = 0;
  return (
    <details class={"visit" + (wrong ? " wrong" : "")} open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <b>{v.node}</b>
        {p.again && <span class="quiet">again</span>}
        <span class="quiet">
          {leftHere ? took : v.left ? "" : p.instance.ended ? "not left" : "still in it"}
          {calls > 0 && `${leftHere || !v.left ? " · " : ""}${calls} ${calls === 1 ? "call" : "calls"}`}
        </span>
        {wrong && <span class="status failed">✕ {leftHere ? "had errors" : "error"}</span>}
      </summary>
      {open && (
        <ol>
          {shown.slice(0, most).map((r) => {
            const gap = last && !p.failedOnly ? millis(r.time) - last : 0;
            last = millis(r.time);
            return (
              <li key={r.seq}>
                {gap > idle && <Gap ms={gap} />}
                <Line record={r} start={p.start} selected={p.selected} records={p.records} />
              </li>
            );
          })}
          {shown.length > most && <li class="quiet">and {(shown.length - most).toLocaleString()} more records in this state</li>}
        </ol>
      )}
    </details>
  );
}

function Line(p: { record: Rec; start: number; selected: number; records: Rec[] }) {
  const r = p.record;
  const on = r.seq === p.selected;
  return (
    <>
      <button
        type="button"
        class={"record" + (isWrong(r) ? " wrong" : "")}
        aria-expanded={on}
        title={new Date(r.time).toLocaleString()}
        onClick={() => amend({ rec: on ? null : String(r.seq) })}
      >
        <span class="offset">+{offset(millis(r.time) - p.start)}</span>
        <span>
          {isWrong(r) && "✕ "}
          {describe(r)}
        </span>
      </button>
      {on && <Point record={r} records={p.records} />}
    </>
  );
}

/** Time since the start; at first to the hundredth, as most things are quick. */
function offset(ms: number): string {
  return ms >= 1000 && ms < 60_000 ? `${(ms / 1000).toFixed(2)}s` : span(ms);
}

/** What was known at a point. */
function Point(p: { record: Rec; records: Rec[] }) {
  const r = p.record;
  const then = dataAt(p.records, r.seq);
  return (
    <div class="point">
      {r.error && <FaultText error={r.error} />}
      {r.data !== undefined && (
        <>
          <h3 class="minor">{dataName(r.type)}</h3>
          <Json value={r.data} label={dataName(r.type)} />
        </>
      )}
      {then && then.seq !== r.seq && (
        <>
          <h3 class="minor">The workflow's data then</h3>
          <Json value={then.data} label="The workflow's data then" />
        </>
      )}
      {r.data === undefined && !then && !r.error && <p class="quiet">No data belongs to this.</p>}
    </div>
  );
}

export function FaultText(p: { error: NonNullable<Rec["error"]> }) {
  const e = p.error;
  return (
    <p class="fault">
      <b>
        {e.name}
        {e.code && ` (${e.code})`}
      </b>
      {e.detail && <>: {e.detail}</>}
    </p>
  );
}

function dataName(type: string): string {
  const names: Record<string, string> = {
    started: "Input of the instance",
    entered: "Input of the state",
    left: "Output of the state",
    called: "Arguments",
    returned: "Result",
    consumed: "Event",
    produced: "Event",
    finished: "Output of the instance",
    spawned: "Input of the child",
    taken: "Status that was sent",
  };
  return names[type] ?? "Data";
}

/** A record in a few words. */
export function describe(r: Rec): string {
  const again = r.attempt && r.attempt > 1 ? `, attempt ${r.attempt}` : "";
  switch (r.type) {
    case "started":
      return "Started";
    case "entered":
      return "Entered";
    case "left":
      return "Left";
    case "called":
      return `Called ${r.name}${again}`;
    case "returned":
      return `${r.name} returned`;
    case "callFailed":
      return `${r.name} failed: ${r.error?.name ?? "error"}`;
    case "waiting":
      return `Waits for ${r.text ?? "something"}`;
    case "consumed":
      return `Got the event ${r.name}`;
    case "produced":
      return `Produced the event ${r.name}`;
    case "timedOut":
      return "Timed out" + (r.text ? `: ${r.text}` : "");
    case "retrying":
      return `Tries again${r.at ? " at " + new Date(r.at).toLocaleTimeString() : ""}${again}`;
    case "caught":
      return `Handles the error ${r.error?.name ?? ""}`;
    case "compensating":
      return "Undoes it";
    case "spawned":
      return `Started the workflow ${r.name}`;
    case "childEnded":
      return `The workflow ${r.name ?? ""} ended`;
    case "taken":
      return `${r.name} sent ${r.text}`;
    case "warning":
      return `Warning: ${r.text}`;
    case "control":
      return `${r.name} by ${r.text ?? "somebody"}`;
    case "finished":
      return `Finished: ${r.status}${r.error ? ", " + r.error.name : ""}`;
  }
  return [r.type, r.name, r.text].filter(Boolean).join(" ");
}

