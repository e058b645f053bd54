import { useState } from "preact/hooks";
import { api, ask, get, statuses, type Definition, type Instance, type Page } from "../api";
import { useTitle } from "../app";
import { go } from "../router";
import { barred } from "../parts/access";
import { Ago } from "../parts/when";
import { listOf, quote } from "../parts/filter";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import { InstanceTable } from "./instances-table";
import "./home.css";

interface Stats {
  total: number;
  statuses: Record<string, number>;
}

interface Failure {
  definition: string;
  error: string;
  state?: string;
  count: number;
  newest: string;
  instance: string;
  detail?: string;
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
    const [stats, recent, definitions] = await Promise.all([
      get<Stats>("/api/v1/stats", signal),
      get<Page<Instance>>("/api/v1/instances?fold=true&limit=10", signal),
      get<Page<Definition>>("/api/v1/definitions?limit=100", signal),
    ]);
    return { stats, recent: recent.items, definitions: definitions.items };
  }, []);
  useLive(1000, () => true, all.again);
  const d = all.data;
  return (
    <>
      <h1>Lockstep</h1>
      <p class="lead">
        Lockstep runs workflows: you describe the steps in a file, and it takes each instance through them, keeps what it did, and goes on after a crash. Here
        you see what runs, why something waits or failed, and can step in.
      </p>
      <ProblemBox error={all.error} again={all.again} />
      {d && d.stats.total === 0 && <FirstVisit definitions={d.definitions} />}
      {d && d.stats.total > 0 && (
        <>
          <Counts stats={d.stats} />
          <Failures />
          <section aria-labelledby="recent">
            <h2 id="recent">Recent instances</h2>
            <InstanceTable rows={d.recent} />
            <p>
              <a href="/instances">All {d.stats.total.toLocaleString()} instances</a>
            </p>
          </section>
        </>
      )}
    </>
  );
}

function Counts(p: { stats: Stats }) {
  return (
    <ul class="status-counts" aria-label="Instances by status">
      <li>
        <a href="/instances">
          <b>{p.stats.total.toLocaleString()}</b> <span class="status">in all</span>
        </a>
      </li>
      {statuses.map((s) => (
        <li key={s}>
          <a href={listOf("status:" + s)}>
            <b>{(p.stats.statuses[s] ?? 0).toLocaleString()}</b> <StatusMark status={s} />
          </a>
        </li>
      ))}
    </ul>
  );
}

function Failures() {
  // To group them the server reads many: not as often as the rest.
  const groups = useLoad((signal) => get<{ items: Failure[]; exact: boolean }>("/api/v1/failures", signal), []);
  useLive(3000, () => true, groups.again);
  const shown = groups.data?.items.slice(0, 10) ?? [];
  return (
    <section aria-labelledby="failures">
      <h2 id="failures">Failures</h2>
      <ProblemBox error={groups.error} again={groups.again} />
      {groups.data && shown.length === 0 && <p class="quiet">Nothing failed.</p>}
      {shown.length > 0 && (
        <div class="scroll-x">
          <table class="failures">
            <thead>
              <tr>
                <th scope="col">Error at state</th>
                <th scope="col">Definition</th>
                <th scope="col" class="number">
                  Instances
                </th>
                <th scope="col">Newest</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((f) => (
                <tr key={`${f.definition} ${f.error} ${f.state}`}>
                  <td>
                    <a href={listOf(filterOf(f))}>
                      {f.error}
                      {f.state && <span class="quiet"> at </span>}
                      {f.state}
                    </a>
                    {f.detail && <div class="quiet oneline">{f.detail}</div>}
                  </td>
                  <td>
                    <a href={"/definitions/" + encodeURIComponent(f.definition)}>{f.definition}</a>
                  </td>
                  <td class="number">{f.count.toLocaleString()}</td>
                  <td>
                    <a href={"/instances/" + encodeURIComponent(f.instance)}>
                      <Ago time={f.newest} />
                    </a>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {groups.data?.exact === false && <p class="quiet">There are more failures; these are the newest.</p>}
    </section>
  );
}

function filterOf(f: Failure): string {
  const words = ["status:failed", "def:" + quote(f.definition)];
  if (f.error) words.push("error:" + quote(f.error));
  if (f.state) words.push("state:" + quote(f.state));
  return words.join(" ");
}

/** What someone sees who comes for the first time. */
function FirstVisit(p: { definitions: Definition[] }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const known = p.definitions.some((d) => d.id === "greet");
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
    <div class="panel first">
      <h2>Nothing has run yet</h2>
      <p>
        A <em>definition</em> is the file that describes the steps; an <em>instance</em> is one run of it. The example greets someone by name: one step, no calls
        to anything.
      </p>
      <p>
        <button type="button" class="main" onClick={run} aria-disabled={busy} {...barred(known ? "start" : "deploy")}>
          {busy ? "Starting…" : known ? "Run the example greet" : "Deploy and run an example"}
        </button>
      </p>
      <ProblemBox error={error} />
      {p.definitions.length > 0 ? (
        <p>
          Or choose among the {p.definitions.length} that are deployed: <a href="/definitions">Definitions</a>. To try something without keeping it, use the{" "}
          <a href="/playground">Playground</a>.
        </p>
      ) : (
        <>
          <p>No definition is deployed. From the command line, in a checkout:</p>
          <pre class="command">lockstep def apply examples/v10/greet.yaml{"\n"}lockstep inst start greet --input '{"{"}"name":"Ada"{"}"}' --wait</pre>
          <p>
            Or try your own in the <a href="/playground">Playground</a>.
          </p>
        </>
      )}
    </div>
  );
}
