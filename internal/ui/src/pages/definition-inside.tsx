// The diagram of a workflow that a state of a definition runs.
import { api, get } from "../api";
import { Diagram, type NestedProps } from "../parts/diagram";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";

/** A workflow as a state names it: its id, and its version if it fixes one. */
export function workflowOf(text: string): { id: string; version: string } {
  const at = text.lastIndexOf("@");
  return at > 0 ? { id: text.slice(0, at), version: text.slice(at + 1) } : { id: text, version: "" };
}

export function InsideDefinition(p: NestedProps & { note?: string }) {
  const { id, version } = workflowOf(p.workflow);
  const query = version ? "?" + new URLSearchParams({ version }) : "";
  const drawing = useLoad((signal) => get<string>(api("definitions", id, "graph.svg") + query, signal), [p.workflow]);
  return (
    <>
      <p class="level-note">
        {p.note && <span class="quiet">{p.note} </span>}
        <a href={"/definitions/" + encodeURIComponent(id) + query}>Definition {p.workflow}</a>
      </p>
      <ProblemBox error={drawing.error} again={drawing.again} />
      {drawing.data && <Diagram svg={drawing.data} label={`Diagram of ${id}`} nested={InsideDefinition} />}
    </>
  );
}

const most = 100; // to choose from

/** Chooses among the instances that a state started, if there are several. */
export function ChooseRun(p: { of: string[]; chosen?: string; choose: (id: string) => void }) {
  if (p.of.length < 2) return null;
  const first = Math.max(0, p.of.length - most);
  return (
    <label>
      Instance{" "}
      <select value={p.chosen} onChange={(e) => p.choose(e.currentTarget.value)}>
        {p.of.slice(first).map((id, i) => (
          <option key={id} value={id}>
            {first + i + 1} of {p.of.length}
          </option>
        ))}
      </select>
    </label>
  );
}
