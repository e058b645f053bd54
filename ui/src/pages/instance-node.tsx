import { useState } from "preact/hooks";
import type { Instance } from "../api";
import { Json } from "../parts/json";
import { span } from "../parts/when";
import { millis, visitsOf, type Item, type Visit } from "./instance-history";
import { FaultText } from "./instance-timeline";

/** One state: what it took, what it tried, what it gave. */
export function StateDetails(p: { state: string; items: Item[]; instance: Instance; onClose: () => void }) {
  const visits = visitsOf(p.items).filter((v) => v.node === p.state);
  const [chosen, choose] = useState<number>();
  const n = chosen ?? visits.length - 1;
  const visit = visits[n];
  const fault = p.instance.error?.node === p.state && n === visits.length - 1 ? p.instance.error : undefined;
  return (
    <section class="panel details" aria-labelledby="state-name">
      <div class="heading">
        <h2 id="state-name">{p.state}</h2>
        {visits.length > 1 && (
          <select aria-label="Which time" value={n} onChange={(e) => choose(Number(e.currentTarget.value))}>
            {visits.slice(-200).map((_, i) => {
              const k = i + Math.max(0, visits.length - 200);
              return (
                <option key={k} value={k}>
                  time {k + 1} of {visits.length}
                </option>
              );
            })}
          </select>
        )}
        <button type="button" class="push" onClick={p.onClose}>
          Close
        </button>
      </div>
      {!visit && <p class="quiet">It was not entered yet.</p>}
      {fault && <FaultText error={fault} />}
      {visit && <VisitDetails visit={visit} />}
    </section>
  );
}

function VisitDetails(p: { visit: Visit }) {
  const v = p.visit;
  const entered = v.records.find((r) => r.type === "entered");
  return (
    <>
      <h3>Input</h3>
      <Json value={entered?.data} label="Input" />
      {v.attempts.length > 0 && (
        <>
          <h3>Calls</h3>
          <ol class="attempts">
            {v.attempts.slice(-50).map((a) => (
              <li key={a.called.seq}>
                <details open={v.attempts.length === 1 || a.ended?.type !== "returned"}>
                  <summary>
                    <b>{a.function}</b>
                    <span class="quiet">
                      {" "}
                      {a.ended ? span(millis(a.ended.time) - millis(a.called.time)) : "no answer yet"}
                    </span>{" "}
                    {a.ended && a.ended.type !== "returned" && <span class="status failed">✕ {a.ended.error?.name ?? "timed out"}</span>}
                    {a.ended?.type === "returned" && <span class="status completed">✓ returned</span>}
                  </summary>
                  {a.ended?.error && <FaultText error={a.ended.error} />}
                  <h4>Arguments</h4>
                  <Json value={a.called.data} label="Arguments" />
                  {a.ended?.type === "returned" && (
                    <>
                      <h4>Result</h4>
                      <Json value={a.ended.data} label="Result" />
                    </>
                  )}
                </details>
              </li>
            ))}
          </ol>
        </>
      )}
      <h3>Output</h3>
      {v.left ? <Json value={v.left.data} label="Output" /> : <p class="quiet">It was not left{v.error ? "." : " yet."}</p>}
    </>
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
      <p class="quiet">Choose a state in the diagram to see what it took and gave.</p>
    </section>
  );
}
