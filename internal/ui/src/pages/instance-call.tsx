import type { ComponentChildren } from "preact";
import { Copy } from "../parts/copy";
import { instant, momentOf, number, span } from "../parts/format";
import { Json } from "../parts/json";
import { isWrong, millis, type Attempt, type Exchange, type Header, type Rec } from "./instance-history";

/** An error in a line: its name, its code, and what it says. */
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

/** How a call stands, in a word with its sign. */
export function callWord(a: Attempt, over: boolean): { tone: string; text: string } {
  const e = a.ended;
  if (!e) return over ? { tone: "off", text: "⊘ no answer" } : { tone: "running", text: "▶ in flight" };
  const status = e.exchange?.status ?? e.error?.status;
  if (e.type !== "returned" || isWrong(e)) return { tone: "failed", text: ["✕", status, e.error?.name ?? "timed out"].filter(Boolean).join(" ") };
  return { tone: "completed", text: status ? `✓ ${status}` : "✓ returned" };
}

/** A call with what was sent, what came back, and how long that took. */
export function CallDetails(p: { attempt: Attempt; over: boolean }) {
  const { called, ended } = p.attempt;
  const x = ended?.exchange;
  const took = ended ? millis(ended.time) - millis(called.time) : undefined;
  return (
    <div class="call">
      <Facts
        list={[
          ["State", called.node],
          ["Item", called.index === undefined ? undefined : number(called.index)],
          ["Attempt", called.attempt],
          ["Called", <time dateTime={called.time} title={instant(called.time)}>{momentOf(millis(called.time), true)}</time>],
          ["Took", took === undefined ? (p.over ? "no answer" : "no answer yet") : span(took)],
          ["Ticket", called.ticket && <Id text={called.ticket} label="Copy the ticket" />],
          ["Idempotency key", called.key && <Id text={called.key} label="Copy the idempotency key" />],
        ]}
      />
      <div class="call-sides">
        <div>
          <h4>Request</h4>
          {x && <RequestLine exchange={x} />}
          <Json value={called.data} label="Arguments" />
          <Headers list={x?.requestHeaders} of="request" />
        </div>
        <div>
          <h4>Answer</h4>
          {!ended && <p class="quiet">{p.over ? "No answer came before the instance ended." : "No answer yet."}</p>}
          {ended && <Answer ended={ended} />}
        </div>
      </div>
    </div>
  );
}

export function RequestLine(p: { exchange: Exchange }) {
  const { method, address } = p.exchange;
  return (
    <p class="request mono">
      <b>{method}</b> {address} <Copy label="Copy the address" text={() => address} />
    </p>
  );
}

/** What came back, or why nothing did. */
export function Answer(p: { ended: Rec }) {
  const { exchange: x, error, data, type } = p.ended;
  return (
    <>
      {x && (
        <p class="request mono">
          <b>{x.status ? `HTTP ${x.status}` : "No answer"}</b>
        </p>
      )}
      {error ? <FaultText error={error} /> : type === "timedOut" && <p class="fault">It timed out.</p>}
      {type === "returned" && <Json value={data} label="Result" />}
      {error?.data !== undefined && <Json value={error.data} label="Body of the answer" />}
      <Headers list={x?.headers} of="answer" />
    </>
  );
}

function Headers(p: { list?: Header[]; of: string }) {
  const list = p.list ?? [];
  if (list.length === 0) return null;
  return (
    <details class="headers">
      <summary>
        {list.length} {list.length === 1 ? "header" : "headers"} of the {p.of}
      </summary>
      <table aria-label={"Headers of the " + p.of}>
        <tbody>
          {list.map((h) => (
            <tr key={h.name}>
              <th scope="row">{h.name}</th>
              {h.value ? <td class="mono">{h.value}</td> : <td class="quiet">redacted</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">Values that may be credentials are never stored.</p>
    </details>
  );
}

/** Names with what they stand for; those without a value are left out. */
export function Facts(p: { list: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {p.list
        .filter(([, value]) => value !== undefined && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** An id: short, quiet, and copied as a whole. */
export function Id(p: { text: string; label: string }) {
  return (
    <span class="id">
      <span class="mono" title={p.text}>
        {p.text}
      </span>
      <Copy label={p.label} text={() => p.text} />
    </span>
  );
}
