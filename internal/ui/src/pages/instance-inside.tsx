// The diagram of an instance with its trail, and in it those of the workflows that its states
// run, as their instances stand.
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api, get, type Instance } from "../api";
import { Diagram, linksOf, type NestedProps } from "../parts/diagram";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import { ChooseRun, InsideDefinition, workflowOf } from "./definition-inside";
import { itemsOf, useHistory, type History, type Item } from "./instance-history";
import { trailOf } from "./instance-trail";

/** The diagram of an instance. */
export function InstanceDiagram(p: { instance: Instance; history: History; items: Item[]; selected?: string; onSelect?: (state: string) => void }) {
  const { id, version, digest } = p.instance.definition;
  const of = new URLSearchParams(digest ? { digest } : version ? { version } : {});
  const drawing = useLoad((signal) => get<string>(api("definitions", id, "graph.svg") + "?" + of, signal), [id, version, digest]);
  const links = useMemo(() => (drawing.data ? linksOf(drawing.data) : []), [drawing.data]);
  const trail = useMemo(() => trailOf(p.items, [...p.history.head, ...p.history.tail], p.instance, links), [p.items, p.instance, links]);
  const nested = useInside(p.instance.id, p.history);
  return (
    <>
      <ProblemBox error={drawing.error} again={drawing.again} />
      {drawing.data && <Diagram svg={drawing.data} label={"States of " + id} {...trail} selected={p.selected} onSelect={p.onSelect} nested={nested} />}
    </>
  );
}

/** What opens in the diagram of an instance; it stays the same while the history grows. */
function useInside(parent: string, history: History): ComponentType<NestedProps> {
  const now = useSignal(history);
  useEffect(() => {
    now.value = history;
  }, [history]);
  return useMemo(() => (p: NestedProps) => <Inside {...p} parent={parent} history={now.value} />, [parent]);
}

function Inside(p: NestedProps & { parent: string; history: History }) {
  const name = workflowOf(p.workflow).id;
  const { head, tail } = p.history;
  const children = useMemo(
    () => [...head, ...tail].filter((r) => r.type === "spawned" && r.node === p.state && r.name === name).map((r) => `${p.parent}:${r.ticket}`),
    [head, tail, p.parent, p.state, name],
  );
  const [chosen, choose] = useState<string>();
  const id = chosen ?? children.at(-1);
  if (!id) return <InsideDefinition {...p} note={p.history.unread > 0 ? "No start of it is among the records read so far." : "It has not been started."} />;
  return (
    <>
      {children.length > 1 && (
        <p class="level-note">
          <ChooseRun of={children} chosen={id} choose={choose} />
        </p>
      )}
      <Child key={id} id={id} />
    </>
  );
}

function Child(p: { id: string }) {
  const loaded = useLoad((signal) => get<Instance>(api("instances", p.id), signal), [p.id]);
  const history = useHistory(p.id);
  useLive(300, (c) => c.instance === p.id, () => {
    loaded.again();
    history.again();
  });
  const items = useMemo(() => itemsOf(history), [history.head, history.tail]);
  const instance = loaded.data;
  return (
    <>
      <ProblemBox error={loaded.error} again={loaded.again} />
      {instance && (
        <p class="level-note">
          <StatusMark status={instance.status} /> <a href={"/instances/" + encodeURIComponent(p.id)}>{instance.name || p.id}</a>
          {instance.error && (
            <span class="quiet">
              {" "}
              {instance.error.name}
              {instance.error.node && ` in ${instance.error.node}`}
            </span>
          )}
        </p>
      )}
      {instance && history.loaded && <InstanceDiagram instance={instance} history={history} items={items} />}
    </>
  );
}
