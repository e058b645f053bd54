import { useState } from "preact/hooks";
import { api, ask, get, type Instance } from "../api";
import { JsonEditor } from "../editor/json";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { number } from "../parts/format";
import { Json } from "../parts/json";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { jsonRemark } from "../parts/source";
import { Ago, Next } from "../parts/when";

interface Wait {
  ticket: string;
  kind: string;
  node?: string;
  at?: string;
  function?: string;
  arguments?: unknown;
  attempt?: number;
  parked?: boolean;
  child?: string;
  client?: string;
  state?: string;
  event?: string;
  actor?: string;
  choice?: string;
  timeout?: boolean;
  then?: string;
  match?: { source?: string; type?: string; attributes?: { name: string; value?: string; impossible?: boolean }[] };
}

/** Waits that are alike. */
interface Group {
  kind: string;
  state?: string;
  count: number;
  text: string;
  function?: string;
  event?: string;
  parked?: boolean;
  timeout?: boolean;
  then?: string;
  at?: string;
}

interface WhyAnswer {
  summary: string;
  groups: Group[];
  waits: Wait[];
  omitted?: number;
  otherEvents?: number;
  nearMisses: { name: string; why: string; event: { id: string; source: string; type: string; received: string } }[];
  nextWake?: string;
}

/** Why the instance does not go on, and what somebody can do about it: what is alike in one line. */
export function Why(p: { instance: Instance; again: () => void }) {
  const { id, rev, status } = p.instance;
  const why = useLoad((signal) => get<WhyAnswer>(api("instances", id, "why"), signal), [id, rev]);
  const [answering, setAnswering] = useState<Wait>();
  const d = why.data;
  if (!d) return <ProblemBox error={why.error} again={why.again} />;
  const all = d.waits.filter((w) => w.choice === undefined || w.choice !== p.instance.job?.state);
  const lines = d.groups.map((group) => ({ group, one: group.count === 1 ? all.find((w) => isOf(w, group)) : undefined })).filter((l) => l.one || l.group.count > 1);
  const many = d.groups.some((g) => g.count > 1);
  const parked = all.filter((w) => w.parked);
  const total = all.length + (d.omitted ?? 0);
  const answers = may("operate");
  const answer = (w: Wait) =>
    answers && (
      <button type="button" onClick={() => setAnswering(w)}>
        Answer…
      </button>
    );
  return (
    <section class="panel why" aria-labelledby="why">
      <h2 id="why">{status === "running" ? "What is it doing?" : "Why is it waiting?"}</h2>
      {(lines.length === 0 || status === "paused") && <p>{d.summary}</p>}
      <ul class="waits">
        {lines.slice(0, 20).map(({ group: g, one }) => (
          <li key={g.kind + " " + (g.state ?? "") + " " + g.text}>
            <span class={"wait-sign " + (g.kind === "call" && !g.parked ? "busy" : "wait")} aria-hidden="true">
              {g.kind === "call" && !g.parked ? "▶" : "◔"}
            </span>
            <span>
              {one ? <WaitText wait={one} /> : g.text}
              {!one && g.state && <span class="quiet"> in {g.state}</span>}
            </span>
            {one?.parked && answer(one)}
          </li>
        ))}
        {lines.length > 20 && <li class="quiet">and {number(lines.length - 20)} more</li>}
      </ul>
      {d.nextWake && !lines.some((l) => l.one?.at === d.nextWake) && (
        <p class="wake">
          Next wake-up: <Next time={d.nextWake} />
        </p>
      )}
      {many && (
        <details>
          <summary>{answers && parked.length > 0 ? "Answer them one by one" : "Each of them"}</summary>
          <ul>
            {(parked.length > 0 ? parked : all).slice(0, 20).map((w) => (
              <li key={w.ticket}>
                <WaitText wait={w} /> {w.parked && w.arguments !== undefined && <span class="mono quiet brief">{JSON.stringify(w.arguments).slice(0, 80)}</span>} {w.parked && answer(w)}
              </li>
            ))}
          </ul>
          {total > 20 && <p class="quiet">and {number(total - 20)} more</p>}
        </details>
      )}
      {d.nearMisses.length > 0 && (
        <details>
          <summary>{d.nearMisses.length === 1 ? "1 recent event almost matched" : `${d.nearMisses.length} recent events almost matched`}</summary>
          <ul>
            {d.nearMisses.slice(0, 10).map((m) => (
              <li key={m.event.source + " " + m.event.id}>
                <b>{m.event.type}</b> <span class="mono quiet">{m.event.id}</span>, <Ago time={m.event.received} />: {m.why}
              </li>
            ))}
          </ul>
          {d.nearMisses.length > 10 && <p class="quiet">and {d.nearMisses.length - 10} more</p>}
          {d.otherEvents !== undefined && <p class="quiet">{number(d.otherEvents)} further events of these types are for other instances.</p>}
        </details>
      )}
      {answering && <AnswerDialog id={id} wait={answering} onClose={() => setAnswering(undefined)} again={() => (why.again(), p.again())} />}
    </section>
  );
}

/** Whether a wait is the one of a group that has one. */
function isOf(w: Wait, g: Group): boolean {
  return (["kind", "function", "event", "parked", "timeout", "then", "at"] as const).every((key) => w[key] === g[key]);
}

function WaitText(p: { wait: Wait }) {
  const w = p.wait;
  const at = w.at && <Next time={w.at} />;
  switch (w.kind) {
    case "call":
      if (w.child && !w.parked) {
        return (
          <>
            Waits for the job <a href={"/instances/" + encodeURIComponent(w.child)}>{w.child}</a> of <b>{w.client}</b>, which is in {w.state}
          </>
        );
      }
      if (w.parked) {
        return (
          <>
            <b>{w.function}</b> has no implementation: an operator must answer the call
          </>
        );
      }
      return (
        <>
          The call of <b>{w.function}</b> is in flight{(w.attempt ?? 1) > 1 && `, attempt ${w.attempt}`}
        </>
      );
    case "event":
    case "listen":
      return (
        <>
          Waits for the event <b>{w.event}</b>
          {w.match && <span class="quiet"> {matchText(w.match, w.event)}</span>}
        </>
      );
    case "child":
      return (
        <>
          Waits for the instance <a href={"/instances/" + encodeURIComponent(w.child ?? "")}>{w.child}</a>
        </>
      );
    case "timer":
      if (!w.timeout) return <>Sleeps until {at}</>;
      return (
        <>
          Times out {at}
          {w.then && (
            <>
              , then → <b>{w.then}</b>
            </>
          )}
        </>
      );
    case "deadline":
    case "total":
      return <>Times out {at}</>;
    case "retry":
      return <>The next attempt is due {at}</>;
  }
  return (
    <>
      {w.actor === "CLIENT" ? "The device" : "An operator"} may move it to <b>{w.choice}</b>
    </>
  );
}

/** What an event must have, in words; its type is told where its name does not. */
function matchText(m: NonNullable<Wait["match"]>, name?: string): string {
  const parts = [
    m.type && m.type !== name && `of type ${m.type}`,
    m.source && `from ${m.source}`,
    ...(m.attributes ?? []).map((a) => (a.impossible ? `with ${a.name}, which nothing can match` : a.value === undefined ? `with any ${a.name}` : `with ${a.name} = ${a.value}`)),
  ];
  return parts.filter(Boolean).join(", ");
}

function AnswerDialog(p: { id: string; wait: Wait; onClose: () => void; again: () => void }) {
  const [kind, setKind] = useState<"result" | "error">("result");
  const [result, setResult] = useState("{}");
  const [name, setName] = useState("");
  const [code, setCode] = useState("");
  const [detail, setDetail] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    if (busy) return;
    let body: unknown;
    if (kind === "result") {
      if (jsonRemark(result)) return announce("This is not JSON");
      body = { result: JSON.parse(result) as unknown };
    } else {
      if (!name) return setError(new Error("An error needs a name that the definition can match."));
      body = { error: { name, ...(code ? { code } : {}), ...(detail ? { detail } : {}) } };
    }
    setBusy(true);
    setError(undefined);
    try {
      await ask(api("instances", p.id, "calls", p.wait.ticket), { body });
      announce(`${p.wait.function} is answered`);
      p.again();
      p.onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
      p.again();
    }
  };
  return (
    <Dialog title={`Answer the call of ${p.wait.function}`} action="Answer" busy={busy} onSubmit={send} onClose={p.onClose}>
      <h3>Arguments</h3>
      <Json value={p.wait.arguments} label="Arguments" />
      <fieldset class="plain">
        <legend>The answer is</legend>
        <label>
          <input type="radio" name="kind" checked={kind === "result"} onChange={() => setKind("result")} /> a result
        </label>{" "}
        <label>
          <input type="radio" name="kind" checked={kind === "error"} onChange={() => setKind("error")} /> an error
        </label>
      </fieldset>
      {kind === "result" ? (
        <JsonEditor label="Result" value={result} onChange={setResult} onSubmit={send} />
      ) : (
        <>
          <label class="field">
            <span>Name</span>
            <input value={name} onInput={(e) => setName(e.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Code (optional)</span>
            <input value={code} onInput={(e) => setCode(e.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Detail (optional)</span>
            <input value={detail} onInput={(e) => setDetail(e.currentTarget.value)} />
          </label>
        </>
      )}
      <ProblemBox error={error} />
    </Dialog>
  );
}
