import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem, statuses, type Instance } from "../api";
import { useTitle } from "../app";
import { amend, go, place, restoreScroll } from "../router";
import { announce } from "../parts/announcer";
import { listOf, quote, valueOf, withValue } from "../parts/filter";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { StatusMark } from "../parts/status";
import { BulkBar } from "./instances-bulk";
import { pageSize, useRows } from "./instances-rows";
import { InstanceTable } from "./instances-table";

export interface Count {
  count: number;
  exact: boolean;
}

export function Instances() {
  useTitle("Instances");
  const query = place.value.query;
  const q = query.get("q") ?? "";
  const after = query.get("after") ?? "";
  const fold = query.get("children") !== "shown";
  const selection = useSelection(query.get("sel") ?? "");
  const table = useRef<HTMLDivElement>(null);
  const pointed = useRef(false);
  const held = () => pointed.current || selection.some || window.scrollY > 80 || (table.current?.contains(document.activeElement) ?? false);
  const rows = useRows(q, after, fold, held);
  const count = useLoad((signal) => get<Count>("/api/v1/instances/count?" + new URLSearchParams({ q }), signal), [q]);
  useLive(2000, () => true, count.again);

  // Back to where the reader was, once there is something to scroll over.
  const drawn = rows.items !== undefined;
  useEffect(() => {
    if (rows.shown) restoreScroll();
  }, [rows.shown]);
  const fault = rows.error instanceof Problem && rows.error.code === "bad-filter" ? rows.error : undefined;
  const items = rows.items ?? [];
  const sel = query.get("sel") ?? "";
  const pageAt = (cursor: string) => "/instances?" + new URLSearchParams({ ...(q && { q }), ...(!fold && { children: "shown" }), ...(cursor && { after: cursor }), ...(sel && { sel }) });
  return (
    <>
      <h1>Instances</h1>
      <FilterBox q={q} fault={fault} />
      <Chips q={q} />
      <div class="listbar">
        {!fault && (
          <span>
            <b>{counted(count.data)}</b> {count.data?.count === 1 ? "instance" : "instances"}
            {q && (count.data?.count === 1 ? " matches" : " match")}
          </span>
        )}
        <label>
          <input type="checkbox" checked={!fold} onChange={(e) => amend({ children: e.currentTarget.checked ? "shown" : null, after: null, sel: null })} /> Show children
        </label>
        {rows.fresh > 0 && (
          <button type="button" class="main" onClick={rows.show}>
            {rows.fresh >= pageSize ? `${pageSize} or more` : rows.fresh} new, show
          </button>
        )}
      </div>
      {!fault && <ProblemBox error={rows.error} again={rows.show} />}
      <div ref={table} onPointerEnter={() => (pointed.current = true)} onPointerLeave={() => (pointed.current = false)}>
        {items.length > 0 && <InstanceTable rows={items} select={selection.over(items)} dim={rows.busy || fault !== undefined} />}
      </div>
      {drawn && items.length === 0 && !fault && <Nothing q={q} more={rows.next} />}
      {selection.some && !fault && <BulkBar q={q} rows={items} selection={selection} count={count.data} />}
      <nav class="listbar" aria-label="Pages">
        {after && <a href={pageAt("")}>« Newest</a>}
        {rows.next && rows.of === q && <a href={pageAt(rows.next)}>Older »</a>}
      </nav>
    </>
  );
}

function counted(c?: Count): string {
  return c ? (c.exact ? "" : "at least ") + c.count.toLocaleString() : "…";
}

function Nothing(p: { q: string; more?: string }) {
  if (p.more) return <p class="quiet">None among the newest; older ones may match.</p>;
  if (p.q) {
    return (
      <p class="quiet">
        Nothing matches this filter. <a href="/instances">Show all</a>
        {!p.q.includes(":") && !p.q.includes('"') && (
          <>
            {" "}
            or look for <a href={listOf("text:" + quote(p.q.trim()))}>a part of a text</a>.
          </>
        )}
      </p>
    );
  }
  return (
    <p class="quiet">
      There are no instances yet. <a href="/">Run an example</a>, or start one of the <a href="/definitions">definitions</a>.
    </p>
  );
}

/** Where the filter is typed. What is typed belongs to the box: answers never touch it. */
function FilterBox(p: { q: string; fault?: Problem }) {
  const [text, setText] = useState(p.q);
  const mine = useRef(p.q);
  const timer = useRef(0);
  useEffect(() => {
    if (p.q === mine.current) return;
    mine.current = p.q; // a link or Back changed it
    setText(p.q);
  }, [p.q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (value: string) => {
    clearTimeout(timer.current);
    if (value === mine.current) return;
    mine.current = value;
    amend({ q: value, after: null, sel: null });
  };
  const first = (p.fault?.body.errors as { column?: number; message: string; hint?: string }[] | undefined)?.[0];
  return (
    <form
      class="filter"
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        apply(text);
      }}
    >
      <label for="filter">Filter</label>
      <input
        id="filter"
        type="search"
        spellcheck={false}
        autocomplete="off"
        placeholder="order:A-1038 status:failed age:>1h"
        value={text}
        aria-invalid={p.fault !== undefined}
        aria-describedby={p.fault ? "filter-error" : undefined}
        onInput={(e) => {
          const value = e.currentTarget.value;
          setText(value);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(apply, 250, value);
        }}
      />
      {p.fault && (
        <div class="filter-error" id="filter-error" role="alert">
          {first?.column && <pre aria-hidden="true">{" ".repeat(first.column - 1)}^</pre>}
          {first ? `Column ${first.column}: ${first.message}` : p.fault.message}
          {first?.hint && <span class="quiet"> {first.hint}</span>}
        </div>
      )}
      <Grammar />
    </form>
  );
}

const grammar = [
  ["status:failed  status:failed,paused", "by status, one of several"],
  ["def:order  def:order@1.3", "by definition and version"],
  ["state:Charge", "in a state now"],
  ["error:Timeout", "by the name of the error"],
  ["age:>1h  idle:<30m", "by the time since creation, since the last change"],
  ["created:2026-01-31  updated:>2026-01-31T12:00:00Z", "by day or instant"],
  ["order:A-1038  label:order=A-1038", "by label"],
  ['name:"Order 7"  key:KEY', "by name, by idempotency key or correlation attribute"],
  ["id:abc  parent:ID", "by the beginning of the id, by the parent"],
  ["is:root", "started by no other instance"],
  ["is:job  client:device7  group:OPEN", "jobs"],
  ["A-1038", "a whole id, name, key or label's value"],
  ["text:bank", "a part of an id, name, label, definition, state, client or error"],
  ["-word", "what the word does not select"],
];

function Grammar() {
  return (
    <details class="grammar">
      <summary>How to filter</summary>
      <table>
        <tbody>
          {grammar.map(([example, meaning]) => (
            <tr key={example}>
              <td class="mono">{example}</td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

interface Stats {
  statuses: Record<string, number>;
  definitions: { id: string; total: number; statuses: Record<string, number> }[];
}

/** The filters that people want most, with how many there are. */
function Chips(p: { q: string }) {
  const stats = useLoad((signal) => get<Stats>("/api/v1/stats", signal), []);
  useLive(2000, () => true, stats.again);
  const chosen = valueOf(p.q, "status");
  const definition = valueOf(p.q, "def");
  const of = stats.data?.definitions.find((d) => d.id === definition)?.statuses ?? stats.data?.statuses ?? {};
  const ids = stats.data?.definitions.map((d) => d.id) ?? [];
  return (
    <div class="chips" role="group" aria-label="Common filters">
      {statuses.map((s) => (
        <button key={s} type="button" aria-pressed={chosen === s} onClick={() => go(listOf(withValue(p.q, "status", chosen === s ? undefined : s)))}>
          <StatusMark status={s} /> {(of[s] ?? 0).toLocaleString()}
        </button>
      ))}
      <select
        aria-label="Definition"
        value={definition !== undefined && ids.includes(definition) ? definition : ""}
        onChange={(e) => go(listOf(withValue(p.q, "def", e.currentTarget.value)))}
      >
        <option value="">any definition</option>
        {ids.slice(0, 500).map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </div>
  );
}

export interface Selection {
  some: boolean;
  all: boolean; // everything that matches, shown or not
  ids: Set<string>;
  over: (rows: Instance[]) => import("./instances-table").Selecting;
  takeAll: () => void;
  clear: () => void;
}

// An id may have commas: in the list they are escaped.
const escaped = (id: string) => id.replace(/[%,]/g, encodeURIComponent);
const plain = (text: string) => text.replace(/%2C/g, ",").replace(/%25/g, "%");

/** What is selected is in the address: "all", or ids. */
function useSelection(text: string): Selection {
  const all = text === "all";
  const ids = new Set(all || !text ? [] : text.split(",").map(plain));
  const put = (next: Set<string>) => {
    amend({ sel: [...next].map(escaped).join(",") });
    announce(next.size === 1 ? "1 instance selected" : `${next.size} instances selected`);
  };
  return {
    some: all || ids.size > 0,
    all,
    ids,
    takeAll: () => amend({ sel: "all" }),
    clear: () => amend({ sel: null }),
    over: (rows) => ({
      has: (id) => all || ids.has(id),
      toggle: (id, on) => {
        const next = all ? new Set(rows.map((r) => r.id)) : new Set(ids);
        if (on) next.add(id);
        else next.delete(id);
        put(next);
      },
      all: rows.length > 0 && (all || rows.every((r) => ids.has(r.id))),
      toggleAll: (on) => {
        const here = rows.map((r) => r.id);
        put(new Set(on ? [...ids, ...here] : [...ids].filter((id) => !here.includes(id))));
      },
    }),
  };
}
