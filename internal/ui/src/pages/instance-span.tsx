import type { Instance } from "../api";
import { listOf, quote } from "../parts/filter";
import { span as lasting } from "../parts/format";
import { Json } from "../parts/json";
import { CallDetails, FaultText, Facts } from "./instance-call";
import { Changes } from "./instance-diff";
import { dataAt, millis, type History } from "./instance-history";
import { dataName } from "./instance-log";
import { showState } from "./instance-show";
import type { Span } from "./instance-spans";
import { momentOf } from "../parts/format";

/** What is known of a row of the timeline. */
export function SpanDetails(p: { span: Span; history: History; instance: Instance }) {
  const s = p.span;
  return (
    <section class="span-details" aria-label={"Details of " + s.label}>
      {s.attempt ? <CallDetails attempt={s.attempt} over={p.instance.ended !== undefined} /> : s.visit ? <Visited {...p} /> : <Recorded {...p} />}
    </section>
  );
}

function Times(p: { span: Span }) {
  const { from, to } = p.span;
  return (
    <Facts
      list={[
        ["From", momentOf(from, true)],
        ["To", to === from ? undefined : to === undefined ? "now" : momentOf(to, true)],
        ["Took", to === undefined || to === from ? undefined : lasting(to - from)],
        ["Seq", String(p.span.rec.seq)],
      ]}
    />
  );
}

function Visited(p: { span: Span; instance: Instance }) {
  const v = p.span.visit!;
  const entered = v.records.find((r) => r.type === "entered");
  const errors = v.records.filter((r) => r.error && r.type !== "finished").slice(-1);
  return (
    <>
      <Times span={p.span} />
      {errors.map((r) => (
        <FaultText key={r.seq} error={r.error!} />
      ))}
      <div class="call-sides">
        <div>
          <h4>Input</h4>
          <Json value={entered?.data} label="Input" />
        </div>
        <div>
          <h4>Output</h4>
          {v.left ? <Json value={v.left.data} label="Output" /> : <p class="quiet">{p.instance.ended ? "It did not finish." : "No output yet."}</p>}
        </div>
      </div>
      {entered && v.left && (
        <details>
          <summary>What it changed</summary>
          <Changes before={entered.data} after={v.left.data} />
        </details>
      )}
      <p>
        <button type="button" onClick={() => showState(v.node)}>
          Show in the diagram
        </button>
      </p>
    </>
  );
}

function Recorded(p: { span: Span; history: History; instance: Instance }) {
  const r = p.span.rec;
  const then = dataAt(p.history, r.seq);
  return (
    <>
      <Times span={p.span} />
      {r.error && <FaultText error={r.error} />}
      {p.span.kind === "retry" && r.at && <p>The next attempt is due at {momentOf(millis(r.at), true)}.</p>}
      {p.span.kind === "child" && (
        <p>
          <a href={listOf("parent:" + quote(p.instance.id))}>Instances that it started</a>
        </p>
      )}
      {r.data !== undefined && (
        <>
          <h4>{dataName(r.type)}</h4>
          <Json value={r.data} label={dataName(r.type)} />
        </>
      )}
      {then && then.seq !== r.seq && (
        <>
          <h4>The workflow's data then</h4>
          <Json value={then.data} label="The workflow's data then" />
        </>
      )}
    </>
  );
}
