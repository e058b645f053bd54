import { useState } from "preact/hooks";
import type { Instance } from "../api";
import { amend, place } from "../router";
import { instant, momentOf, number, offsetOf, span } from "../parts/format";
import { Json } from "../parts/json";
import { ProblemBox } from "../parts/problem";
import { FaultText } from "./instance-call";
import { dataAt, firstRec, idle, isWrong, millis, waitOf, type History, type Item, type Rec, type Visit } from "./instance-history";

const most = 200; // items, and records of one, that are drawn at once

/** The records of a history, one by one: what a timeline leaves out is here. */
export function Log(p: { history: History; items: Item[]; instance: Instance }) {
  const query = place.value.query;
  const failedOnly = query.get("only") === "failed";
  const selected = Number(query.get("rec") ?? 0);
  const [at, setAt] = useState(selected); // the record that the first item has; 0: the newest are shown
  const { history } = p;
  // A loop over many items has a visit for each; then only what is around it is shown at first.
  const nested = p.items.some(isInner);
  const asked = query.get("inner");
  const inner = asked ? asked === "shown" : p.items.length <= most;
  const wanted = p.items.filter((i) => {
    if (!i.visit && !i.record) return true;
    if (failedOnly) return (i.visit ? i.records : [i.record]).some(isWrong);
    return inner || !isInner(i) || i.visit.error || i.records.some((r) => r.seq === selected);
  });
  const latest = Math.max(0, wanted.length - most);
  const from = at ? Math.min(latest, Math.max(0, wanted.findLastIndex((i) => seqOf(i) <= at))) : latest;
  const items = wanted.slice(from, from + most);
  const first = history.head[0] ?? history.tail[0];
  const start = first ? millis(first.time) : 0;
  const move = (to: number) => setAt(to >= latest ? 0 : seqOf(wanted[Math.max(0, to)]!));
  let last = 0; // when something was told last
  return (
    <section aria-label="History">
      <div class="heading">
        <label>
          <input type="checkbox" checked={failedOnly} onChange={(e) => amend({ only: e.currentTarget.checked ? "failed" : null })} /> Failed only
        </label>
        {nested && !failedOnly && (
          <label>
            <input type="checkbox" checked={inner} onChange={(e) => amend({ inner: e.currentTarget.checked ? "shown" : "hidden" })} /> Nested tasks
          </label>
        )}
        {history.loaded && <span class="quiet">{countOf(history)}</span>}
      </div>
      <ProblemBox error={history.error} again={history.again} />
      {failedOnly && history.loaded && !wanted.some((i) => i.visit || i.record) && <p class="quiet">{nothingWrong(p.instance, history)}</p>}
      {from > 0 && (
        <button type="button" onClick={() => move(from - most)}>
          Earlier: {number(from)} not shown
        </button>
      )}
      <ol class="log">
        {items.map((item) => {
          const first = firstRec(item);
          if (!item.visit && !item.record) {
            last = 0;
            return (
              <li key={-first.seq}>
                <Unread count={item.unread} loadMore={history.loadMore} />
              </li>
            );
          }
          const gap = last && !failedOnly ? millis(first.time) - last : 0;
          last = Math.max(last, millis((item.visit ? item.records.at(-1)! : item.record).time));
          return (
            <li key={first.seq}>
              {gap > idle && <Gap ms={gap} />}
              {item.visit ? (
                <VisitBox visit={item.visit} part={item.records} again={item.again} start={start} selected={selected} history={history} failedOnly={failedOnly} instance={p.instance} />
              ) : (
                <Line record={item.record} start={start} selected={selected} history={history} />
              )}
            </li>
          );
        })}
      </ol>
      {from < latest && (
        <div class="listbar">
          <button type="button" onClick={() => move(from + most)}>
            Later: {number(wanted.length - from - items.length)} not shown
          </button>
          <button type="button" onClick={() => setAt(0)}>
            To the end
          </button>
        </div>
      )}
    </section>
  );
}

/** Whether an item is of a state inside of another. */
function isInner(i: Item): i is Extract<Item, { visit: Visit }> {
  return i.visit !== undefined && (i.records[0]?.depth ?? 0) > 0;
}

/** Where an item is in the history. */
function seqOf(item: Item): number {
  return item.visit || item.record ? firstRec(item).seq : item.next.seq - 1;
}

function countOf(h: History): string {
  const read = h.head.length + h.tail.length;
  if (h.unread === 0) return `${number(read)} ${read === 1 ? "record" : "records"}`;
  return `${number(read + h.unread)} records: the first ${number(h.head.length)} and the last ${number(h.tail.length)} are read`;
}

/** What to say when no record tells of something wrong; that all is well only if that is known. */
function nothingWrong(i: Instance, h: History): string {
  if (h.unread > 0) return "No errors in the records read so far; there are more.";
  return i.error ? "No record has the error above." : "No errors.";
}

/** Records of a long history that were not asked for yet. */
function Unread(p: { count: number; loadMore: () => void }) {
  return (
    <div class="gap">
      {number(p.count)} {p.count === 1 ? "record is" : "records are"} not read{" "}
      <button type="button" onClick={p.loadMore}>
        Load more
      </button>
    </div>
  );
}

function Gap(p: { ms: number }) {
  return <div class="gap">{span(p.ms)} idle</div>;
}

interface InVisit {
  start: number;
  selected: number;
  history: History;
  failedOnly: boolean;
}

function VisitBox(p: InVisit & { visit: Visit; part: Rec[]; again: boolean; instance: Instance }) {
  const v = p.visit;
  const few = p.history.head.length + p.history.tail.length < 120;
  const [open, setOpen] = useState(() => few || v.error || (!v.left && !v.cut) || p.part.some((r) => r.seq === p.selected));
  const wrong = p.part.some(isWrong);
  const calls = p.part.filter((r) => r.type === "called").length;
  const leftHere = p.part.at(-1) === v.left;
  const facts = [standOf(v, leftHere, p.instance), calls > 0 ? `${calls} ${calls === 1 ? "call" : "calls"}` : ""];
  return (
    <details class={"visit" + (wrong ? " wrong" : "")} open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <b>{v.node}</b>
        {p.again && <span class="quiet">again</span>}
        <span class="quiet">{facts.filter(Boolean).join(" · ")}</span>
        {wrong && <span class="status failed">✕ {leftHere ? "had errors" : "error"}</span>}
      </summary>
      {open && <VisitRecords {...p} />}
    </details>
  );
}

/** How long a visit took, or why that is not known. */
function standOf(v: Visit, leftHere: boolean, instance: Instance): string {
  if (v.cut) return "partly read";
  if (v.left) return leftHere ? span(millis(v.left.time) - millis(v.records[0]!.time)) : "";
  return instance.ended ? "did not finish" : "still in it";
}

/** The records of a visit; of many those around what went wrong, or was chosen, and ways to the others. */
function VisitRecords(p: InVisit & { part: Rec[] }) {
  const shown = p.failedOnly ? p.part.filter(isWrong) : p.part;
  const [chosen, setFrom] = useState(() => {
    const at = shown.findIndex((r) => r.seq === p.selected);
    return Math.max(0, at >= 0 ? at : shown.findIndex(isWrong)) - 10; // with a few before it
  });
  const end = Math.max(0, shown.length - most);
  const from = Math.min(end, Math.max(0, chosen));
  let last = 0;
  return (
    <>
      {from > 0 && (
        <button type="button" onClick={() => setFrom(from - most)}>
          Earlier in this state: {number(from)}
        </button>
      )}
      <ol>
        {shown.slice(from, from + most).map((r) => {
          const gap = last && !p.failedOnly ? millis(r.time) - last : 0;
          last = millis(r.time);
          return (
            <li key={r.seq}>
              {gap > idle && <Gap ms={gap} />}
              <Line record={r} start={p.start} selected={p.selected} history={p.history} />
            </li>
          );
        })}
      </ol>
      {from < end && (
        <button type="button" onClick={() => setFrom(from + most)}>
          Later in this state: {number(end - from)}
        </button>
      )}
    </>
  );
}

function Line(p: { record: Rec; start: number; selected: number; history: History }) {
  const r = p.record;
  const on = r.seq === p.selected;
  return (
    <>
      <button
        type="button"
        class={"record" + (isWrong(r) ? " wrong" : "")}
        aria-expanded={on}
        title={instant(r.time)}
        onClick={() => amend({ rec: on ? null : String(r.seq) })}
      >
        <span class="offset">+{offsetOf(millis(r.time) - p.start, 10)}</span>
        <span>
          {isWrong(r) && "✕ "}
          {describe(r)}
        </span>
      </button>
      {on && <Point record={r} history={p.history} />}
    </>
  );
}

/** What was known at a point. */
function Point(p: { record: Rec; history: History }) {
  const r = p.record;
  const then = dataAt(p.history, r.seq);
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

export function dataName(type: string): string {
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

/** Which item of a foreach a record's error arose in. */
function ofItem(r: Rec): string {
  return r.error?.item ? `, item ${number(r.error.item.index)}` : "";
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
      return `${r.name} failed: ${r.error?.name ?? "error"}${ofItem(r)}`;
    case "itemFailed":
      return `Failed: ${r.error?.name ?? "error"}${ofItem(r)}; the other items continue`;
    case "waiting":
      return `Waits for ${waitOf(r)}`;
    case "consumed":
      return `Got the event ${r.name}`;
    case "produced":
      return `Produced the event ${r.name}`;
    case "timedOut":
      return "Timed out" + (r.text ? `: ${r.text}` : "");
    case "retrying":
      return `Tries again${r.at ? " at " + momentOf(millis(r.at)) : ""}${again}`;
    case "caught":
      return `Handles the error ${r.error?.name ?? ""}`;
    case "compensating":
      return r.node ? `Undoes ${r.node}` : "Undoes what was done";
    case "spawned":
      return `Started the workflow ${r.name}`;
    case "childEnded":
      return `The workflow ${r.name ?? ""} ended`;
    case "taken":
      return `${r.name} sent ${r.text}`;
    case "warning":
      return `Warning: ${r.text}`;
    case "control":
      return `${r.name} by ${r.text ?? "an operator"}`;
    case "finished":
      return `Finished: ${r.status}${r.error ? ", " + r.error.name : ""}`;
  }
  return [r.type, r.name, r.text].filter(Boolean).join(" ");
}

