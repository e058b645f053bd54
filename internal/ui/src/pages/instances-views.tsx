// What the list shows: which columns, and views, which are filters with a name. Both are kept by
// the browser; the filter itself is in the address.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { statuses, type Status } from "../api";
import { amend, go, place } from "../router";
import { number } from "../parts/format";
import { failedJobs, useFailedJobs } from "../parts/jobs";
import { keep, kept } from "../parts/kept";
import { Popover } from "../parts/popover";

export const columns = {
  status: "Status",
  definition: "Definition",
  version: "Version",
  state: "State and error",
  age: "Started",
  updated: "Last change",
  duration: "Duration",
  labels: "Labels",
  id: "Whole id",
} as const;

export type Column = keyof typeof columns;

const usual: Column[] = ["status", "definition", "state", "age", "duration"];

export interface View {
  name: string;
  q: string;
  columns: Column[];
}

/** The views that everyone has. */
const builtIn: { name: string; q: string; status?: Status | "total" }[] = [
  { name: "All", q: "", status: "total" },
  { name: "Running", q: "status:running", status: "running" },
  { name: "Waiting", q: "status:waiting", status: "waiting" },
  { name: "Failed", q: "status:failed", status: "failed" },
  { name: "Failed jobs", q: failedJobs() }, // where there are some
  { name: "Long waiting", q: "status:waiting idle:>1h" },
];

const most = 30; // views that a browser keeps

function isColumns(x: unknown): x is Column[] {
  return Array.isArray(x) && x.every((c) => typeof c === "string" && c in columns);
}

function read<T>(name: string, fits: (x: unknown) => x is T, otherwise: T): T {
  try {
    const x: unknown = JSON.parse(kept(name) ?? "null");
    return fits(x) ? x : otherwise;
  } catch {
    return otherwise;
  }
}

const isViews = (x: unknown): x is View[] =>
  Array.isArray(x) && x.every((v) => typeof v?.name === "string" && typeof v?.q === "string" && isColumns(v?.columns));

const saved = signal(read("views", isViews, []));
const chosen = signal(read("columns", isColumns, usual));

function save(views: View[]) {
  saved.value = views;
  keep("views", views.length ? JSON.stringify(views) : undefined);
}

function current(): View | undefined {
  const name = place.value.query.get("view");
  return name === null ? undefined : saved.value.find((v) => v.name === name);
}

/** The columns of the view that is shown. */
export function useColumns(): Column[] {
  return current()?.columns ?? chosen.value;
}

function setColumns(next: Column[]) {
  const ordered = (Object.keys(columns) as Column[]).filter((c) => next.includes(c));
  const view = current();
  if (view) return save(saved.value.map((v) => (v === view ? { ...v, columns: ordered } : v)));
  chosen.value = ordered;
  keep("columns", JSON.stringify(ordered));
}

function placeOf(q: string, view?: string): string {
  const query = new URLSearchParams({ ...(q && { q }), ...(view && { view }) });
  return "/instances" + (query.size ? "?" + query : "");
}

/** The views as tabs, those that everyone has with how many there are. */
export function Views(p: { q: string; counts?: { total: number; statuses: Partial<Record<Status, number>> } }) {
  const view = current();
  const jobs = useFailedJobs().data?.get("") ?? 0;
  const countOf = (s?: Status | "total") => (!s || !p.counts ? undefined : s === "total" ? p.counts.total : (p.counts.statuses[s] ?? 0));
  return (
    <nav class="tabs views" aria-label="Views">
      {builtIn.map((v) => {
        if (v.q === failedJobs() && jobs === 0 && p.q !== v.q) return null;
        const count = v.q === failedJobs() ? jobs : countOf(v.status);
        return (
          <a key={v.name} href={placeOf(v.q)} aria-current={!view && p.q === v.q ? "page" : undefined}>
            {v.name} {count !== undefined && <span class="count">{number(count)}</span>}
          </a>
        );
      })}
      {saved.value.map((v) => (
        <a key={"own " + v.name} href={placeOf(v.q, v.name)} aria-current={view === v ? "page" : undefined}>
          {v.name}
        </a>
      ))}
    </nav>
  );
}

/** Chooses the columns. */
export function ColumnChoice() {
  const shown = useColumns();
  return (
    <Popover label="Columns" icon="columns" right>
      {() => (
        <>
          {(Object.keys(columns) as Column[]).map((c) => (
            <label key={c} class="choice">
              <input
                type="checkbox"
                checked={shown.includes(c)}
                onChange={(e) => setColumns(e.currentTarget.checked ? [...shown, c] : shown.filter((x) => x !== c))}
              />
              {columns[c]}
            </label>
          ))}
          <button type="button" class="small" onClick={() => setColumns(usual)}>
            Reset
          </button>
        </>
      )}
    </Popover>
  );
}

/** Keeps the filter and the columns under a name, and changes or removes the view that is shown. */
export function SaveView(p: { q: string }) {
  const view = current();
  const [name, setName] = useState("");
  const shown = useColumns();
  const text = name.trim();
  const taken = builtIn.some((v) => v.name === text);
  const full = saved.value.length >= most && !saved.value.some((v) => v.name === text);
  return (
    <Popover label={view ? "View" : "Save view"} icon="bookmark" right>
      {(close) => (
        <form
          class="fields"
          onSubmit={(e) => {
            e.preventDefault();
            if (!text || taken || full) return;
            save([...saved.value.filter((v) => v.name !== text), { name: text, q: p.q, columns: shown }]);
            setName("");
            amend({ view: text });
            close();
          }}
        >
          {view && (
            <div class="bar">
              <button
                type="button"
                disabled={view.q === p.q}
                onClick={() => {
                  save(saved.value.map((v) => (v === view ? { ...v, q: p.q } : v)));
                  close();
                }}
              >
                Update “{view.name}”
              </button>
              <button
                type="button"
                class="danger"
                onClick={() => {
                  save(saved.value.filter((v) => v !== view));
                  close();
                  go(placeOf(p.q));
                }}
              >
                Remove it
              </button>
            </div>
          )}
          <label for="view-name">{view ? "Save as another view" : "Name of the view"}</label>
          <input id="view-name" maxLength={60} value={name} onInput={(e) => setName(e.currentTarget.value)} />
          {taken && <p class="quiet">Every browser has a view of this name.</p>}
          {full && <p class="quiet">A browser keeps {most} views; remove one first.</p>}
          <p class="quiet">The filter and the columns, kept by this browser.</p>
          <div class="bar">
            <button type="submit" class="main" disabled={!text || taken || full}>
              Save
            </button>
          </div>
        </form>
      )}
    </Popover>
  );
}

/** How many have which status, in words for a list of choices. */
export function statusChoices(counts?: Partial<Record<Status, number>>): { value: Status; text: string }[] {
  return statuses.map((s) => ({ value: s, text: counts ? `${s} (${number(counts[s] ?? 0)})` : s }));
}
