import { useEffect, useState } from "preact/hooks";
import { api, get, getAll, statuses, type Definition, type Schedule, type Status } from "../api";
import { useTitle } from "../app";
import { amend, place, restoreScroll } from "../router";
import { may } from "../parts/access";
import { listOf, quote } from "../parts/filter";
import { number } from "../parts/format";
import { Empty, Loading, PageHead } from "../parts/head";
import { Icon } from "../parts/icon";
import { failedJobs, useFailedJobs } from "../parts/jobs";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import { Ago, Due } from "../parts/when";
import { DeployPage } from "./definition-deploy";
import "./definitions.css";

export interface Stats {
  total: number;
  definitions: { id: string; total: number; statuses: Partial<Record<Status, number>> }[];
}

const dialects: Record<string, string> = {
  sw10: "Open Workflow 1.0",
  sw09: "Serverless Workflow 0.9",
  sw08: "Serverless Workflow 0.8",
  sw07: "Serverless Workflow 0.7",
  sw06: "Serverless Workflow 0.6",
  sw05: "Serverless Workflow 0.5",
  sw02: "Serverless Workflow 0.2",
  "sw01-final": "Serverless Workflow 0.1",
  "sw01-early": "Serverless Workflow 0.1",
  "sw01-kebab": "Serverless Workflow 0.1",
  "sw01-camel": "Serverless Workflow 0.1",
  wfx: "Job workflow",
};

/** What people call a dialect. */
export function dialectName(dialect: string): string {
  return dialects[dialect] ?? dialect;
}

/** Asks again now and then while the page is looked at: for what no change in the stream tells of. */
export function useNowAndThen(ms: number, again: () => void) {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && again(), ms);
    return () => clearInterval(timer);
  }, [ms, again]);
}

/** How many instances have which status, each leading to them. Of those that completed, some may be failed jobs. */
export function Counts(p: { id: string; statuses?: Partial<Record<Status, number>>; failedJobs?: number }) {
  const failed = p.failedJobs ?? 0;
  const def = `def:${quote(p.id)} `;
  const list = statuses.map((s) => ({ status: s, count: p.statuses?.[s] ?? 0, q: `${def}status:${s}` }));
  if (failed) {
    const completed = list.find((c) => c.status === "completed")!;
    Object.assign(completed, { count: completed.count - failed, q: completed.q + " -" + failedJobs() });
    list.unshift({ status: "failed", count: failed, q: failedJobs(p.id) });
  }
  const present = list.filter((c) => c.count > 0);
  if (present.length === 0) return <span class="quiet">none</span>;
  return (
    <span class="tally">
      {present.map((c) => (
        <a key={c.q} class={"status " + c.status} href={listOf(c.q)}>
          <Icon name={c.status} size={12} /> {number(c.count)} {c.status}
        </a>
      ))}
    </span>
  );
}

const kinds = {
  active: "Active",
  paused: "Paused",
  retired: "Retired",
  scheduled: "With a schedule",
  running: "With running instances",
  waiting: "With waiting instances",
  failed: "With failed instances",
} as const;

const rowsShown = 200; // at once

export function Definitions() {
  if (place.value.query.has("deploy")) return <DeployPage />;
  return <List />;
}

function List() {
  useTitle("Definitions");
  const query = place.value.query;
  const after = query.get("after") ?? "";
  const kind = query.get("kind") ?? "";
  const [text, setText] = useState(query.get("text") ?? "");
  const wanted = text.trim().toLowerCase();
  const searching = wanted !== "" || kind !== "";
  // A page at a time; a search needs all of them.
  const list = useLoad<{ items: Definition[]; next?: string | number; more?: boolean }>(
    (signal) => (searching ? getAll(api("definitions"), signal) : get(`${api("definitions")}?limit=${rowsShown}${after && "&after=" + encodeURIComponent(after)}`, signal)),
    [after, searching],
  );
  const [shown, setShown] = useState(rowsShown);
  useEffect(() => setShown(rowsShown), [wanted, kind]);
  const stats = useLoad((signal) => get<Stats>(api("stats"), signal), []);
  const schedules = useLoad((signal) => getAll<Schedule>(api("schedules"), signal), []);
  useLive(2000, () => true, stats.again);
  useNowAndThen(10_000, () => (list.again(), schedules.again()));
  useEffect(() => {
    if (list.data) restoreScroll();
  }, [!list.data]);
  const counts = new Map(stats.data?.definitions.map((d) => [d.id, d.statuses]));
  const fires = new Map(schedules.data?.items.map((s) => [s.definition, s]));
  const all = list.data?.items ?? [];
  const has = (status: Status) => (d: Definition) => !!counts.get(d.id)?.[status];
  const named = all.filter((d) => !wanted || `${d.id} ${d.name ?? ""} ${dialectName(d.dialect)}`.toLowerCase().includes(wanted));
  const jobs = useFailedJobs((kind === "failed" ? named : named.slice(0, shown)).filter((d) => d.dialect === "wfx" && counts.get(d.id)?.completed).map((d) => d.id)).data;
  const is: Record<string, (d: Definition) => boolean> = {
    active: (d) => !d.paused && !d.retired,
    paused: (d) => !!d.paused,
    retired: (d) => !!d.retired,
    scheduled: (d) => fires.has(d.id),
    running: has("running"),
    waiting: has("waiting"),
    failed: (d) => has("failed")(d) || !!jobs?.get(d.id),
  };
  const rows = named.filter((d) => is[kind]?.(d) ?? true);
  return (
    <>
      <PageHead
        title="Definitions"
        actions={
          may("deploy") && (
            <a class="button main" href="/definitions?deploy=1">
              <Icon name="upload" /> Deploy a definition
            </a>
          )
        }
      />
      {list.data && all.length === 0 && !after ? (
        <Empty icon="definitions" title="No definitions yet">
          A definition describes the steps of a workflow.{" "}
          {may("deploy") ? (
            <>
              <a href="/definitions?deploy=1">Deploy one from this page</a>, or with <code>lockstep def apply FILE</code>.
            </>
          ) : (
            "Authors and admins deploy them."
          )}
        </Empty>
      ) : (
        <div class="bar">
          <span class="search">
            <Icon name="search" />
            <input
              id="definition-text"
              type="search"
              aria-label="Find"
              placeholder="Id, name or dialect"
              value={text}
              onInput={(e) => {
                setText(e.currentTarget.value);
                amend({ text: e.currentTarget.value });
              }}
            />
          </span>
          <select aria-label="Kind" class={kind ? "set" : undefined} value={kind in kinds ? kind : ""} onChange={(e) => amend({ kind: e.currentTarget.value })}>
            <option value="">All kinds</option>
            {Object.entries(kinds).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
          {list.data && (
            <span class="quiet">
              {searching ? `${number(rows.length)} of ${list.data.more ? "the first " : ""}${number(all.length)}` : `${number(rows.length)}${after || list.data.next ? " on this page" : ""}`}
            </span>
          )}
        </div>
      )}
      <ProblemBox error={list.error} again={list.again} />
      {!list.data && !list.error && <Loading lines={8} />}
      {rows.length > 0 && (
        <table class="definitions stack">
          <thead>
            <tr>
              <th scope="col">Definition</th>
              <th scope="col">Version</th>
              <th scope="col">Instances</th>
              <th scope="col">Next start</th>
              <th scope="col">Deployed</th>
              <th scope="col">
                <span class="unseen">Start</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((d) => (
              <Row key={d.id} d={d} counts={stats.data ? (counts.get(d.id) ?? {}) : undefined} failedJobs={jobs?.get(d.id)} schedule={fires.get(d.id)} />
            ))}
          </tbody>
        </table>
      )}
      {rows.length > shown && (
        <button type="button" onClick={() => setShown(shown + rowsShown)}>
          Show {number(Math.min(rowsShown, rows.length - shown))} more
        </button>
      )}
      {list.data && rows.length === 0 && all.length > 0 && (
        <Empty icon="search">
          {text ? (
            <>
              None has “{text}” in its id, name or dialect
              {kind && ` and is ${kind in kinds ? kinds[kind as keyof typeof kinds].toLowerCase() : kind}`}.
            </>
          ) : (
            "There is none of this kind."
          )}{" "}
          <a
            href="/definitions"
            onClick={() => {
              setText("");
            }}
          >
            Show all
          </a>
        </Empty>
      )}
      {list.data?.next && (
        <nav class="pages" aria-label="Pages">
          <a class="button" href={"/definitions?after=" + encodeURIComponent(String(list.data.next))}>
            More definitions <Icon name="right" />
          </a>
        </nav>
      )}
    </>
  );
}

function Row(p: { d: Definition; counts?: Partial<Record<Status, number>>; failedJobs?: number; schedule?: Schedule }) {
  const { d, schedule } = p;
  const next = schedule?.next[0];
  return (
    <tr>
      <td class="what">
        <a class="name" href={"/definitions/" + encodeURIComponent(d.id)}>
          {d.id}
        </a>{" "}
        {d.retired ? (
          <span class="status">
            <Icon name="terminated" size={12} /> retired
          </span>
        ) : (
          d.paused && <StatusMark status="paused" />
        )}
        {d.name && d.name !== d.id && <div class="quiet">{d.name}</div>}
      </td>
      <td data-label="Version">
        {d.version || <span class="quiet">none</span>}
        <div class="quiet dialect">{dialectName(d.dialect)}</div>
      </td>
      <td class="wide">{p.counts ? <Counts id={d.id} statuses={p.counts} failedJobs={p.failedJobs} /> : <span class="quiet">…</span>}</td>
      <td data-label="Next start">
        {schedule && (
          <a href={`/definitions/${encodeURIComponent(d.id)}`}>{next ? <Due time={next} /> : <span class="quiet">{schedule.state === "paused" ? "paused" : "none"}</span>}</a>
        )}
      </td>
      <td data-label="Deployed">{d.deployed && <Ago time={d.deployed} />}</td>
      <td class="act">
        {may("start") && !d.retired && !d.paused && (
          <a class="button small" href={`/definitions/${encodeURIComponent(d.id)}?tab=start`} aria-label={`${d.dialect === "wfx" ? "New job" : "Start"} ${d.id}`}>
            <Icon name="play" size={12} /> {d.dialect === "wfx" ? "New job" : "Start"}
          </a>
        )}
      </td>
    </tr>
  );
}
