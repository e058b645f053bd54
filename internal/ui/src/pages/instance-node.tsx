import { useState } from "preact/hooks";
import type { Instance } from "../api";
import { number, span } from "../parts/format";
import { Json } from "../parts/json";
import { millis, visitsOf, type Attempt, type Item, type Visit } from "./instance-history";
import { showTab } from "./instance-show";
import { Answer, callWord, RequestLine } from "./instance-call";
import { didFail } from "./instance-calls";
import { Changes } from "./instance-diff";

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
  return (
    <section class="panel details" aria-labelledby="state-name">
      <div class="heading">
        <h2 id="state-name">{p.state}</h2>
        {visit?.undone && <span class="status off">↶ undone</span>}
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
      {visit && <VisitDetails key={visit.records[0]!.seq} visit={visit} ended={p.instance.ended !== undefined} open={p.instance.error?.node !== p.state} />}
    </section>
  );
}

function VisitDetails(p: { visit: Visit; ended: boolean; open: boolean }) {
  const v = p.visit;
  const entered = v.records.find((r) => r.type === "entered");
  return (
    <>
      <h3>Input</h3>
      {!entered && v.cut ? <p class="quiet">The record of its input is not loaded.</p> : <Json value={entered?.data} label="Input" />}
      {v.attempts.length > 0 && (
        <>
          <h3>Calls</h3>
          <Calls attempts={v.attempts} ended={p.ended} open={p.open} />
        </>
      )}
      <h3>Output</h3>
      {v.left ? <Output left={v.left.data} entered={entered?.data} known={entered !== undefined} /> : <p class="quiet">{v.cut ? "The record of its result is not loaded." : v.error || p.ended ? "It did not finish." : "No output yet."}</p>}
    </>
  );
}

/** What a state gave, and on request what it changed. */
function Output(p: { left: unknown; entered: unknown; known: boolean }) {
  const [diff, setDiff] = useState(false);
  return (
    <>
      {diff ? <Changes before={p.entered} after={p.left} /> : <Json value={p.left} label="Output" />}
      {p.known && (
        <button type="button" class="bare" aria-pressed={diff} onClick={() => setDiff(!diff)}>
          {diff ? "Show the output" : "Show what it changed"}
        </button>
      )}
    </>
  );
}

const callsAtOnce = 5;

/** The first calls of a visit. Of many those that failed come first: they are what people look for. */
function Calls(p: { attempts: Attempt[]; ended: boolean; open: boolean }) {
  const numbered = p.attempts.map((attempt, i) => ({ attempt, n: i + 1 }));
  const failed = numbered.filter((c) => didFail(c.attempt));
  const list = numbered.length <= callsAtOnce ? numbered : [...failed, ...numbered.filter((c) => !didFail(c.attempt))];
  const n = number;
  return (
    <>
      <ol class="attempts">
        {list.slice(0, callsAtOnce).map((c) => (
          <li key={c.attempt.called.seq} value={c.n}>
            <Call attempt={c.attempt} open={p.open && (list.length === 1 || c === failed.at(-1))} ended={p.ended} />
          </li>
        ))}
      </ol>
      {list.length > callsAtOnce && (
        <p class="quiet">
          {n(list.length)} calls, {n(failed.length)} failed{failed.length > 0 && ", these first"}.{" "}
          <button type="button" class="bare" onClick={() => showTab("calls", null)}>
            Show all in Calls
          </button>
        </p>
      )}
    </>
  );
}

function Call(p: { attempt: Attempt; open: boolean; ended: boolean }) {
  const { called, ended, function: name } = p.attempt;
  const word = callWord(p.attempt, p.ended);
  return (
    <details open={p.open}>
      <summary>
        <b>{name}</b> <span class={"status " + word.tone}>{word.text}</span> {ended && <span class="quiet">{span(millis(ended.time) - millis(called.time))}</span>}
      </summary>
      {ended?.exchange && <RequestLine exchange={ended.exchange} />}
      <h4>Arguments</h4>
      <Json value={called.data} label="Arguments" />
      {ended && (
        <>
          <h4>Answer</h4>
          <Answer ended={ended} />
        </>
      )}
      <p>
        <button type="button" class="bare" onClick={() => showTab("calls", called.seq)}>
          Open in Calls
        </button>
      </p>
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
      {p.instance.status === "completed" ? <Json value={p.instance.output} label="Output" /> : <p class="quiet">{p.instance.ended ? "It has no output: it " + (p.instance.status === "failed" ? "failed." : "was " + p.instance.status + ".") : "No output yet."}</p>}
      <p class="quiet">Select a state in the diagram to see its input and output.</p>
    </section>
  );
}
