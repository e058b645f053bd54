import { useState } from "preact/hooks";
import type { Instance } from "../api";
import { Json } from "../parts/json";
import { span } from "../parts/when";
import { isWrong, millis, visitsOf, type Attempt, type Item, type Visit } from "./instance-history";
import { FaultText } from "./instance-timeline";

/** One state: what it took, what it tried, what it gave. */
export function StateDetails(p: { state: string; items: Item[]; instance: Instance; onClose: () => void }) {
  const gap = p.items.findIndex((i) => !i.visit && !i.record);
  const ofState = (items: Item[]) => visitsOf(items).filter((v) => v.node === p.state);
  const visits = ofState(p.items);
  const sure = gap < 0 ? visits.length : ofState(p.items.slice(0, gap)).length; // whose number is known
  const [chosen, choose] = useState<Visit["records"][0]>(); // the first record of a visit
  const found = chosen ? visits.findIndex((v) => v.records[0]!.seq === chosen.seq) : -1;
  const n = found >= 0 ? found : visits.length - 1;
  const visit = visits[n];
  const nameOf = (k: number) => (gap < 0 ? `time ${k + 1} of ${visits.length}` : k < sure ? `time ${k + 1}` : k === visits.length - 1 ? "the last time" : `${visits.length - 1 - k} before the last`);
  const fault = p.instance.error?.node === p.state && n === visits.length - 1 ? p.instance.error : undefined;
  return (
    <section class="panel details" aria-labelledby="state-name">
      <div class="heading">
        <h2 id="state-name">{p.state}</h2>
        {visits.length > 1 && (
          <select aria-label="Which time" value={n} onChange={(e) => choose(visits[Number(e.currentTarget.value)]?.records[0])}>
            {visits.slice(-200).map((_, i) => {
              const k = i + Math.max(0, visits.length - 200);
              return (
                <option key={k} value={k}>
                  {nameOf(k)}
                </option>
              );
            })}
          </select>
        )}
        <button type="button" class="push" onClick={p.onClose}>
          Close
        </button>
      </div>
      {!visit && <p class="quiet">{gap < 0 ? "Not entered yet." : "Not entered in the records read so far."}</p>}
      {fault && <FaultText error={fault} />}
      {visit && <VisitDetails key={visit.records[0]!.seq} visit={visit} ended={p.instance.ended !== undefined} />}
    </section>
  );
}

function VisitDetails(p: { visit: Visit; ended: boolean }) {
  const v = p.visit;
  const entered = v.records.find((r) => r.type === "entered");
  return (
    <>
      <h3>Input</h3>
      {!entered && v.cut ? <p class="quiet">The record of its input is not loaded.</p> : <Json value={entered?.data} label="Input" />}
      {v.attempts.length > 0 && (
        <>
          <h3>Calls</h3>
          <Calls attempts={v.attempts} ended={p.ended} />
        </>
      )}
      <h3>Output</h3>
      {v.left ? <Json value={v.left.data} label="Output" /> : <p class="quiet">{v.cut ? "The record of its result is not loaded." : `It was not left${v.error || p.ended ? "." : " yet."}`}</p>}
    </>
  );
}

const callsAtOnce = 20;
const openAtOnce = 3;

/** The calls of a visit. Of many those that failed come first: they are what people look for. */
function Calls(p: { attempts: Attempt[]; ended: boolean }) {
  const [chosen, setFrom] = useState(0);
  const numbered = p.attempts.map((attempt, i) => ({ attempt, n: i + 1 }));
  const failed = numbered.filter((c) => didFail(c.attempt));
  const list = numbered.length <= callsAtOnce ? numbered : [...failed, ...numbered.filter((c) => !didFail(c.attempt))];
  const opened = new Set(failed.slice(0, openAtOnce));
  const from = Math.min(chosen, list.length - 1);
  const to = Math.min(list.length, from + callsAtOnce);
  return (
    <>
      {list.length > callsAtOnce && (
        <p class="quiet">
          {list.length.toLocaleString()} calls, {failed.length.toLocaleString()} failed{failed.length > 0 && ", these first"}
        </p>
      )}
      <ol class="attempts">
        {list.slice(from, to).map((c) => (
          <li key={c.attempt.called.seq} value={c.n}>
            <Call attempt={c.attempt} open={list.length === 1 || opened.has(c)} ended={p.ended} />
          </li>
        ))}
      </ol>
      {list.length > callsAtOnce && (
        <div class="listbar">
          <button type="button" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - callsAtOnce))}>
            « Previous
          </button>
          <span>
            {(from + 1).toLocaleString()} to {to.toLocaleString()} of {list.length.toLocaleString()}
          </span>
          <button type="button" disabled={to === list.length} onClick={() => setFrom(to)}>
            Next »
          </button>
        </div>
      )}
    </>
  );
}

function didFail(a: Attempt): boolean {
  return a.ended !== undefined && (a.ended.type !== "returned" || isWrong(a.ended));
}

function Call(p: { attempt: Attempt; open: boolean; ended: boolean }) {
  const { called, ended, function: name } = p.attempt;
  return (
    <details open={p.open}>
      <summary>
        <b>{name}</b> <span class="quiet">{ended ? span(millis(ended.time) - millis(called.time)) : p.ended ? "not answered" : "no answer yet"}</span>{" "}
        {ended && ended.type !== "returned" && <span class="status failed">✕ {ended.error?.name ?? "timed out"}</span>}
        {ended?.type === "returned" && <span class="status completed">✓ returned</span>}
      </summary>
      {ended?.error && <FaultText error={ended.error} />}
      <h4>Arguments</h4>
      <Json value={called.data} label="Arguments" />
      {ended?.type === "returned" && (
        <>
          <h4>Result</h4>
          <Json value={ended.data} label="Result" />
        </>
      )}
    </details>
  );
}

/** The instance as a whole: what went in, what came out. */
export function WholeDetails(p: { items: Item[]; instance: Instance }) {
  const started = p.items.find((i) => i.record?.type === "started")?.record;
  return (
    <section class="panel details" aria-label="Input and output">
      <h3>Input</h3>
      <Json value={started?.data} label="Input" />
      <h3>Output</h3>
      {p.instance.status === "completed" ? <Json value={p.instance.output} label="Output" /> : <p class="quiet">None: it is {p.instance.status}.</p>}
      <p class="quiet">Select a state in the diagram to see its input and output.</p>
    </section>
  );
}
