import type { Instance } from "../api";
import { listOf, quote } from "../parts/filter";
import { Ago } from "../parts/when";
import { StatusMark } from "../parts/status";
import "./instances.css";

export interface Selecting {
  has: (id: string) => boolean;
  toggle: (id: string, on: boolean) => void;
  all: boolean; // of those that are shown
  toggleAll: (on: boolean) => void;
}

/** Instances as rows; with checkboxes where some can be selected. */
export function InstanceTable(p: { rows: Instance[]; select?: Selecting; dim?: boolean }) {
  const s = p.select;
  return (
    <div class="scroll-x">
      <table class={"instances" + (p.dim ? " dim" : "")}>
        <thead>
          <tr>
            {s && (
              <th scope="col" class="check">
                <input type="checkbox" aria-label="Select all on this page" checked={s.all} onChange={(e) => s.toggleAll(e.currentTarget.checked)} />
              </th>
            )}
            <th scope="col">Status</th>
            <th scope="col">Instance</th>
            <th scope="col">Name</th>
            <th scope="col">Definition</th>
            <th scope="col">State</th>
            <th scope="col">Age</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {p.rows.map((row) => (
            <Row key={row.id} row={row} select={s} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row(p: { row: Instance; select?: Selecting }) {
  const { row, select: s } = p;
  return (
    <tr class={s?.has(row.id) ? "selected" : undefined}>
      {s && (
        <td class="check">
          <input type="checkbox" aria-label={"Select " + row.id} checked={s.has(row.id)} onChange={(e) => s.toggle(row.id, e.currentTarget.checked)} />
        </td>
      )}
      <td>
        <StatusMark status={row.status} />
        {row.quarantine && <div class="quiet">quarantine</div>}
      </td>
      <td class="mono id">
        <a href={"/instances/" + encodeURIComponent(row.id)}>{row.id}</a>
      </td>
      <td>
        {row.name}
        {row.children !== undefined && (
          <>
            {" "}
            <a class="quiet nowrap" href={listOf("parent:" + quote(row.id))}>
              +{row.children.toLocaleString()} {row.children === 1 ? "child" : "children"}
            </a>
          </>
        )}
      </td>
      <td>
        <a href={"/definitions/" + encodeURIComponent(row.definition.id)}>{row.definition.id}</a>
        {row.definition.version && <span class="quiet">@{row.definition.version}</span>}
      </td>
      <td>{row.job?.state ?? row.state ?? ""}</td>
      <td class="nowrap">
        <Ago time={row.created} />
      </td>
      <td class="error">
        {row.error && (
          <>
            <b>{row.error.name}</b> <span class="quiet">{row.error.detail}</span>
          </>
        )}
      </td>
    </tr>
  );
}
