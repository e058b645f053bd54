// The diagram of the playground with the trail of a run, and in it those of the sub-workflows
// that the run started.
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Instance } from "../api";
import { Diagram, linksOf, type Link, type NestedProps, type NodeMark } from "../parts/diagram";
import { ChooseRun, workflowOf } from "./definition-inside";
import { linesOf } from "./instance-history";
import { short, signs, trailOf, type Trail } from "./instance-trail";
import type { Played, PlayRun } from "./playground-result";

interface Of {
  run?: PlayRun;
  files: NonNullable<Played["files"]>;
}

/** The instance that a diagram is about: the first of a run, or the first of a sub-workflow. */
export function instanceOf(run: PlayRun | undefined, definition: string | undefined): string | undefined {
  if (definition === undefined) return run?.records[0]?.instance;
  return run?.records.find((r) => run.instances.some((i) => i.id === r.instance && i.definition.id === definition))?.instance;
}

export function PlayDiagram(p: Of & { graph: string; instance?: string; label: string; selected?: string; onSelect?: (state: string) => void }) {
  const { run, instance, graph } = p;
  const trail = useMemo(() => (run && instance ? playTrail(run, instance, linksOf(graph)) : undefined), [run, instance, graph]);
  const nested = useNested({ run, files: p.files, parent: instance });
  return <Diagram svg={graph} label={p.label} {...trail} selected={p.selected} onSelect={p.onSelect} nested={nested} />;
}

/** How an instance of a run stands. */
function playTrail(run: PlayRun, id: string, links: Link[]): Trail {
  const records = run.records.flatMap((r) => (r.instance === id ? [r.record] : []));
  const row = run.instances.find((i) => i.id === id) ?? ({ id, status: "running" } as Instance);
  const trail = trailOf(linesOf(records, {}), records, row, links);
  const mark = (state: string, kind: NodeMark["kind"], says: string, sign: string) => {
    const known = trail.marks.get(state);
    const times = /×\d+/.exec(known?.note ?? "")?.[0] ?? "";
    trail.marks.set(state, { ...known, kind, says, badges: [{ text: `${sign} ${times}`.trim() }] });
  };
  if (row.job && row.job.group !== "FAILED") mark(row.job.state, "active", "the job is here", signs.active);
  const stops = run.stopped.filter((s) => s.instance === id);
  for (const s of stops) mark(s.node, "waiting", "comes next", "▷ next");
  const facts = (state: string) => {
    const stop = stops.find((s) => s.node === state);
    return stop ? [{ name: "Input", text: short(stop.data) }] : trail.facts(state);
  };
  return { ...trail, facts };
}

/** What opens in a diagram; it stays the same from run to run. */
function useNested(of: Of & { parent?: string }): ComponentType<NestedProps> {
  const now = useSignal(of);
  useEffect(() => {
    now.value = of;
  }, [of.run, of.files, of.parent]);
  return useMemo(() => (p: NestedProps) => <Inside {...p} {...now.value} />, []);
}

function Inside(p: NestedProps & Of & { parent?: string }) {
  const { id, version } = workflowOf(p.workflow);
  const children = useMemo(
    () => p.run?.records.flatMap(({ instance, record: r }) => (r.type === "spawned" && instance === p.parent && r.node === p.state && r.name === id ? [`${instance}:${r.ticket}`] : [])) ?? [],
    [p.run, p.parent, p.state, id],
  );
  const [chosen, choose] = useState<string>();
  const child = children.includes(chosen ?? "") ? chosen : children.at(-1);
  const file = p.files.find((f) => f.graph && f.id === id && (!version || f.version === version));
  if (!file) return <p class="level-note quiet">No file beside the definition has the workflow {p.workflow}, or it has errors.</p>;
  return (
    <>
      <p class="level-note">
        <span class="mono">{file.path}</span>
        {!child && <span class="quiet"> It has not been started.</span>} <ChooseRun of={children} chosen={child} choose={choose} />
      </p>
      <PlayDiagram key={child} run={p.run} files={p.files} graph={file.graph!} instance={child} label={`Diagram of ${id}`} />
    </>
  );
}
