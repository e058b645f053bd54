import { useMemo, useState } from "preact/hooks";
import type { Instance } from "../api";
import { amend, place } from "../router";
import { instant, number, offsetOf, span } from "../parts/format";
import { CallDetails, callWord } from "./instance-call";
import { isWrong, millis, visitsOf, type Attempt, type History, type Item } from "./instance-history";

const atOnce = 50;
type Which = "all" | "failed" | "open";

/** Every call of a history, in order. */
export function callsOf(items: Item[]): Attempt[] {
  return visitsOf(items)
    .flatMap((v) => v.attempts)
    .sort((a, b) => a.called.seq - b.called.seq);
}

export function didFail(a: Attempt): boolean {
  return a.ended !== undefined && (a.ended.type !== "returned" || isWrong(a.ended));
}

/** The calls of an instance: a list, and the one that is selected with its request and answer. */
export function CallsTab(p: { calls: Attempt[]; instance: Instance; history: History }) {
  const over = p.instance.ended !== undefined;
  const [which, setWhich] = useState<Which>("all");
  const [text, setText] = useState("");
  const [from, setFrom] = useState(0);
  const chosen = Number(place.value.query.get("rec") ?? 0);
  const count = useMemo(() => ({ all: p.calls.length, failed: p.calls.filter(didFail).length, open: over ? 0 : p.calls.filter((a) => !a.ended).length }), [p.calls, over]);
  const list = useMemo(() => {
    const want = text.trim().toLowerCase();
    return p.calls.filter((a) => {
      if (which === "failed" && !didFail(a)) return false;
      if (which === "open" && a.ended) return false;
      return !want || textOf(a).includes(want);
    });
  }, [p.calls, which, text]);
  const at = Math.min(from, Math.max(0, Math.floor((list.length - 1) / atOnce) * atOnce));
  const page = list.slice(at, at + atOnce);
  const one = p.calls.find((a) => a.called.seq === chosen);
  const start = millis(p.instance.created);
  if (p.calls.length === 0) return <p class="quiet">It has made no calls{p.history.unread > 0 && " in the records that are read"}.</p>;
  const filter = (name: Which, label: string) => (
    <button type="button" aria-pressed={which === name} onClick={() => (setWhich(name), setFrom(0))}>
      {label} {number(count[name])}
    </button>
  );
  return (
    <section aria-label="Calls" class={one ? "calls split" : "calls"}>
      <div>
        <div class="heading calls-bar">
          <span class="choices" role="group" aria-label="Which calls">
            {filter("all", "All")}
            {filter("failed", "Failed")}
            {!over && filter("open", "In flight")}
          </span>
          <input type="search" placeholder="Function, state, error, address" aria-label="Search in calls" value={text} onInput={(e) => (setText(e.currentTarget.value), setFrom(0))} />
        </div>
        <div class="scroll-x">
          <table class="calls-table">
            <thead>
              <tr>
                <th scope="col">Call</th>
                <th scope="col">Result</th>
                <th scope="col" class="num">
                  Start
                </th>
                <th scope="col" class="num">
                  Took
                </th>
              </tr>
            </thead>
            <tbody>
              {page.map((a) => (
                <Row key={a.called.seq} attempt={a} start={start} over={over} chosen={a === one} />
              ))}
            </tbody>
          </table>
        </div>
        {page.length === 0 && <p class="quiet">No such call.</p>}
        {list.length > atOnce && (
          <div class="listbar">
            <button type="button" disabled={at === 0} onClick={() => setFrom(at - atOnce)}>
              « Previous
            </button>
            <span>
              {number(at + 1)} to {number(at + page.length)} of {number(list.length)}
            </span>
            <button type="button" disabled={at + atOnce >= list.length} onClick={() => setFrom(at + atOnce)}>
              Next »
            </button>
          </div>
        )}
        {p.history.unread > 0 && <p class="quiet">Calls in records that are not read are left out.</p>}
      </div>
      {one && (
        <section class="panel" aria-label={"Call of " + one.function}>
          <div class="heading">
            <h3>{one.function}</h3>
            <span class={"status " + callWord(one, over).tone}>{callWord(one, over).text}</span>
            <button type="button" class="push" onClick={() => amend({ rec: null })}>
              Close
            </button>
          </div>
          <CallDetails attempt={one} over={over} />
          <Siblings one={one} all={p.calls} over={over} />
        </section>
      )}
    </section>
  );
}

function textOf(a: Attempt): string {
  return [a.function, a.called.node, a.ended?.error?.name, a.ended?.error?.detail, a.ended?.exchange?.address, a.ended?.exchange?.status, a.called.index].join(" ").toLowerCase();
}

function Row(p: { attempt: Attempt; start: number; over: boolean; chosen: boolean }) {
  const { called, ended, function: name } = p.attempt;
  const word = callWord(p.attempt, p.over);
  const notes = [called.node !== name && called.node, called.index !== undefined && `item ${number(called.index)}`, (called.attempt ?? 1) > 1 && `attempt ${called.attempt}`].filter(Boolean).join(" · ");
  return (
    <tr class={p.chosen ? "chosen" : ""}>
      <td>
        <button type="button" class="plain" aria-expanded={p.chosen} onClick={() => amend({ rec: p.chosen ? null : String(called.seq) })}>
          {name}
        </button>
        {notes && <span class="quiet sub">{notes}</span>}
      </td>
      <td>
        <span class={"status " + word.tone}>{word.text}</span>
      </td>
      <td class="num" title={instant(called.time)}>
        +{offsetOf(millis(called.time) - p.start)}
      </td>
      <td class="num">{ended ? span(millis(ended.time) - millis(called.time)) : "–"}</td>
    </tr>
  );
}

/** The other attempts of the same, with the delays between them. */
function Siblings(p: { one: Attempt; all: Attempt[]; over: boolean }) {
  const c = p.one.called;
  const same = p.all.filter((a) => a.function === p.one.function && a.called.node === c.node && a.called.frame === c.frame && a.called.index === c.index);
  if (same.length < 2) return null;
  return (
    <>
      <h4>Attempts</h4>
      <ol class="tries">
        {same.slice(-20).map((a, i, list) => {
          const before = list[i - 1];
          const word = callWord(a, p.over);
          return (
            <li key={a.called.seq} value={a.called.attempt}>
              {before?.ended && <span class="quiet">after {span(millis(a.called.time) - millis(before.ended.time))}: </span>}
              <button type="button" class="plain" aria-current={a === p.one ? "true" : undefined} onClick={() => amend({ rec: String(a.called.seq) })}>
                <span class={"status " + word.tone}>{word.text}</span>
              </button>{" "}
              {a.ended && <span class="quiet">{span(millis(a.ended.time) - millis(a.called.time))}</span>}
            </li>
          );
        })}
      </ol>
    </>
  );
}
