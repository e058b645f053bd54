import { useEffect, useRef } from "preact/hooks";
import { get, Problem, type Instance } from "../api";
import { useTitle } from "../app";
import { amend, place, restoreScroll } from "../router";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { listOf, quote } from "../parts/filter";
import { number } from "../parts/format";
import { Empty, Loading, PageHead } from "../parts/head";
import { Icon } from "../parts/icon";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { BulkBar } from "./instances-bulk";
import { Choices, FilterBox, Grammar, useStats } from "./instances-filter";
import { counted, pageSize, useRows, type Count } from "./instances-rows";
import { InstanceTable } from "./instances-table";
import { ColumnChoice, SaveView, useColumns, Views } from "./instances-views";

// Where each page that was seen began, so that one can go back to the one before.
const begins = new Map<string, string>();

export function Instances() {
  useTitle("Instances");
  const query = place.value.query;
  const q = query.get("q") ?? "";
  const after = query.get("after") ?? "";
  const pageNumber = Math.max(1, Number(query.get("page")) || 1);
  const fold = query.get("children") !== "shown";
  const selection = useSelection(query.get("sel") ?? "");
  const table = useRef<HTMLDivElement>(null);
  const pointed = useRef(false);
  const held = () => pointed.current || selection.some || window.scrollY > 80 || (table.current?.contains(document.activeElement) ?? false);
  const rows = useRows(q, after, fold, held);
  const count = useLoad((signal) => get<Count>("/api/v1/instances/count?" + new URLSearchParams({ q }), signal), [q]);
  useLive(2000, () => true, count.again);
  const stats = useStats();
  const columns = useColumns();

  // Back to where the reader was, once there is something to scroll over.
  const drawn = rows.items !== undefined;
  useEffect(() => {
    if (rows.shown) restoreScroll();
  }, [rows.shown]);
  const fault = rows.error instanceof Problem && rows.error.code === "bad-filter" ? rows.error : undefined;
  const items = rows.items ?? [];
  const pageKey = (n: number) => `${n} ${fold} ${q}`;
  begins.set(pageKey(pageNumber), after);
  const pageAt = (n: number, cursor: string) => {
    const to = new URLSearchParams(query);
    to.delete("after");
    to.delete("page");
    if (n > 1) to.set("page", String(n));
    if (cursor) to.set("after", cursor);
    return "/instances" + (to.size ? "?" + to : "");
  };
  const before = pageNumber > 2 ? begins.get(pageKey(pageNumber - 1)) : "";
  const older = rows.next && rows.of === q ? rows.next : undefined;
  const first = (pageNumber - 1) * pageSize;
  const beyond = fold && (count.data?.count ?? 0) > items.length; // more are counted than there are rows here
  return (
    <>
      <PageHead
        title="Instances"
        actions={
          may("start") && (
            <a class="button main" href="/definitions">
              <Icon name="play" /> Start an instance
            </a>
          )
        }
      />
      <Views q={q} counts={stats.data} />
      <div class="bar filters">
        <FilterBox q={q} fault={fault} />
        <Choices q={q} stats={stats.data} />
        <span class="grow" />
        <Grammar />
        <SaveView q={q} />
        <div class="columns-choice">
          <ColumnChoice />
        </div>
      </div>
      <div class="listbar">
        {!fault && (
          <span>
            <b>{counted(count.data)}</b> {count.data?.count === 1 ? "instance" : "instances"}
            {q && (count.data?.count === 1 ? " matches" : " match")}
            {beyond && <span class="quiet">, children included</span>}
          </span>
        )}
        <label class="check-label">
          <input type="checkbox" checked={!fold} onChange={(e) => amend({ children: e.currentTarget.checked ? "shown" : null, after: null, page: null, sel: null })} /> Show
          children as rows
        </label>
        {rows.fresh > 0 && (
          <button type="button" class="main small" onClick={rows.show}>
            {rows.fresh >= pageSize ? `${pageSize} or more` : rows.fresh} new, show
          </button>
        )}
      </div>
      {!fault && <ProblemBox error={rows.error} again={rows.show} />}
      {!drawn && !rows.error && <Loading lines={8} />}
      <div ref={table} onPointerEnter={() => (pointed.current = true)} onPointerLeave={() => (pointed.current = false)}>
        {items.length > 0 && <InstanceTable rows={items} columns={columns} select={may("operate") ? selection.over(items) : undefined} unfolds={fold} dim={rows.busy || fault !== undefined} />}
      </div>
      {drawn && items.length === 0 && !fault && <Nothing q={q} more={rows.next} />}
      {selection.some && !fault && may("operate") && <BulkBar q={q} rows={items} selection={selection} count={count.data} again={() => (rows.show(), count.again())} />}
      {(after || older) && (
        <nav class="pages" aria-label="Pages">
          {pageNumber > 1 && (
            <a class="button" href={pageAt(1, "")}>
              Newest
            </a>
          )}
          {pageNumber > 2 && before && (
            <a class="button" href={pageAt(pageNumber - 1, before)}>
              <Icon name="left" /> Newer
            </a>
          )}
          <span class="quiet">
            Page {pageNumber}
            {items.length > 0 && `: rows ${number(first + 1)} to ${number(first + items.length)}`}
            {!older && ", the last"}
          </span>
          {older && (
            <a class="button" href={pageAt(pageNumber + 1, older)}>
              Older <Icon name="right" />
            </a>
          )}
        </nav>
      )}
    </>
  );
}

function Nothing(p: { q: string; more?: string }) {
  if (p.more) return <Empty icon="search">None among the newest; older ones may match.</Empty>;
  if (p.q) {
    return (
      <Empty icon="search" title="Nothing matches this filter">
        <a href="/instances">Show all</a>
        {!p.q.includes(":") && !p.q.includes('"') && (
          <>
            {" "}
            or look for <a href={listOf("text:" + quote(p.q.trim()))}>a part of a text</a>
          </>
        )}
        .
      </Empty>
    );
  }
  return (
    <Empty icon="instances" title="There are no instances yet">
      {may("start") && (
        <>
          <a href="/">Run an example</a>, or start one of the <a href="/definitions">definitions</a>.
        </>
      )}
    </Empty>
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
