import { useEffect, useState } from "preact/hooks";
import { api, get, statuses, type Definition, type Page, type Status } from "../api";
import { useTitle } from "../app";
import { amend, place, restoreScroll } from "../router";
import { listOf, quote } from "../parts/filter";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import { Ago } from "../parts/when";
import { Deploy } from "./definition-deploy";
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

/** How many instances have which status, each leading to them. */
export function Counts(p: { id: string; statuses?: Partial<Record<Status, number>> }) {
  const present = statuses.filter((s) => p.statuses?.[s]);
  if (present.length === 0) return <span class="quiet">none</span>;
  return (
    <span class="tally">
      {present.map((s) => (
        <a href={listOf(`def:${quote(p.id)} status:${s}`)}>
          <StatusMark status={s} /> {p.statuses![s]}
        </a>
      ))}
    </span>
  );
}

export function Definitions() {
  useTitle("Definitions");
  const query = place.value.query;
  const after = query.get("after") ?? "";
  const [text, setText] = useState(query.get("text") ?? "");
  const list = useLoad((signal) => get<Page<Definition>>(api("definitions") + "?limit=200" + (after ? "&after=" + encodeURIComponent(after) : ""), signal), [after]);
  const stats = useLoad((signal) => get<Stats>(api("stats"), signal), []);
  useLive(2000, () => true, stats.again);
  useNowAndThen(10_000, list.again);
  useEffect(() => {
    if (list.data) restoreScroll();
  }, [!list.data]);
  const counts = new Map(stats.data?.definitions.map((d) => [d.id, d.statuses]));
  const wanted = text.trim().toLowerCase();
  const rows = (list.data?.items ?? []).filter((d) => !wanted || `${d.id} ${d.name ?? ""} ${dialectName(d.dialect)}`.toLowerCase().includes(wanted));
  if (query.has("deploy")) {
    return (
      <>
        <h1>Deploy a definition</h1>
        <Deploy draft="new" start={example} />
        <p>
          <a href="/definitions">All definitions</a>
        </p>
      </>
    );
  }
  return (
    <>
      <h1>Definitions</h1>
      <div class="bar">
        <label for="definition-text">Find</label>
        <input
          id="definition-text"
          type="search"
          placeholder="id or name"
          value={text}
          onInput={(e) => {
            setText(e.currentTarget.value);
            amend({ text: e.currentTarget.value });
          }}
        />
        <span class="grow" />
        <a class="button" href="/definitions?deploy=1">
          Deploy a definition
        </a>
      </div>
      <ProblemBox error={list.error} again={list.again} />
      {list.data && list.data.items.length === 0 && (
        <div class="panel">
          <p>
            A definition says what is to be done, in which order. There is none here yet: <a href="/definitions?deploy=1">deploy one from this page</a>, or
            with <code>lockstep def apply FILE</code>.
          </p>
        </div>
      )}
      {list.data && list.data.items.length > 0 && (
        <div class="scroll-x">
          <table>
            <thead>
              <tr>
                <th scope="col">Definition</th>
                <th scope="col">Version</th>
                <th scope="col">Dialect</th>
                <th scope="col">Deployed</th>
                <th scope="col">Instances</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((d) => (
                <tr key={d.id}>
                  <td>
                    <a href={"/definitions/" + encodeURIComponent(d.id)}>{d.id}</a>
                    {d.paused && (
                      <>
                        {" "}
                        <StatusMark status="paused" />
                      </>
                    )}
                    {d.retired && <span class="quiet"> retired</span>}
                    {d.name && d.name !== d.id && <div class="quiet">{d.name}</div>}
                  </td>
                  <td>{d.version || <span class="quiet">none</span>}</td>
                  <td>{dialectName(d.dialect)}</td>
                  <td class="nowrap">{d.deployed && <Ago time={d.deployed} />}</td>
                  <td>{stats.data ? <Counts id={d.id} statuses={counts.get(d.id)} /> : <span class="quiet">…</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.data && rows.length === 0 && list.data.items.length > 0 && <p class="quiet">None of these has “{text}” in its id or name.</p>}
      {list.data?.next && (
        <p>
          <a href={"/definitions?after=" + encodeURIComponent(String(list.data.next))}>More definitions</a>
        </p>
      )}
    </>
  );
}

const example = `document:
  dsl: 1.0.3
  namespace: default
  name: greet
  version: 1.0.0
do:
- greet:
    set:
      greeting: \${ "Hello, " + .name }
`;
