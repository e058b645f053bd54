import { api, ask, get, type Definition as Shape, type Page, type Schedule } from "../api";
import { useTitle } from "../app";
import { amend, go, place } from "../router";
import { Diagram, type NodeMark } from "../parts/diagram";
import { listOf, quote } from "../parts/filter";
import { useLive } from "../parts/live";
import { useLoad, type Loaded } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Source } from "../parts/source";
import { Ago, Next } from "../parts/when";
import { useMemo } from "preact/hooks";
import { Deploy } from "./definition-deploy";
import { ScheduleTab, Standing, useSchedule } from "./definition-schedule";
import { Start } from "./definition-start";
import { Versions } from "./definition-versions";
import { Counts, dialectName, useNowAndThen, type Stats } from "./definitions";

const tabs = [
  ["", "Diagram"],
  ["source", "Source"],
  ["versions", "Versions"],
  ["start", "Start"],
  ["deploy", "New version"],
  ["schedule", "Schedule"],
] as const;

export function Definition(p: { id: string }) {
  useTitle(p.id);
  const query = place.value.query;
  const tab = query.get("tab") ?? "";
  const version = query.get("version") ?? "";
  const of = version ? "?version=" + encodeURIComponent(version) : "";
  const list = useLoad((signal) => get<Page<Shape>>(api("definitions", p.id, "versions"), signal), [p.id]);
  const stats = useLoad((signal) => get<Stats>(api("stats"), signal), [p.id]);
  useLive(2000, (c) => c.definition === p.id, stats.again);
  useNowAndThen(10_000, list.again);
  const versions = list.data?.items ?? [];
  const schedule = useSchedule(p.id, versions.find((d) => d.current));
  const again = () => {
    list.again();
    schedule.again();
  };
  const shown = version ? versions.find((d) => d.version === version) : (versions.find((d) => d.current) ?? versions[versions.length - 1]);
  if (list.error && !list.data) {
    return (
      <>
        <h1>{p.id}</h1>
        <ProblemBox error={list.error} again={list.again} />
        <a href="/definitions">All definitions</a>
      </>
    );
  }
  if (!list.data) return <p class="quiet">Loading…</p>;
  if (!shown) {
    return (
      <>
        <h1>{p.id}</h1>
        <ProblemBox error={`There is no version ${version} of it.`} />
        <a href={place.value.path}>The current version</a>
      </>
    );
  }
  const link = (name: string) => {
    const q = new URLSearchParams();
    if (name) q.set("tab", name);
    if (version) q.set("version", version);
    return place.value.path + (q.size ? "?" + q : "");
  };
  return (
    <>
      <h1>{p.id}</h1>
      {shown.name && shown.name !== p.id && <p class="subtitle">{shown.name}</p>}
      <dl class="def-facts">
        <div>
          <dt>
            <label for="version">Version</label>
          </dt>
          <dd>
            {versions.length > 1 ? (
              <select id="version" value={version} onChange={(e) => go(withVersion(e.currentTarget.value))}>
                <option value="">{versions.find((d) => d.current)?.version ?? "newest"} (current)</option>
                {versions
                  .filter((d) => !d.current)
                  .map((d) => (
                    <option value={d.version}>{d.version}</option>
                  ))}
              </select>
            ) : (
              <span id="version">{shown.version || "none"}</span>
            )}
          </dd>
        </div>
        <div>
          <dt>Dialect</dt>
          <dd>{dialectName(shown.dialect)}</dd>
        </div>
        <div>
          <dt>Deployed</dt>
          <dd>{shown.deployed ? <Ago time={shown.deployed} /> : "not known"}</dd>
        </div>
        <div>
          <dt>Instances, all versions</dt>
          <dd>
            <Counts id={p.id} statuses={stats.data?.definitions.find((d) => d.id === p.id)?.statuses} />
          </dd>
        </div>
        {schedule.data && (
          <div>
            <dt>Next start</dt>
            <dd>
              <Next time={schedule.data.next[0]} />
            </dd>
          </div>
        )}
        {shown.dialect === "wfx" && (
          <div>
            <dt>Jobs</dt>
            <dd>
              <a href={"/board/" + encodeURIComponent(p.id)}>Board</a>
            </dd>
          </div>
        )}
      </dl>
      <Standing definition={shown} again={again} />
      <nav class="tabs" aria-label="Of this definition">
        {tabs
          .filter(([name]) => name !== "schedule" || name === tab || schedule.data)
          .map(([name, text]) => (
            <a key={name} href={link(name)} aria-current={name === tab ? "page" : undefined}>
              {name === "start" && shown.dialect === "wfx" ? "New job" : text}
            </a>
          ))}
      </nav>
      <Tab key={tab + version} tab={tab} id={p.id} of={of} shown={shown} version={version} versions={versions} schedule={schedule} again={again} />
    </>
  );
}

function withVersion(version: string): string {
  const q = new URLSearchParams(place.value.query);
  if (version) q.set("version", version);
  else q.delete("version");
  q.delete("state");
  return place.value.path + (q.size ? "?" + q : "");
}

function Tab(p: { tab: string; id: string; of: string; shown: Shape; version: string; versions: Shape[]; schedule: Loaded<Schedule | null>; again: () => void }) {
  switch (p.tab) {
    case "source":
      return <SourceTab {...p} />;
    case "versions":
      return <Versions id={p.id} versions={p.versions} />;
    case "start":
      return <Start definition={p.shown} version={p.version} />;
    case "deploy":
      return <DeployTab {...p} />;
    case "schedule":
      return <ScheduleTab loaded={p.schedule} again={p.again} />;
  }
  return <DiagramTab {...p} />;
}

function SourceTab(p: { id: string; of: string; shown: Shape }) {
  const source = useLoad((signal) => sourceOf(p, signal), [p.id, p.of, p.shown.digest]);
  if (source.error) return <ProblemBox error={source.error} again={source.again} />;
  if (source.data === undefined) return <p class="quiet">Loading…</p>;
  const line = Number(place.value.query.get("line")) || undefined;
  return <Source text={source.data} remarks={p.shown.diagnostics ?? []} line={line} />;
}

function DeployTab(p: { id: string; of: string; shown: Shape }) {
  const source = useLoad((signal) => sourceOf(p, signal), [p.id, p.of]);
  if (source.error) return <ProblemBox error={source.error} again={source.again} />;
  if (source.data === undefined) return <p class="quiet">Loading…</p>;
  return <Deploy draft={p.id + "@" + p.shown.version} start={source.data} id={p.id} />;
}

/** The document as it was deployed. */
async function sourceOf(p: { id: string; of: string }, signal: AbortSignal): Promise<string> {
  return (await ask<string>(api("definitions", p.id, "source") + p.of, { signal, text: true })).data;
}

interface Heat {
  states: { state: string; group?: string; now: number; failed: number }[];
  exact: boolean;
}

function DiagramTab(p: { id: string; of: string; shown: Shape; version: string }) {
  const path = api("definitions", p.id);
  const drawing = useLoad((signal) => get<string>(path + "/graph.svg" + p.of, signal), [p.id, p.of, p.shown.digest]);
  const heat = useLoad((signal) => get<Heat>(path + "/heat" + p.of, signal), [p.id, p.of]);
  useLive(2000, (c) => c.definition === p.id, heat.again);
  const selected = place.value.query.get("state") ?? undefined;
  const states = heat.data?.states ?? [];
  const marks = useMemo(() => marksOf(states), [heat.data]);
  const def = "def:" + quote(p.id + (p.version ? "@" + p.version : ""));
  const job = p.shown.dialect === "wfx";
  return (
    <div class="beside">
      <div>
        <ProblemBox error={drawing.error} again={drawing.again} />
        {drawing.data && (
          <Diagram
            svg={drawing.data}
            label={`Diagram of ${p.id}`}
            marks={marks}
            selected={selected}
            onSelect={(state) => amend({ state: state === selected ? null : state })}
          />
        )}
      </div>
      <section aria-label="Where instances are">
        <h2>Where {job ? "jobs" : "instances"} are</h2>
        <ProblemBox error={heat.error} again={heat.again} />
        {heat.data && states.length === 0 && <p class="quiet">No {job ? "job" : "instance"} is in any state now, and none has failed.</p>}
        {states.length > 0 && (
          <table class="numbers">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">Now</th>
                {!job && <th scope="col">Failed</th>}
              </tr>
            </thead>
            <tbody>
              {states
                .filter((s) => !selected || s.state === selected)
                .slice(0, 100)
                .map((s) => (
                  <tr key={s.state}>
                    <th scope="row">{s.state}</th>
                    <td>{s.now ? <a href={listOf(`${def} state:${quote(s.state)}` + (job ? "" : " status:running,waiting,paused"))}>{s.now}</a> : 0}</td>
                    {!job && <td>{s.failed ? <a href={listOf(`${def} status:failed ${quote(s.state)}`)}>{s.failed}</a> : 0}</td>}
                  </tr>
                ))}
            </tbody>
          </table>
        )}
        {selected && !states.some((s) => s.state === selected) && heat.data && <p class="quiet">Nothing is in {selected}.</p>}
        {selected && (
          <button type="button" onClick={() => amend({ state: null })}>
            All states
          </button>
        )}
        {heat.data && !heat.data.exact && <p class="quiet">Only the newest instances are counted; there are more.</p>}
        <p class="quiet">On the diagram: how many are in a state now{job ? "." : ", and ✕ how many failed there."}</p>
      </section>
    </div>
  );
}

function marksOf(states: Heat["states"]): Map<string, NodeMark> {
  const out = new Map<string, NodeMark>();
  for (const s of states) {
    const badges = [];
    if (s.now) badges.push({ text: String(s.now) });
    if (s.failed) badges.push({ text: "✕ " + s.failed, bad: true });
    out.set(s.state, { badges, says: `${s.now} now, ${s.failed} failed`, kind: s.failed ? "failed" : s.now ? "active" : "none" });
  }
  return out;
}
