import { useState } from "preact/hooks";
import { api, ask, get, type Instance } from "../api";
import { barred } from "../parts/access";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { Json, parseJson } from "../parts/json";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";

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

/** Why the instance does not go on, and what somebody can do about it. */
export function Why(p: { instance: Instance; again: () => void }) {
  const { id, rev } = p.instance;
  const why = useLoad((signal) => get<WhyAnswer>(api("instances", id, "why"), signal), [id, rev]);
  const [answering, setAnswering] = useState<Wait>();
  const d = why.data;
  if (!d) return <ProblemBox error={why.error} again={why.again} />;
  const all = d.waits.filter((w) => w.choice === undefined || w.choice !== p.instance.job?.state);
  const groups = d.groups.filter((g) => g.count > 1);
  const waits = all.filter((w) => d.groups.some((g) => g.count === 1 && isOf(w, g))).slice(0, 50);
  const running = p.instance.status === "running";
  const text = (w: Wait) => (
    <>
      <WaitText wait={w} />{" "}
      {w.parked && (
        <button type="button" onClick={() => setAnswering(w)} {...barred("operate")}>
          Answer…
        </button>
      )}
    </>
  );
  return (
    <section class="panel why" aria-labelledby="why">
      <h2 id="why">{running ? "What does it do?" : "Why does it wait?"}</h2>
      {/* The summary of what waits says what the list does. */}
      {(waits.length + groups.length === 0 || p.instance.status === "paused") && <p>{d.summary}</p>}
      {groups.map((g) => (
        <p key={g.kind + " " + g.text}>
          {g.text}
          {g.state && ` (${g.state})`}
        </p>
      ))}
      {waits.length === 1 && <p>It waits for {text(waits[0]!)}</p>}
      {waits.length > 1 && (
        <>
          <p>It waits for</p>
          <ul>
            {waits.map((w) => (
              <li key={w.ticket}>{text(w)}</li>
            ))}
          </ul>
        </>
      )}
      {groups.length > 0 && (
        <details>
          <summary>Each of them</summary>
          <ul>
            {all.slice(0, 50).map((w) => (
              <li key={w.ticket}>{text(w)}</li>
            ))}
          </ul>
          {all.length + (d.omitted ?? 0) > 50 && <p class="quiet">and {(all.length + (d.omitted ?? 0) - 50).toLocaleString("en")} more</p>}
        </details>
      )}
      {d.nearMisses.length > 0 && (
        <details>
          <summary>{d.nearMisses.length === 1 ? "1 kept event nearly fits" : `${d.nearMisses.length} kept events nearly fit`}</summary>
          <ul>
            {d.nearMisses.map((m) => (
              <li key={m.event.source + " " + m.event.id}>
                <span class="mono">
                  {m.event.type} {m.event.id}
                </span>
                : {m.why}
              </li>
            ))}
          </ul>
          {d.otherEvents !== undefined && <p class="quiet">{d.otherEvents.toLocaleString("en")} further events of these types are for other instances.</p>}
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
  const at = w.at ? ` at ${new Date(w.at).toLocaleString()}` : "";
  switch (w.kind) {
    case "call":
      if (w.child && !w.parked) {
        return (
          <>
            the job <a href={"/instances/" + encodeURIComponent(w.child)}>{w.child}</a> of <b>{w.client}</b>, which is in {w.state}
          </>
        );
      }
      return (
        <>
          the answer of <b>{w.function}</b>
          {w.parked && ", which has no implementation: an operator must answer it"}
        </>
      );
    case "event":
    case "listen":
      return (
        <>
          the event <b>{w.event}</b>
          {w.match && (
            <span class="quiet mono">
              {" "}
              {[w.match.type && `type=${w.match.type}`, w.match.source && `source=${w.match.source}`, ...(w.match.attributes ?? []).map((a) => `${a.name}=${a.impossible ? "(nothing can match)" : (a.value ?? "(any)")}`)]
                .filter(Boolean)
                .join(" ")}
            </span>
          )}
        </>
      );
    case "child":
      return (
        <>
          the instance <a href={"/instances/" + encodeURIComponent(w.child ?? "")}>{w.child}</a>
        </>
      );
    case "timer":
      if (!w.timeout) return <>a timer{at}</>;
      return (
        <>
          its timeout{at}
          {w.then && `, then → ${w.then}`}
        </>
      );
    case "deadline":
    case "total":
      return <>its timeout{at}</>;
    case "retry":
      return <>the next attempt{at}</>;
  }
  return (
    <>
      {w.actor} to choose <b>{w.choice}</b>
    </>
  );
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
    let body: unknown;
    if (kind === "result") {
      const parsed = parseJson(result);
      if (parsed.error) return setError(new Error(parsed.error));
      body = { result: parsed.value };
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
        <label class="field">
          <span>Result (JSON)</span>
          <textarea spellcheck={false} value={result} onInput={(e) => setResult(e.currentTarget.value)} />
        </label>
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
