import type { ComponentChildren } from "preact";
import { get, type Instance, type Page } from "../api";
import { listOf, quote } from "../parts/filter";
import { number, span } from "../parts/format";
import { useLoad } from "../parts/load";
import { InstanceStatus } from "../parts/status";
import { Ago } from "../parts/when";
import { Facts, Id } from "./instance-call";
import { useNow } from "./instance-time";

const few = 8; // labels, and children by name

/** What an instance is called: its name, else its business key, else what it is a run of. */
export function titleOf(i: Instance): string {
  return i.name || i.key || (i.job ? `${i.definition.id} for ${i.job.client}` : i.definition.id);
}

export function Header(p: { instance: Instance; children: ComponentChildren }) {
  const { instance: i } = p;
  const { id, version } = i.definition;
  const now = useNow(!i.ended);
  const labels = Object.entries(i.labels ?? {});
  const states = i.states ?? [];
  return (
    <header class="instance">
      <div class="instance-top">
        <div class="instance-title">
          <h1>
            {titleOf(i)} <InstanceStatus of={i} />
          </h1>
          <Id text={i.id} label="Copy the id" />
        </div>
        <div class="instance-actions">{p.children}</div>
      </div>
      <Facts
        list={[
          [
            "Definition",
            <a href={"/definitions/" + encodeURIComponent(id) + (version ? "?" + new URLSearchParams({ version }) : "")}>
              {id}
              {version && "@" + version}
            </a>,
          ],
          ["Key", i.name && i.key && <Id text={i.key} label="Copy the key" />],
          [states.length === 1 ? "State" : "States", !i.ended && states.length > 0 && states.slice(0, 4).join(", ") + (states.length > 4 ? ` and ${states.length - 4} more` : "")],
          ["Started", <Ago time={i.created} />],
          ["Ended", i.ended && <Ago time={i.ended} />],
          [i.ended ? "Took" : "For", i.ended ? span(Date.parse(i.ended) - Date.parse(i.created)) : span(Math.max(1, Math.floor((now - Date.parse(i.created)) / 1000)) * 1000)],
          ["Started by", i.parent && <Other id={i.parent} />],
          ["Restart of", i.restartOf && <Other id={i.restartOf} />],
          ["Children", i.children ? <Children instance={i} /> : undefined],
          [
            "Labels",
            labels.length > 0 && (
              <span class="labels">
                {labels.slice(0, few).map(([name, value]) => (
                  <span key={name} class="label">
                    {labelText(name, value)}
                  </span>
                ))}
                {labels.length > few && <span class="quiet">and {labels.length - few} more</span>}
              </span>
            ),
          ],
        ]}
      />
    </header>
  );
}

function Other(p: { id: string }) {
  return (
    <a class="mono" href={"/instances/" + encodeURIComponent(p.id)}>
      {p.id}
    </a>
  );
}

/** The instances that it started: a few by name, of many how many there are. */
function Children(p: { instance: Instance }) {
  const { id, rev, children = 0 } = p.instance;
  const q = "parent:" + quote(id);
  const list = useLoad((signal) => get<Page<Instance>>("/api/v1/instances?" + new URLSearchParams({ q, limit: "4" }), signal), [id, rev]);
  const some = list.data?.items ?? [];
  if (children > some.length && list.data?.next) return <a href={listOf(q)}>{number(children)} instances</a>;
  return (
    <span class="labels">
      {some.map((c) => (
        <span key={c.id}>
          <InstanceStatus of={c} /> <a href={"/instances/" + encodeURIComponent(c.id)}>{c.name || c.key || c.definition.id}</a>
        </span>
      ))}
    </span>
  );
}

/** A label for reading; a job has a list of words under one name. */
function labelText(name: string, value: unknown): string {
  if (name === "tags" && Array.isArray(value)) return value.join(", ");
  return `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
}
