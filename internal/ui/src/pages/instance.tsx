import { useMemo } from "preact/hooks";
import { api, get, Problem, type Instance as Row } from "../api";
import { useTitle } from "../app";
import { amend, place } from "../router";
import { number } from "../parts/format";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Next } from "../parts/when";
import { Actions } from "./instance-actions";
import { CallsTab, callsOf } from "./instance-calls";
import { DataTab } from "./instance-diff";
import { Failure, Quarantine } from "./instance-failure";
import { Header, titleOf } from "./instance-header";
import { itemsOf, useHistory, type Attempt, type History, type Item } from "./instance-history";
import { InstanceDiagram } from "./instance-inside";
import { Log } from "./instance-log";
import { Moves } from "./instance-moves";
import { StateDetails, WholeDetails } from "./instance-node";
import { ForeachProgress } from "./instance-progress";
import { Timeline } from "./instance-timeline";
import { Why } from "./instance-why";
import "./instance.css";

export function Instance(p: { id: string }) {
  const loaded = useLoad((signal) => get<Row>(api("instances", p.id), signal), [p.id]);
  const history = useHistory(p.id);
  const again = () => {
    loaded.again();
    history.again();
  };
  useLive(300, (c) => c.instance === p.id, again);
  const instance = loaded.data;
  useTitle(instance ? titleOf(instance) : p.id);
  const items = useMemo(() => itemsOf(history), [history.head, history.tail]);
  const calls = useMemo(() => callsOf(items), [items]);
  if (!instance) {
    if (!loaded.error) return <p class="quiet">Loading…</p>;
    return <Missing id={p.id} error={loaded.error} again={again} />;
  }
  // The state that failed is what people come for, until they choose another or none ("-").
  const state = (place.value.query.get("state") ?? instance.error?.node ?? "-").replace(/^-$/, "");
  const started = history.head[0] ?? history.tail[0];
  return (
    <>
      <Header instance={instance}>
        <Actions instance={instance} input={started?.data} again={again} />
      </Header>
      <ProblemBox error={loaded.error} again={again} />
      {instance.error && <Failure instance={instance} calls={calls} />}
      {instance.quarantine && <Quarantine text={instance.quarantine} />}
      {instance.job && <JobBlock instance={instance} again={again} />}
      {!instance.ended && !instance.quarantine && !instance.job && <Why instance={instance} again={again} />}
      {instance.progress?.map((one) => <ForeachProgress key={one.state} progress={one} instance={instance} calls={calls} />)}
      <div class="columns">
        <section aria-label="Diagram">
          <InstanceDiagram key={p.id} instance={instance} history={history} items={items} selected={state} onSelect={(s) => amend({ state: s })} />
        </section>
        {state ? (
          <StateDetails key={state} state={state} items={items} instance={instance} onClose={() => closeState(state)} />
        ) : (
          <WholeDetails items={items} instance={instance} />
        )}
      </div>
      <Tabs instance={instance} history={history} items={items} calls={calls} />
    </>
  );
}

/** Closes the details of a state; the focus goes back to where they are opened. */
function closeState(state: string) {
  amend({ state: "-" });
  document.querySelector<SVGGElement>(`[data-state="${CSS.escape(state)}"]`)?.focus();
}

function Missing(p: { id: string; error: unknown; again: () => void }) {
  if (!(p.error instanceof Problem) || p.error.status !== 404) return <ProblemBox error={p.error} again={p.again} />;
  return (
    <>
      <h1>There is no such instance</h1>
      <p>
        <span class="mono">{p.id}</span> does not exist; it may have been deleted. Look among the <a href="/instances">instances</a>.
      </p>
    </>
  );
}

const tabs = [
  ["", "Timeline"],
  ["calls", "Calls"],
  ["data", "Data"],
  ["history", "History"],
] as const;

/** What happened, from four sides. */
function Tabs(p: { instance: Row; history: History; items: Item[]; calls: Attempt[] }) {
  const query = place.value.query;
  const tab = tabs.find(([name]) => name === query.get("tab"))?.[0] ?? "";
  const records = p.history.head.length + p.history.tail.length + p.history.unread;
  const count: Record<string, number> = { calls: p.calls.length, history: records };
  return (
    <section class="happened" aria-label="What happened">
      <nav class="tabs" aria-label="Of this instance">
        {tabs.map(([name, label]) => {
          const to = new URLSearchParams(query);
          if (name) to.set("tab", name);
          else to.delete("tab");
          return (
            <a
              key={name}
              href={place.value.path + (to.size > 0 ? "?" + to : "")}
              aria-current={tab === name ? "page" : undefined}
              onClick={(e) => {
                if (e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
                e.preventDefault(); // without a jump to the top
                amend({ tab: name || null });
              }}
            >
              {label}
              {count[name] ? <span class="quiet count"> {number(count[name])}</span> : ""}
            </a>
          );
        })}
      </nav>
      {tab === "" && <Timeline history={p.history} items={p.items} instance={p.instance} />}
      {tab === "calls" && <CallsTab calls={p.calls} instance={p.instance} history={p.history} />}
      {tab === "data" && <DataTab history={p.history} />}
      {tab === "history" && <Log history={p.history} items={p.items} instance={p.instance} />}
      {tab !== "history" && <ProblemBox error={p.history.error} again={p.history.again} />}
    </section>
  );
}

function JobBlock(p: { instance: Row; again: () => void }) {
  const { instance: i } = p;
  const job = i.job!;
  const said = (i.output as { message?: unknown } | undefined)?.message as string | undefined; // the last words of whoever moved it
  return (
    <section class="panel" aria-labelledby="job">
      <h2 id="job">Job</h2>
      <p>
        For <b>{job.client}</b>, in <b>{job.state}</b>
        {job.group && ` (${job.group})`}. <a href={"/board/" + encodeURIComponent(i.definition.id)}>Board</a>
      </p>
      {said && <p class={job.group === "FAILED" ? "bad" : undefined}>{said}</p>}
      {job.allowed.length > 0 ? (
        <Moves instance={i} again={p.again} />
      ) : (
        <p class="quiet">It cannot be moved any more.</p>
      )}
      {i.wake && !i.ended && <p class="quiet">Times out <Next time={i.wake} /></p>}
    </section>
  );
}
