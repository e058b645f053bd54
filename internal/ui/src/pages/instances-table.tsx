import { useState } from "preact/hooks";
import { get, type Instance, type Page } from "../api";
import { listOf, quote } from "../parts/filter";
import { number } from "../parts/format";
import { Icon } from "../parts/icon";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { Id, nameOf, titleOf } from "../parts/name";
import { ProblemBox } from "../parts/problem";
import { InstanceStatus } from "../parts/status";
import { Ago, Took } from "../parts/when";
import { columns, type Column } from "./instances-views";
import "./instances.css";

export interface Selecting {
  has: (id: string) => boolean;
  toggle: (id: string, on: boolean) => void;
  all: boolean; // of those that are shown
  toggleAll: (on: boolean) => void;
}

const few: Column[] = ["status", "definition", "state", "age"];

// The columns that take what is left; the others have widths of their own, so that what changes
// in one row does not move the others.
const rems: Record<Column, number> = { status: 7.5, definition: 10.5, version: 6, state: 9, age: 6.5, updated: 6.5, duration: 5.5, labels: 12, id: 18.5 };

/** Instances as rows; with checkboxes where some can be selected, and children where they are folded. */
export function InstanceTable(p: { rows: Instance[]; columns?: Column[]; select?: Selecting; unfolds?: boolean; dim?: boolean }) {
  const s = p.select;
  const shown = p.columns ?? few;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  const width = shown.reduce((sum, c) => sum + rems[c], (s ? 2.25 : 0) + 9);
  return (
    <div class="scroll-x">
      <table class={"instances" + (p.dim ? " dim" : "")} style={{ minWidth: `${width}rem` }}>
        <colgroup>
          {s && <col class="w-check" />}
          <col class="w-name" />
          {shown.map((c) => (
            <col key={c} class={"w-" + c} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {s && (
              <th scope="col" class="check">
                <input type="checkbox" aria-label="Select all on this page" checked={s.all} onChange={(e) => s.toggleAll(e.currentTarget.checked)} />
              </th>
            )}
            <th scope="col">Instance</th>
            {shown.map((c) => (
              <th key={c} scope="col">
                {c === "id" ? "Id" : columns[c]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {p.rows.map((row) => {
            const unfolded = open.has(row.id);
            return [
              <Row key={row.id} row={row} shown={shown} select={s} fold={p.unfolds ? { open: unfolded, toggle: () => toggle(row.id) } : undefined} />,
              unfolded && <Children key={row.id + " children"} of={row} shown={shown} select={s} />,
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}

const childrenShown = 20;

/** The newest children of an instance, under it. */
function Children(p: { of: Instance; shown: Column[]; select?: Selecting }) {
  const { of } = p;
  const q = "parent:" + quote(of.id);
  const list = useLoad((signal) => get<Page<Instance>>(`/api/v1/instances?${new URLSearchParams({ q, limit: String(childrenShown) })}`, signal), [q]);
  useLive(2000, (c) => c.definition !== "", list.again);
  const span = p.shown.length + (p.select ? 2 : 1);
  const left = (of.children ?? 0) - (list.data?.items.length ?? 0);
  return (
    <>
      {list.data?.items.map((row) => (
        <Row key={row.id} row={row} shown={p.shown} select={p.select} child />
      ))}
      <tr class="child more">
        <td colSpan={span}>
          <ProblemBox error={list.error} again={list.again} />
          {!list.data && !list.error && <span class="quiet">Loading…</span>}
          {list.data && left > 0 && <a href={listOf(q)}>All {number(of.children!)} children</a>}
        </td>
      </tr>
    </>
  );
}

function Row(p: { row: Instance; shown: Column[]; select?: Selecting; fold?: { open: boolean; toggle: () => void }; child?: boolean }) {
  const { row, select: s } = p;
  const title = titleOf(row);
  const named = nameOf(row) !== undefined;
  const children = row.children ? `${number(row.children)} ${row.children === 1 ? "child" : "children"}` : "";
  return (
    <tr class={[s?.has(row.id) && "selected", p.child && "child"].filter(Boolean).join(" ") || undefined}>
      {s && (
        <td class="check">
          <input type="checkbox" aria-label={"Select " + (named ? title : row.id)} checked={s.has(row.id)} onChange={(e) => s.toggle(row.id, e.currentTarget.checked)} />
        </td>
      )}
      <td class="c-name">
        <span class={named ? "nameline" : "nameline unnamed"}>
          <a class="name" href={"/instances/" + encodeURIComponent(row.id)} title={title}>
            {title}
          </a>
          {(!named || (title !== row.id && !children)) && <Id id={row.id} />}
          {children &&
            (p.fold ? (
              <button type="button" class="small ghost fold" aria-expanded={p.fold.open} onClick={p.fold.toggle}>
                <Icon name={p.fold.open ? "down" : "right"} size={12} /> {children}
              </button>
            ) : (
              <a class="quiet nowrap" href={listOf("parent:" + quote(row.id))}>
                {children}
              </a>
            ))}
        </span>
      </td>
      {p.shown.map((c) => (
        <td key={c} class={"c-" + c}>
          <Cell row={row} column={c} versions={p.shown.includes("version")} />
        </td>
      ))}
    </tr>
  );
}

function Cell(p: { row: Instance; column: Column; versions: boolean }) {
  const { row } = p;
  switch (p.column) {
    case "status":
      return (
        <>
          <InstanceStatus of={row} />
          {row.quarantine && <span class="quiet"> quarantine</span>}
        </>
      );
    case "definition":
      return (
        <a href={"/definitions/" + encodeURIComponent(row.definition.id)} title={row.definition.id}>
          {row.definition.id}
          {row.definition.version && !p.versions && <span class="quiet">@{row.definition.version}</span>}
        </a>
      );
    case "version":
      return <>{row.definition.version}</>;
    case "state": {
      const state = row.job?.state ?? row.state ?? row.error?.node ?? "";
      return (
        <span class={row.error ? "stuck" : "oneline"} title={row.error ? [state, row.error.name, row.error.detail].filter(Boolean).join(" – ") : state}>
          {state} {row.error && <span class="bad">{row.error.name}</span>} {row.error && <span class="quiet">{row.error.detail}</span>}
        </span>
      );
    }
    case "age":
      return <Ago time={row.created} />;
    case "updated":
      return <Ago time={row.updated} />;
    case "duration":
      return <Took from={row.created} to={row.ended} />;
    case "labels": {
      const labels = Object.entries(row.labels ?? {});
      return (
        <span class="oneline" title={labels.map(labelText).join("\n")}>
          {labels.slice(0, 3).map((l) => (
            <span key={l[0]} class="pill">
              {labelText(l)}
            </span>
          ))}
          {labels.length > 3 && <span class="quiet"> +{labels.length - 3}</span>}
        </span>
      );
    }
    case "id":
      return <span class="id-text">{row.id}</span>;
  }
}

function labelText([key, value]: [string, unknown]): string {
  return `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}
