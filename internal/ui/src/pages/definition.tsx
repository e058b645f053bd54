import { useMemo } from "preact/hooks";
import { api, ask, get, type Definition as Shape, type Page, type Schedule } from "../api";
import { useTitle } from "../app";
import { Editor } from "../editor/lazy";
import { amend, go, place } from "../router";
import { barred, may, NotAllowed } from "../parts/access";
import { Diagram, type NodeMark } from "../parts/diagram";
import { listOf, quote } from "../parts/filter";
import { Loading, PageHead } from "../parts/head";
import { useFailedJobs } from "../parts/jobs";
import { useLive } from "../parts/live";
import { useLoad, type Loaded } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Places } from "../parts/source";
import { StatusMark } from "../parts/status";
import { Ago } from "../parts/when";
import { NewVersion } from "./definition-deploy";
import { InsideDefinition } from "./definition-inside";
import { FilesTab, FunctionsTab } from "./definition-parts";
import { Standing, StandingActions, ScheduleSection, useSchedule } from "./definition-schedule";
import { Start } from "./definition-start";
import { Versions } from "./definition-versions";
import { Counts, dialectName, useNowAndThen, type Stats } from "./definitions";
import "./definition.css";

const tabs = [
  ["", "Overview"],
  ["source", "Source"],
  ["versions", "Versions"],
  ["files", "Files"],
  ["functions", "Functions"],
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
  const failedJobs = useFailedJobs(versions[0]?.dialect === "wfx" ? [p.id] : []).data;
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
  if (!list.data) return <Loading lines={6} />;
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
  if (tab === "deploy") {
    return (
      <>
        <PageHead kind={p.id} kindHref={link("")} title={`New version of ${p.id}`} />
        {may("deploy") ? (
          <NewVersion definition={shown} of={of} onDone={() => (again(), go("/definitions/" + encodeURIComponent(p.id)))} />
        ) : (
          <NotAllowed deed="deploy" what="deploy definitions" />
        )}
      </>
    );
  }
  const starting = may("start") && (tab === "start" || query.has("start"));
  const idle = shown.retired ? "retired" : shown.paused ? "paused" : "";
  return (
    <>
      <PageHead
        kind="Definitions"
        kindHref="/definitions"
        title={p.id}
        status={<State definition={shown} />}
        actions={
          <div class="definition-actions">
            <button type="button" class="main" {...(idle ? { disabled: true, title: `The definition is ${idle}` } : {})} {...barred("start")} onClick={() => amend({ tab: null, start: "1" })}>
              {shown.dialect === "wfx" ? "New job" : "Start"}
            </button>
            {may("deploy") && (
              <a class="button" href={link("deploy")}>
                New version
              </a>
            )}
            {shown.dialect === "wfx" ? (
              <a class="button" href={"/board/" + encodeURIComponent(p.id)}>
                Board
              </a>
            ) : (
              may("start") && (
                <a class="button" href={"/playground?definition=" + encodeURIComponent(p.id)}>
                  Try it out
                </a>
              )
            )}
            <StandingActions definition={shown} again={again} />
          </div>
        }
      >
        <p class="definition-facts">
          {shown.name && shown.name !== p.id && <span class="definition-name">{shown.name}</span>}
          <Version versions={versions} version={version} shown={shown} />
          <span>{dialectName(shown.dialect)}</span>
          {shown.deployed && (
            <span>
              deployed <Ago time={shown.deployed} />
            </span>
          )}
        </p>
      </PageHead>
      <Standing definition={shown} />
      <nav class="tabs" aria-label="Of this definition">
        {tabs.map(([name, text]) => (
          <a key={name} href={link(name)} aria-current={name === tab || (!name && starting) ? "page" : undefined}>
            {text}
          </a>
        ))}
      </nav>
      <Tab key={tab + version} tab={tab} id={p.id} of={of} shown={shown} version={version} versions={versions} schedule={schedule} again={again}>
        <Counts id={p.id} statuses={stats.data?.definitions.find((d) => d.id === p.id)?.statuses} failedJobs={failedJobs?.get(p.id)} />
      </Tab>
      {starting && <Start definition={shown} version={version} onClose={() => amend({ tab: null, start: null })} />}
    </>
  );
}

/** Whether instances of it start. */
function State(p: { definition: Shape }) {
  if (p.definition.retired) return <span class="status">■ retired</span>;
  if (p.definition.paused) return <StatusMark status="paused" />;
  return (
    <span class="status completed">
      <span aria-hidden="true">●</span> active
    </span>
  );
}

function Version(p: { versions: Shape[]; version: string; shown: Shape }) {
  if (p.versions.length < 2) return p.shown.version ? <span>version {p.shown.version}</span> : null;
  return (
    <span>
      <label for="version">Version</label>{" "}
      <select id="version" value={p.version} onChange={(e) => go(withVersion(e.currentTarget.value))}>
        <option value="">{p.versions.find((d) => d.current)?.version || "newest"} (current)</option>
        {p.versions
          .filter((d) => !d.current)
          .map((d) => (
            <option value={d.version}>{d.version}</option>
          ))}
      </select>
    </span>
  );
}

function withVersion(version: string): string {
  const q = new URLSearchParams(place.value.query);
  if (version) q.set("version", version);
  else q.delete("version");
  q.delete("state");
  return place.value.path + (q.size ? "?" + q : "");
}

interface TabProps {
  tab: string;
  id: string;
  of: string;
  shown: Shape;
  version: string;
  versions: Shape[];
  schedule: Loaded<Schedule | null>;
  again: () => void;
  children: preact.ComponentChildren; // how many instances have which status
}

function Tab(p: TabProps) {
  switch (p.tab) {
    case "source":
      return <SourceTab {...p} />;
    case "versions":
      return <Versions id={p.id} versions={p.versions} />;
    case "files":
      return <FilesTab id={p.id} of={p.of} digest={p.shown.digest} />;
    case "functions":
      return <FunctionsTab id={p.id} of={p.of} digest={p.shown.digest} />;
  }
  return <Overview {...p} />;
}

function SourceTab(p: { id: string; of: string; shown: Shape }) {
  const source = useLoad(async (signal) => (await ask<string>(api("definitions", p.id, "source") + p.of, { signal, text: true })).data, [p.id, p.of, p.shown.digest]);
  const remarks = useMemo(() => (p.shown.diagnostics ?? []).filter((d) => d.line && !d.file), [p.shown.digest]);
  const elsewhere = (p.shown.diagnostics ?? []).filter((d) => !d.line || d.file);
  if (source.error) return <ProblemBox error={source.error} again={source.again} />;
  if (source.data === undefined) return <p class="quiet">Loading…</p>;
  const line = Number(place.value.query.get("line")) || undefined;
  return (
    <div class="definition-source">
      {elsewhere.length > 0 && <Places remarks={elsewhere} />}
      <Editor key={p.shown.digest + line} label="Source" readOnly value={source.data} remarks={remarks} line={line} />
    </div>
  );
}

interface Heat {
  states: { state: string; group?: string; now: number; failed: number }[];
  exact: boolean;
}

function Overview(p: TabProps) {
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
            nested={InsideDefinition}
          />
        )}
      </div>
      <div class="definition-side">
        <section aria-label="Instances">
          <h2>{job ? "Jobs" : "Instances"}</h2>
          {p.children}
        </section>
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
                      <th scope="row" class={s.group === "FAILED" ? "bad" : undefined}>
                        {s.state}
                      </th>
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
        </section>
        <ScheduleSection loaded={p.schedule} again={p.again} />
      </div>
    </div>
  );
}

function marksOf(states: Heat["states"]): Map<string, NodeMark> {
  const out = new Map<string, NodeMark>();
  for (const s of states) {
    const [now, failed] = s.group === "FAILED" ? [0, s.now] : [s.now, s.failed];
    const badges = [];
    if (now) badges.push({ text: String(now) });
    if (failed) badges.push({ text: "✕ " + failed, bad: true });
    out.set(s.state, { badges, says: `${now} now, ${failed} failed`, kind: failed ? "failed" : now ? "active" : "none" });
  }
  return out;
}
