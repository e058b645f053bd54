import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api, ask, get, statuses, type Definition, type Instance, type Page, type Status } from "../api";
import { useTitle } from "../app";
import { amend, go, place } from "../router";
import { barred, may } from "../parts/access";
import { listOf } from "../parts/filter";
import { number } from "../parts/format";
import { PageHead } from "../parts/head";
import { Icon } from "../parts/icon";
import { failedJobs, useFailedJobs } from "../parts/jobs";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import { useNowAndThen } from "./definitions";
import { Activity, Durations } from "./home-activity";
import { Failures } from "./home-failures";
import { binsOf, hoursOf, type Hours, type Period } from "./home-hours";
import { Health, NextSchedules, Recent, Waiting } from "./home-now";
import "./home.css";

interface Stats {
  total: number;
  statuses: Partial<Record<Status, number>>;
}

// What runs when nothing is deployed yet.
const greet = `document: {dsl: 1.0.3, namespace: default, name: greet, version: 1.0.0, title: Greet someone by name}
do:
- greet:
    set:
      greeting: \${ "Hello, " + .name }
`;

export function Home() {
  useTitle("");
  const all = useLoad(async (signal) => {
    const [stats, recent] = await Promise.all([
      get<Stats>("/api/v1/stats", signal),
      get<Page<Instance>>("/api/v1/instances?fold=true&limit=10", signal),
    ]);
    return { stats, recent: recent.items };
  }, []);
  useLive(1000, () => true, all.again);
  const d = all.data;
  return (
    <>
      <PageHead title="Home">
        <Health />
      </PageHead>
      <ProblemBox error={all.error} again={all.again} />
      {d && (d.stats.total === 0 ? <FirstVisit /> : <Overview stats={d.stats} recent={d.recent} />)}
    </>
  );
}

function Overview(p: { stats: Stats; recent: Instance[] }) {
  const period: Period = place.value.query.get("period") === "week" ? "week" : "day";
  const hours = useLoad((signal) => get<Hours>(`/api/v1/stats/hours?hours=${hoursOf[period]}`, signal), [period]);
  useLive(3000, () => true, hours.again);
  useNowAndThen(60_000, hours.again); // another hour begins without a change
  const bins = hours.data && binsOf(hours.data.hours, period);
  return (
    <>
      <Figures stats={p.stats} />
      <div class="home">
        <div class="home-main">
          <Failures failed={p.stats.statuses.failed ?? 0} />
          <Activity bins={bins} period={period} choose={(to) => amend({ period: to === "week" ? "week" : null })} error={hours.error} again={hours.again} />
          <Recent rows={p.recent} total={p.stats.total} />
        </div>
        <div class="home-side">
          <Durations list={hours.data?.definitions} period={period} />
          <Waiting />
          <NextSchedules />
        </div>
      </div>
    </>
  );
}

/** How many instances there are: failed ones first, then of each status that some have. */
function Figures(p: { stats: Stats }) {
  const jobs = useFailedJobs().data?.get("") ?? 0;
  const count = (s: Status) => (p.stats.statuses[s] ?? 0) - (s === "completed" ? jobs : 0);
  const shown = statuses.filter((s) => s !== "failed" && count(s) > 0);
  return (
    <ul class="figures" aria-label="Instances by status">
      <Figure q="status:failed" count={count("failed")} bad={count("failed") > 0}>
        <StatusMark status="failed" />
      </Figure>
      {jobs > 0 && (
        <Figure q={failedJobs()} count={jobs} bad>
          <span class="status failed">
            <Icon name="failed" size={12} /> {jobs === 1 ? "failed job" : "failed jobs"}
          </span>
        </Figure>
      )}
      {shown.map((s) => (
        <Figure key={s} q={"status:" + s + (s === "completed" && jobs ? " -" + failedJobs() : "")} count={count(s)}>
          <StatusMark status={s} />
        </Figure>
      ))}
      <Figure q="" count={p.stats.total}>
        <span class="status">total</span>
      </Figure>
    </ul>
  );
}

function Figure(p: { q: string; count: number; bad?: boolean; children: ComponentChildren }) {
  return (
    <li class={p.bad ? "some-failed" : undefined}>
      <a href={listOf(p.q)}>
        <b>{number(p.count)}</b> {p.children}
      </a>
    </li>
  );
}

/** What someone sees who comes for the first time: nothing has run. */
function FirstVisit() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const definitions = useLoad((signal) => get<Page<Definition>>("/api/v1/definitions?limit=100", signal), []);
  const list = definitions.data?.items;
  if (!list) return <ProblemBox error={definitions.error} again={definitions.again} />;
  const known = list.some((d) => d.id === "greet");
  const run = async () => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      if (!known) await ask(api("definitions"), { body: greet, type: "application/yaml" });
      const { data } = await ask<Instance>(api("definitions", "greet", "instances"), { body: { name: "Ada" } });
      go("/instances/" + encodeURIComponent(data.id));
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <>
      <p class="lead">
        Lockstep runs workflows: you describe the steps in a file, and it takes each instance through them, keeps what it did, and continues after a crash. Here
        you see what runs, why something waits or failed, and can step in.
      </p>
      <div class="panel first">
        <h2>Nothing has run yet</h2>
        <p>
          A <em>definition</em> is the file that describes the steps; an <em>instance</em> is one run of it. The example greets someone by name: one step, no
          calls to anything.
        </p>
        <p>
          <button type="button" class="main" onClick={run} aria-disabled={busy} {...barred(known ? "start" : "deploy")}>
            {busy ? "Starting…" : known ? "Run the example greet" : "Deploy and run an example"}
          </button>
        </p>
        <ProblemBox error={error} />
        {list.length > 0 && (
          <p>
            Or choose among the {number(list.length)} that are deployed: <a href="/definitions">Definitions</a>.
          </p>
        )}
        {list.length === 0 && may("deploy") && (
          <>
            <p>No definition is deployed. From the command line, in a checkout:</p>
            <pre class="command">lockstep def apply examples/v10/greet.yaml{"\n"}lockstep inst start greet --input '{"{"}"name":"Ada"{"}"}' --wait</pre>
          </>
        )}
        {may("start") && (
          <p>
            To try something without keeping it, use the <a href="/playground">Playground</a>.
          </p>
        )}
      </div>
    </>
  );
}
