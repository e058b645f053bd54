import { api, get, getAll, type Instance, type Page, type Schedule } from "../api";
import { listOf } from "../parts/filter";
import { bytes, instant, number } from "../parts/format";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { nameOf, shortId, titleOf } from "../parts/name";
import { ProblemBox } from "../parts/problem";
import { InstanceStatus } from "../parts/status";
import { Ago, Due } from "../parts/when";
import { useNowAndThen } from "./definitions";
import { healthOf, type Nodes } from "./nodes-health";

const few = 5;
const candidates = 200; // waiting instances that are compared: those that were created first

interface Waiter {
  instance: Instance;
  why: string;
}

// Why an instance waits changes only with its revision.
const known = new Map<string, { rev: number; why: string }>();

// Instants in a sentence of the server are read as all others on the page.
const instants = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

async function whyOf(row: Instance, signal: AbortSignal): Promise<string> {
  const before = known.get(row.id);
  if (before?.rev === row.rev) return before.why;
  const { summary } = await get<{ summary: string }>(api("instances", row.id, "why"), signal);
  const why = summary.replace(instants, instant);
  known.set(row.id, { rev: row.rev, why });
  return why;
}

/** The instances that wait and have not moved for the longest time, and for what they wait. */
export function Waiting() {
  const list = useLoad(async (signal) => {
    const page = await get<Page<Instance>>("/api/v1/instances?" + new URLSearchParams({ q: "status:waiting", order: "oldest", fold: "true", limit: String(candidates) }), signal);
    const rows = page.items.sort((a, b) => Date.parse(a.updated) - Date.parse(b.updated)).slice(0, few);
    const ids = new Set(rows.map((row) => row.id));
    for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    const out: Waiter[] = [];
    for (const row of rows) out.push({ instance: row, why: await whyOf(row, signal).catch(() => "") }); // one may be gone
    return { waiters: out, more: page.next !== undefined };
  }, []);
  useLive(10_000, () => true, list.again);
  const rows = list.data?.waiters ?? [];
  if (rows.length === 0) return <ProblemBox error={list.error} again={list.again} />;
  return (
    <section class="panel" aria-labelledby="waiting">
      <div class="home-title">
        <h2 id="waiting">Waiting longest</h2>
        {list.data?.more && <span class="quiet">of the {number(candidates)} oldest</span>}
        <a class="calm" href={listOf("status:waiting")}>
          All
        </a>
      </div>
      <ul class="brief">
        {rows.map(({ instance: row, why }) => (
          <li key={row.id}>
            <a class="name" href={"/instances/" + encodeURIComponent(row.id)}>
              {titleOf(row)}
            </a>
            <span class="quiet nowrap">
              moved <Ago time={row.updated} />
            </span>
            <p title={why}>{why || row.state}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What began last. */
export function Recent(p: { rows: Instance[]; total: number }) {
  return (
    <section class="panel" aria-labelledby="recent">
      <div class="home-title">
        <h2 id="recent">Recent instances</h2>
        <a class="calm" href="/instances">
          All {number(p.total)}
        </a>
      </div>
      <ul class="recent">
        {p.rows.map((row) => (
          <li key={row.id}>
            <InstanceStatus of={row} />
            <a class="name" href={"/instances/" + encodeURIComponent(row.id)}>
              {titleOf(row)}
            </a>
            <span class="quiet">{whatOf(row)}</span>
            <Ago time={row.created} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What an instance is of, or which of them it is, and how far it came. */
function whatOf(row: Instance): string {
  const state = row.job?.state ?? row.error?.node ?? row.state;
  const how = row.error ? `${row.error.name}${state ? " at " + state : ""}` : state;
  return [nameOf(row) === undefined ? shortId(row.id) : row.definition.id, how].filter(Boolean).join(" · ");
}

/** The schedules that fire next. */
export function NextSchedules() {
  const list = useLoad((signal) => getAll<Schedule>(api("schedules"), signal), []);
  const all = list.data?.items ?? [];
  useLive(5000, (c) => all.some((s) => s.definition === c.definition), list.again);
  useNowAndThen(10_000, list.again); // another definition may have one
  if (all.length === 0) return <ProblemBox error={list.error} again={list.again} />;
  const next = all.filter((s) => s.next[0]).sort((a, b) => Date.parse(a.next[0]!) - Date.parse(b.next[0]!));
  const paused = all.filter((s) => s.state === "paused" || s.state === "definition-paused").length;
  return (
    <section class="panel" aria-labelledby="schedules">
      <div class="home-title">
        <h2 id="schedules">Next schedules</h2>
        {list.data?.more && <span class="quiet">of the first {number(all.length)}</span>}
        <a class="calm" href="/schedules">
          All
        </a>
      </div>
      {next.length === 0 && <p class="quiet">None is due.</p>}
      <ul class="brief">
        {next.slice(0, few).map((s) => (
          <li key={s.definition}>
            <a class="name" href={"/definitions/" + encodeURIComponent(s.definition)}>
              {s.definition}
            </a>
            <Due time={s.next[0]!} />
          </li>
        ))}
      </ul>
      {paused > 0 && <p class="quiet">{paused === 1 ? "1 is paused." : `${paused} are paused.`}</p>}
    </section>
  );
}

/** The servers and the store in one line. */
export function Health() {
  const nodes = useLoad((signal) => get<Nodes>(api("nodes"), signal), []);
  useNowAndThen(10_000, nodes.again);
  const d = nodes.data;
  if (nodes.error || !d || d.items.length === 0) return <span class="health">…</span>; // what is wrong is told below
  const { alive, gone, versions, calls, queued, unready } = healthOf(d);
  const well = gone === 0 && unready.length === 0;
  return (
    <span class="health">
      <a class="calm" href="/nodes">
        <span class={well ? "dot" : "dot bad"} aria-hidden="true">
          {well ? "●" : "✕"}
        </span>{" "}
        {alive === 1 ? "1 node alive" : `${number(alive)} nodes alive`}
        {gone > 0 && <b class="bad">, {number(gone)} silent</b>}
        {unready.length > 0 && (
          <b class="bad" title={unready.join("; ")}>
            , this server is not ready
          </b>
        )}
      </a>
      {versions.length > 1 && <span>{versions.length} versions</span>}
      <span>{calls === 1 ? "1 call" : `${number(calls)} calls`} in flight</span>
      {queued > 0 && <b class="bad">{queued === 1 ? "1 call" : `${number(queued)} calls`} queued</b>}
      {d.storeBytes !== undefined && <span>store {bytes(d.storeBytes)}</span>}
    </span>
  );
}
