import { useMemo } from "preact/hooks";
import { api, get, Problem, type Instance as Row, type Page } from "../api";
import { useTitle } from "../app";
import { amend, place } from "../router";
import { Diagram } from "../parts/diagram";
import { listOf, quote } from "../parts/filter";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import { Ago, span } from "../parts/when";
import { Actions } from "./instance-actions";
import { itemsOf, marksOf, useHistory } from "./instance-history";
import { StateDetails, WholeDetails } from "./instance-node";
import { Moves } from "./instance-moves";
import { ForeachProgress, itemText } from "./instance-progress";
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
  useTitle(instance?.name || p.id);
  const { id = "", version = "", digest = "" } = instance?.definition ?? {};
  const drawing = useLoad(async (signal) => (id ? get<string>(api("definitions", id, "graph.svg") + "?" + new URLSearchParams(digest ? { digest } : { version }), signal) : ""), [id, version, digest]);
  const items = useMemo(() => itemsOf(history), [history.head, history.tail]);
  const marks = useMemo(() => (instance ? marksOf(items, instance) : new Map()), [items, instance]);
  if (!instance) {
    if (!loaded.error) return <p class="quiet">Loading…</p>;
    return <Missing id={p.id} error={loaded.error} again={again} />;
  }
  // The state that failed is what people come for, until they choose another or none ("-").
  const state = (place.value.query.get("state") ?? instance.error?.node ?? "-").replace(/^-$/, "");
  const started = history.head[0] ?? history.tail[0];
  return (
    <>
      <Header instance={instance} />
      <ProblemBox error={loaded.error} again={again} />
      {instance.error && <Failure instance={instance} />}
      {instance.quarantine && <Quarantine text={instance.quarantine} />}
      <Actions instance={instance} input={started?.data} again={again} />
      {instance.progress?.map((one) => <ForeachProgress key={one.state} progress={one} />)}
      {!instance.ended && !instance.quarantine && !instance.job && <Why instance={instance} again={again} />}
      {instance.job && <JobBlock instance={instance} again={again} />}
      <div class="columns">
        <section aria-label="Diagram">
          <ProblemBox error={drawing.error} again={drawing.again} />
          {drawing.data && <Diagram svg={drawing.data} label={"States of " + id} marks={marks} selected={state} onSelect={(s) => amend({ state: s })} />}
        </section>
        {state ? (
          <StateDetails key={state} state={state} items={items} instance={instance} onClose={() => closeState(state)} />
        ) : (
          <WholeDetails items={items} instance={instance} />
        )}
      </div>
      <Timeline history={history} items={items} instance={instance} />
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

function Header(p: { instance: Row }) {
  const { instance: i } = p;
  const children = useLoad((signal) => get<Page<Row>>("/api/v1/instances?" + new URLSearchParams({ q: "parent:" + quote(i.id), limit: "5" }), signal), [i.id, i.rev]);
  const kids = children.data?.items ?? [];
  const labels = Object.entries(i.labels ?? {});
  return (
    <header class="instance">
      <h1>
        <StatusMark status={i.status} /> {i.name || <span class="mono">{i.id}</span>}
      </h1>
      <dl class="facts">
        {i.name && (
          <>
            <dt>Id</dt>
            <dd class="mono">{i.id}</dd>
          </>
        )}
        {i.key && (
          <>
            <dt>Key</dt>
            <dd class="mono">{i.key}</dd>
          </>
        )}
        <dt>Definition</dt>
        <dd>
          <a href={"/definitions/" + encodeURIComponent(i.definition.id) + (i.definition.version ? "?" + new URLSearchParams({ version: i.definition.version }) : "")}>
            {i.definition.id}
            {i.definition.version && "@" + i.definition.version}
          </a>
        </dd>
        {(i.states?.length ?? 0) > 0 && (
          <>
            <dt>{i.states!.length === 1 ? "State" : "States"}</dt>
            <dd>{i.states!.slice(0, 10).join(", ")}</dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Ago time={i.created} />
        </dd>
        {i.ended && (
          <>
            <dt>Took</dt>
            <dd>{span(Date.parse(i.ended) - Date.parse(i.created))}</dd>
          </>
        )}
        {i.parent && (
          <>
            <dt>Started by</dt>
            <dd>
              <a class="mono" href={"/instances/" + encodeURIComponent(i.parent)}>
                {i.parent}
              </a>
            </dd>
          </>
        )}
        {i.restartOf && (
          <>
            <dt>Restart of</dt>
            <dd>
              <a class="mono" href={"/instances/" + encodeURIComponent(i.restartOf)}>
                {i.restartOf}
              </a>
            </dd>
          </>
        )}
        {kids.length > 0 && (
          <>
            <dt>Started</dt>
            <dd>
              {kids.map((c) => (
                <div key={c.id}>
                  <StatusMark status={c.status} /> <a href={"/instances/" + encodeURIComponent(c.id)}>{c.definition.id}</a>
                </div>
              ))}
              {children.data?.next && <a href={listOf("parent:" + quote(i.id))}>all of them</a>}
            </dd>
          </>
        )}
        {labels.length > 0 && (
          <>
            <dt>Labels</dt>
            <dd>{labels.map(labelText).join(", ")}</dd>
          </>
        )}
      </dl>
    </header>
  );
}

/** A label for reading; a job has a list of words under one name. */
function labelText([name, value]: [string, unknown]): string {
  if (name === "tags" && Array.isArray(value)) return value.join(", ");
  return `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}

function Failure(p: { instance: Row }) {
  const e = p.instance.error!;
  const { id, version } = p.instance.definition;
  const source = "/definitions/" + encodeURIComponent(id) + "?" + new URLSearchParams({ ...(version ? { version } : {}), tab: "source", line: String(e.place?.line ?? 1) });
  return (
    <div class="problem" role="region" aria-label="Error">
      <p>
        <b>
          {e.name}
          {e.code && ` (${e.code})`}
        </b>
        {e.node && (
          <>
            {" "}
            in <b>{e.node}</b>
          </>
        )}
        {e.place && (
          <>
            , <a href={source}>line {e.place.line}</a>
          </>
        )}
        {e.item && (
          <>
            , item {e.item.index.toLocaleString("en")} <span class="mono">{itemText(e.item.value)}</span>
          </>
        )}
      </p>
      {e.detail && <p class="detail">{e.detail}</p>}
      {(e.trail?.length ?? 0) > 1 && <p class="quiet">It came from {e.trail!.map((hop) => [hop.workflow, hop.node].filter(Boolean).join(" · ")).join(" → ")}</p>}
    </div>
  );
}

function Quarantine(p: { text: string }) {
  return (
    <div class="problem" role="region" aria-label="Set aside">
      <p>
        <b>It is in quarantine because an invariant was violated.</b> Resume retries it, terminate ends it.
      </p>
      <pre class="detail">{p.text}</pre>
    </div>
  );
}

function JobBlock(p: { instance: Row; again: () => void }) {
  const { instance: i } = p;
  const job = i.job!;
  return (
    <section class="panel" aria-labelledby="job">
      <h2 id="job">Job</h2>
      <p>
        For <b>{job.client}</b>, in <b>{job.state}</b>
        {job.group && ` (${job.group})`}. <a href={"/board/" + encodeURIComponent(i.definition.id)}>Board</a>
      </p>
      {job.allowed.length > 0 ? (
        <Moves instance={i} again={p.again} />
      ) : (
        <p class="quiet">It cannot be moved any more.</p>
      )}
      {i.wake && !i.ended && <p class="quiet">Without a move, something happens at {new Date(i.wake).toLocaleString()}.</p>}
    </section>
  );
}
