// The same to many. What is told and confirmed is exactly what is changed: the instances are
// read first, and those that come later are not touched.
import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, get, Problem, statuses, type Instance, type Page, type Status } from "../api";
import { JsonEditor } from "../editor/json";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { valueOf } from "../parts/filter";
import { number } from "../parts/format";
import { Icon } from "../parts/icon";
import { Id, nameOf, titleOf } from "../parts/name";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import type { Selection } from "./instances";
import { counted, type Count } from "./instances-rows";

const most = 10_000; // in one go; more need a narrower filter
const chunk = 200; // in one request

interface Verb {
  name: "retry" | "skip" | "pause" | "resume" | "cancel" | "terminate" | "delete";
  title: string;
  past: string;
  says: string;
  of: Status[]; // that allow it
  atRev?: boolean; // means the instance as it was read
  danger?: boolean; // how many is typed before it is done
}

const ended: Status[] = ["completed", "failed", "cancelled", "terminated"];
const open: Status[] = ["running", "waiting", "paused"];

const verbs: Verb[] = [
  { name: "retry", title: "Retry", past: "retried", says: "They continue from the failed state.", of: ["failed"], atRev: true },
  { name: "skip", title: "Skip", past: "skipped", says: "They continue as if the failed state had given this output, the same for all.", of: ["failed"], atRev: true },
  { name: "pause", title: "Pause", past: "paused", says: "They stay where they are until they are resumed.", of: ["running", "waiting"] },
  { name: "resume", title: "Resume", past: "resumed", says: "They continue.", of: ["paused"] },
  { name: "cancel", title: "Cancel", past: "cancelled", says: "They stop, and so does what they wait for.", of: open, danger: true },
  { name: "terminate", title: "Terminate", past: "terminated", says: "They stop now, without compensation.", of: open, danger: true },
  { name: "delete", title: "Delete", past: "deleted", says: "They are gone with their history. This cannot be undone.", of: ended, atRev: true, danger: true },
];

/** The statuses that the selection may have; undefined: not known. */
function statusesOf(q: string, rows: Instance[], selection: Selection): Status[] | undefined {
  if (selection.all) {
    const named = valueOf(q, "status")?.split(",");
    return named?.every((s) => statuses.includes(s as Status)) ? (named as Status[]) : undefined;
  }
  const known = new Map(rows.map((r) => [r.id, r]));
  const chosen = [...selection.ids].map((id) => known.get(id));
  return chosen.every((r) => r && !r.quarantine) ? [...new Set(chosen.map((r) => r!.status))] : undefined;
}

export function BulkBar(p: { q: string; rows: Instance[]; selection: Selection; count?: Count; again: () => void }) {
  const [verb, setVerb] = useState<Verb>();
  const { all, ids } = p.selection;
  const name = all ? `All ${counted(p.count)} that match` : `${ids.size} selected`;
  const possible = statusesOf(p.q, p.rows, p.selection);
  const legal = verbs.filter((v) => !possible || v.of.some((s) => possible.includes(s)));
  return (
    <div class="bulk" role="region" aria-label="Selection">
      <b>{name}</b>
      {!all && p.count && p.count.count > ids.size && (
        <button type="button" class="ghost" onClick={p.selection.takeAll}>
          Select all {counted(p.count)} that match
        </button>
      )}
      <span class="bulk-verbs">
        {legal.map((v) => (
          <button key={v.name} type="button" class={v.danger ? "danger" : undefined} onClick={() => setVerb(v)}>
            {v.title}…
          </button>
        ))}
      </span>
      <button type="button" class="ghost" onClick={p.selection.clear}>
        <Icon name="close" /> Clear
      </button>
      {verb && (
        <BulkDialog
          verb={verb}
          q={p.q}
          rows={p.rows}
          selection={p.selection}
          onClose={(done) => {
            setVerb(undefined);
            if (done && verb.name === "delete") p.selection.clear();
            if (done) p.again();
          }}
        />
      )}
    </div>
  );
}

interface Read {
  targets: Instance[];
  others: Map<string, number>; // by status: they do not allow it
  tooMany: boolean;
}

interface Outcome {
  done: number;
  refused: { id: string; detail: string }[];
  unknown: number; // were sent, but no answer came
}

function BulkDialog(p: { verb: Verb; q: string; rows: Instance[]; selection: Selection; onClose: (done: boolean) => void }) {
  const [read, setRead] = useState<Read>();
  const [seen, setSeen] = useState(0);
  const [reason, setReason] = useState("");
  const [compensate, setCompensate] = useState(false);
  const [output, setOutput] = useState("{}");
  const [typed, setTyped] = useState("");
  const [sent, setSent] = useState<number>(); // while it runs
  const [outcome, setOutcome] = useState<Outcome>();
  const [error, setError] = useState<unknown>();
  const [stopping, setStopping] = useState(false);
  const stopped = useRef(false); // nothing more is sent
  const abort = useRef(new AbortController()); // and what was sent is not waited for
  const v = p.verb;

  useEffect(() => {
    const { signal } = abort.current;
    collect(p.q, p.selection, v.name, signal, setSeen).then(setRead, (e) => signal.aborted || setError(e));
    return () => abort.current.abort();
  }, []);

  const result = v.name === "skip" ? parsedObject(output) : undefined;
  const run = async () => {
    if (!read || sent !== undefined) return;
    if (v.name === "skip" && !result) return setError("The output must be a JSON object, such as {}.");
    if (v.danger && typed.trim().replace(/\D/g, "") !== String(n)) return setError(`Type ${n} to say that you mean it.`);
    setError(undefined);
    setSent(0);
    const total: Outcome = { done: 0, refused: [], unknown: 0 };
    for (let i = 0; i < read.targets.length && !stopped.current; i += chunk) {
      const part = read.targets.slice(i, i + chunk);
      try {
        const data = await send(v, part, { ...(reason ? { reason } : {}), ...(v.name === "cancel" ? { compensate } : {}), ...(result ? { output: result } : {}) }, abort.current.signal);
        total.done += data.done;
        total.refused.push(...data.items.filter((r) => r.code).map((r) => ({ id: r.id, detail: r.detail ?? r.code! })));
        setSent(i + part.length);
      } catch (e) {
        if (!abort.current.signal.aborted) setError(e);
        if (!(e instanceof Problem) || e.status === 0) total.unknown = part.length;
        break;
      }
    }
    setOutcome(total);
    announce(inWords(total, v, read.targets.length));
  };

  const working = sent !== undefined && outcome === undefined;
  // At first what is under way is waited for, so that what came of it can be told.
  const leave = () => {
    if (!working) return p.onClose(outcome !== undefined);
    if (stopped.current) return abort.current.abort();
    stopped.current = true;
    setStopping(true);
  };

  const n = read?.targets.length ?? 0;
  const ready = read !== undefined && n > 0 && !read.tooMany && outcome === undefined;
  const instances = `${read ? number(n) : "…"} ${n === 1 ? "instance" : "instances"}`;
  const how = outcome && (outcome.done + outcome.refused.length < n ? "stopped" : "done");
  return (
    <Dialog
      title={how ? `${v.title}: ${how}` : working ? `${v.title}: ${stopping ? "stopping" : "working"} on ${instances}` : `${v.title} ${instances}?`}
      action={sent === undefined ? `${v.title} ${number(n)}` : "Working…"}
      danger={v.danger}
      busy={working}
      leave={working ? (stopping ? "Do not wait" : "Stop") : ready && v.name === "cancel" ? "Keep them running" : undefined}
      onSubmit={ready ? run : undefined}
      onClose={leave}
    >
      {!read && !error && (
        <p role="status">
          Reading what matches… <b>{number(seen)}</b>
        </p>
      )}
      {read?.tooMany && (
        <p>
          More than {number(most)} match, which is the most in one go. Narrow the filter, or use{" "}
          <code>lockstep inst {v.name === "delete" ? "rm" : v.name} --filter</code>.
        </p>
      )}
      {read && !read.tooMany && !outcome && <What verb={v} read={read} />}
      {ready && !working && (
        <>
          {v.name === "cancel" && (
            <p>
              <label>
                <input type="checkbox" checked={compensate} onChange={(e) => setCompensate(e.currentTarget.checked)} /> Undo completed states first (compensate)
              </label>
            </p>
          )}
          {v.name === "skip" && (
            <JsonEditor label="Output of the failed state" value={output} onChange={setOutput} />
          )}
          <label class="field">
            <span>Reason, for the {v.name === "delete" ? "audit log" : "history"} (optional)</span>
            <input value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={4000} />
          </label>
          {v.danger && (
            <label class="field">
              <span>Type {number(n)} to confirm</span>
              <input inputMode="numeric" autocomplete="off" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
            </label>
          )}
        </>
      )}
      {working && <Progress sent={sent} total={n} stopping={stopping} />}
      <ProblemBox error={error} />
      {outcome && <Result outcome={outcome} verb={v} total={n} />}
    </Dialog>
  );
}

function Progress(p: { sent: number; total: number; stopping: boolean }) {
  return (
    <>
      <progress max={p.total} value={p.sent} aria-label="Progress" />
      <p>
        {number(p.sent)} of {number(p.total)} were tried.{" "}
        {p.stopping && `Nothing more is sent; the answer for ${number(Math.min(chunk, p.total - p.sent))} is still to come.`}
      </p>
    </>
  );
}

function parsedObject(text: string): object | undefined {
  try {
    const x: unknown = JSON.parse(text);
    return typeof x === "object" && x !== null && !Array.isArray(x) ? x : undefined;
  } catch {
    return undefined;
  }
}

type Answer = { done: number; items: { id: string; code?: string; detail?: string }[] };

/** Sends a part of them. */
async function send(v: Verb, part: Instance[], more: object, signal: AbortSignal): Promise<Answer> {
  const instances = part.map((t) => (v.atRev ? { id: t.id, rev: t.rev } : { id: t.id }));
  return (await ask<Answer>("/api/v1/instances/bulk", { body: { verb: v.name, instances, ...more }, signal })).data;
}

/** What came of it: each of them is counted once. */
function inWords(o: Outcome, verb: Verb, total: number): string {
  const untried = total - o.done - o.refused.length - o.unknown;
  const parts = [`${number(o.done)} ${verb.past}`, `${number(o.refused.length)} refused`];
  if (o.unknown > 0) parts.push(`${number(o.unknown)} sent without an answer`);
  if (untried > 0) parts.push(`${number(untried)} not tried`);
  return parts.join(", ");
}

function What(p: { verb: Verb; read: Read }) {
  const { targets, others } = p.read;
  const left = [...others.values()].reduce((a, b) => a + b, 0);
  return (
    <>
      {targets.length > 0 ? <p>{p.verb.says}</p> : <p>None of them allows it now.</p>}
      <ul class="samples">
        {targets.slice(0, 5).map((t) => (
          <li key={t.id}>
            <StatusMark status={t.status} /> <b>{titleOf(t)}</b> {nameOf(t) ? <span class="quiet">{t.definition.id}</span> : <Id id={t.id} />} {t.error?.name}
          </li>
        ))}
        {targets.length > 5 && <li class="quiet">and {number(targets.length - 5)} more</li>}
      </ul>
      {left > 0 && (
        <p class="quiet">
          {number(left)} {left === 1 ? "is" : "are"} left alone, because {left === 1 ? "it does" : "they do"} not allow it now:{" "}
          {[...others].map(([status, k]) => `${number(k)} ${status}`).join(", ")}.
        </p>
      )}
    </>
  );
}

function Result(p: { outcome: Outcome; verb: Verb; total: number }) {
  const { refused, unknown } = p.outcome;
  return (
    <div role="status">
      <p>
        <b>{inWords(p.outcome, p.verb, p.total)}</b>.
      </p>
      {unknown > 0 && <p>Those without an answer may be {p.verb.past} or not: the list shows how they stand.</p>}
      {refused.slice(0, 10).map((r) => (
        <p key={r.id} class="quiet">
          <a class="mono" href={"/instances/" + encodeURIComponent(r.id)}>
            {r.id}
          </a>{" "}
          {r.detail}
        </p>
      ))}
      {refused.length > 10 && <p class="quiet">and {refused.length - 10} more</p>}
    </div>
  );
}

/** Reads the instances that are meant, as they are now. */
async function collect(q: string, selection: Selection, verb: string, signal: AbortSignal, tell: (n: number) => void): Promise<Read> {
  const out: Read = { targets: [], others: new Map(), tooMany: false };
  const take = (row: Instance) => {
    if (row.allowed?.includes(verb)) out.targets.push(row);
    else out.others.set(row.status, (out.others.get(row.status) ?? 0) + 1);
  };
  if (!selection.all) {
    const gone = (e: unknown) => {
      if (!(e instanceof Problem) || e.status !== 404) throw e;
    };
    const read = [...selection.ids].map((id) => get<Instance>(api("instances", id), signal).catch(gone));
    for (const row of await Promise.all(read)) if (row) take(row);
    return out;
  }
  for (let after = "", n = 0; ; ) {
    const query = new URLSearchParams({ q, limit: "100" });
    if (after) query.set("after", after);
    const page = await get<Page<Instance>>("/api/v1/instances?" + query, signal);
    page.items.forEach(take);
    tell((n += page.items.length));
    if (!page.next) return out;
    if (n >= most) return { ...out, tooMany: true };
    after = String(page.next);
  }
}
