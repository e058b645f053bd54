import { useEffect, useRef, useState } from "preact/hooks";
import { api, get, type Page } from "../api";
import { useTitle } from "../app";
import { amend, go, place, restoreScroll } from "../router";
import { may, session } from "../parts/access";
import { announce } from "../parts/announcer";
import { Empty, Loading, PageHead } from "../parts/head";
import { Icon } from "../parts/icon";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { Dotted, shortId } from "../parts/name";
import { ProblemBox } from "../parts/problem";
import { Ago } from "../parts/when";
import { useNowAndThen } from "./definitions";
import { SendEvent } from "./events-send";
import { Reasons, type Miss } from "./events-why";
import "./events.css";

interface CloudEvent {
  id: string;
  source: string;
  type: string;
  data?: unknown;
  [attribute: string]: unknown;
}

interface Kept {
  event: CloudEvent;
  received: string;
  until: string;
  taken: boolean;
  producer?: string;
  for?: string[];
  used?: string[];
  why?: string[];
  misses?: Miss[];
}

// What an instance produced is often for others than instances: that nothing here took it is no concern.
const lost = { unmatched: "true", outside: "true" };
const nearly = { near: "true", outside: "true" };

const keyOf = (e: Kept) => e.event.source + "\n" + e.event.id;

export function Events() {
  useTitle("Events");
  if (may("read")) return <List />;
  return (
    <>
      <PageHead title="Events">The role {session.value?.role} may send events, and not read them.</PageHead>
      <SendEvent sent={nothing} />
    </>
  );
}

function List() {
  const query = place.value.query;
  const type = query.get("type") ?? "";
  const unmatched = query.get("unmatched") === "1";
  const after = query.get("after") ?? "";
  const sending = query.has("send") && may("send");
  const asked = new URLSearchParams({ limit: "50" });
  if (type) asked.set("type", type);
  if (unmatched) for (const [name, value] of Object.entries(lost)) asked.set(name, value);
  if (after) asked.set("after", after);
  const path = api("events") + "?" + asked;
  const list = useLoad((signal) => get<Page<Kept>>(path, signal), [path]);
  useLive(1500, () => !after, list.again);
  useNowAndThen(3000, after ? nothing : list.again);

  // What is shown stays while someone points at it or is in it.
  const [shown, setShown] = useState<{ path: string; page: Page<Kept> }>();
  const box = useRef<HTMLDivElement>(null);
  const held = shown?.path === path && busyWith(box.current);
  useEffect(() => {
    if (list.data && !held) setShown({ path, page: list.data });
  }, [list.data, path, held]);
  useEffect(() => {
    if (shown) restoreScroll();
  }, [!shown]);
  const page = shown?.path === path ? shown.page : undefined;
  const known = new Set(page?.items.map(keyOf));
  const fresh = page && list.data ? list.data.items.filter((e) => !known.has(keyOf(e))).length : 0;
  useEffect(() => {
    if (fresh) announce(`${fresh} new events`);
  }, [fresh]);
  return (
    <>
      <PageHead
        title="Events"
        actions={
          may("send") && (
            <button type="button" class={sending ? undefined : "main"} aria-expanded={sending} onClick={() => amend({ send: sending ? null : "1" })}>
              <Icon name="send" /> Send an event
            </button>
          )
        }
      />
      {sending && <SendEvent sent={list.again} />}
      <div class="bar">
        <TypeFilter type={type} />
        <label class="check-label">
          <input type="checkbox" checked={unmatched} onChange={(e) => amend({ unmatched: e.currentTarget.checked ? "1" : null, after: null })} /> Unmatched only
        </label>
      </div>
      <ProblemBox error={list.error} again={list.again} />
      {!after && <Unmatched type={type} />}
      {page && page.items.length > 0 && <h2>{unmatched ? "Unmatched, newest first" : "All, newest first"}</h2>}
      {fresh > 0 && (
        <div class="fresh">
          {fresh} new
          <button type="button" class="small" onClick={() => setShown({ path, page: list.data! })}>
            Show
          </button>
        </div>
      )}
      {!page && !list.error && <Loading lines={6} />}
      <div ref={box}>{page && page.items.length > 0 && <Table items={page.items} />}</div>
      {page?.items.length === 0 && <Nothing filtered={!!type || unmatched} more={!!page.next} />}
      {(after || page?.next) && (
        <nav class="pages" aria-label="Pages">
          {after && (
            <a class="button" href={"/events" + without("after")}>
              Newest
            </a>
          )}
          {page?.next && (
            <button type="button" onClick={() => go("/events" + withAfter(String(page.next)))}>
              Older events <Icon name="right" />
            </button>
          )}
        </nav>
      )}
    </>
  );
}

function nothing() {}

/** Whether someone points at something or is in it. */
function busyWith(e: HTMLElement | null): boolean {
  return !!e && (e.matches(":hover") || e.contains(document.activeElement));
}

function without(name: string): string {
  const q = new URLSearchParams(place.value.query);
  q.delete(name);
  return q.size ? "?" + q : "";
}

function withAfter(after: string): string {
  const q = new URLSearchParams(place.value.query);
  q.set("after", after);
  return "?" + q;
}

function TypeFilter(p: { type: string }) {
  const [text, setText] = useState(p.type);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== input.current) setText(p.type);
  }, [p.type]);
  const apply = () => amend({ type: text.trim(), after: null });
  return (
    <form
      class="bar"
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        apply();
      }}
    >
      <span class="search">
        <Icon name="search" />
        <input id="event-type" aria-label="Type" type="search" ref={input} value={text} placeholder="Type" onInput={(e) => setText(e.currentTarget.value)} onChange={apply} />
      </span>
      <button type="submit">Filter</button>
    </form>
  );
}

function Nothing(p: { filtered: boolean; more: boolean }) {
  if (p.more) return <Empty icon="search">None among the newest; older ones may match.</Empty>;
  if (p.filtered) {
    return (
      <Empty icon="search" title="No event matches the filter.">
        <a href="/events">Show all</a>
      </Empty>
    );
  }
  return (
    <Empty icon="events" title="There are no events">
      An event is kept for a day, or as long as the server is configured to, even if no instance waits for it.
    </Empty>
  );
}

const looked = 200; // unmatched events that are grouped, and as many near misses
const parts = 10; // of the kept events that are searched for near misses, each of the limit event-scan
const groupsShown = 20;
const ofGroup = 10;

/** Events that came from outside and that nothing took: by type, as there may be many of one kind. */
function Unmatched(p: { type: string }) {
  const path = api("events") + "?" + new URLSearchParams({ ...lost, limit: String(looked), ...(p.type && { type: p.type }) });
  const list = useLoad((signal) => get<Page<Kept>>(path, signal), [path]);
  useNowAndThen(5000, list.again);
  const near = useLoad((signal) => nearMisses(p.type, signal), [p.type]);
  useNowAndThen(30_000, near.again); // new ones are among the newest
  const [open, setOpen] = useState("");
  const newest = list.data?.items ?? [];
  const known = new Set(newest.map(keyOf));
  const older = (near.data?.items ?? []).filter((e) => !known.has(keyOf(e)));
  const groups = new Map<string, Kept[]>();
  for (const e of [...newest, ...older]) groups.set(e.event.type, [...(groups.get(e.event.type) ?? []), e]);
  // Near misses first, however old: someone waits for these.
  const nearFirst = (a: Kept, b: Kept) => Number(misses([b]) > 0) - Number(misses([a]) > 0);
  for (const g of groups.values()) g.sort(nearFirst);
  const order = [...groups].sort((a, b) => nearFirst(a[1][0]!, b[1][0]!));
  if (order.length === 0) {
    if (!list.data?.next) return null;
    return (
      <p class="quiet">
        Nothing is unmatched among the newest events. <a href={"/events?" + new URLSearchParams({ ...(p.type && { type: p.type }), unmatched: "1", after: String(list.data.next) })}>Look at older ones</a>
      </p>
    );
  }
  return (
    <section class="panel unmatched" aria-labelledby="unmatched">
      <h2 id="unmatched">
        Unmatched{" "}
        <span class="count">
          {(list.data?.next ? "the newest " : "") + newest.length}
          {older.length > 0 && `, and ${older.length} older near ${older.length === 1 ? "miss" : "misses"}`}
        </span>
      </h2>
      <ul class="groups">
        {order.slice(0, groupsShown).map(([type, events]) => (
          <li key={type}>
            <button type="button" class="ghost type-line" aria-expanded={open === type} onClick={() => setOpen(open === type ? "" : type)}>
              <Icon name={open === type ? "down" : "right"} size={12} />
              <b>
                <Dotted name={type} />
              </b>
              <span class="pill">{events.length}</span>
              {misses(events) > 0 && (
                <span class="status waiting">
                  <Icon name="info" size={12} /> near miss
                </span>
              )}
              <span class="quiet push">
                newest <Ago time={newestOf(events)} />
              </span>
            </button>
            {open !== type && <Reasons of={events[0]!} brief />}
            {open === type && (
              <>
                <Table items={events.slice(0, ofGroup)} grouped />
                {events.length > ofGroup && (
                  <a href={"/events?" + new URLSearchParams({ type, unmatched: "1" })}>
                    All {events.length} of {type}
                  </a>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
      {near.data?.more && <p class="quiet">There are more near misses, or events that were not searched for them; filter by type.</p>}
      {order.length > groupsShown && <p class="quiet">{order.length - groupsShown} more types are not shown; filter by type.</p>}
    </section>
  );
}

/** The events of any age that someone nearly waits for, the newest first, as far as they are searched. */
async function nearMisses(type: string, signal: AbortSignal): Promise<{ items: Kept[]; more: boolean }> {
  const items: Kept[] = [];
  let after = "";
  for (let part = 0; part < parts && items.length < looked; part++) {
    const query = new URLSearchParams({ ...nearly, limit: String(looked), ...(type && { type }), ...(after && { after }) });
    const page = await get<Page<Kept>>(api("events") + "?" + query, signal);
    items.push(...page.items);
    if (!page.next) return { items, more: false };
    after = String(page.next);
  }
  return { items, more: true };
}

function newestOf(events: Kept[]): string {
  return events.reduce((a, b) => (b.received > a.received ? b : a)).received;
}

/** How many of these someone nearly waits for. */
function misses(events: Kept[]): number {
  return events.filter((e) => e.misses?.some((m) => m.instance)).length;
}

/** Events as rows; grouped, they are of one type. */
function Table(p: { items: Kept[]; grouped?: boolean }) {
  const [open, setOpen] = useState("");
  return (
    <table class={p.grouped ? "events stack grouped" : "events stack"}>
      <thead>
        <tr>
          {!p.grouped && (
            <th scope="col" class="w-type">
              Type
            </th>
          )}
          <th scope="col">Outcome</th>
          <th scope="col" class="w-source">
            Source and id
          </th>
          <th scope="col" class="w-received">
            Received
          </th>
          <th scope="col" class="w-data">
            <span class="unseen">Event</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {p.items.map((e) => {
          const key = keyOf(e);
          const unfolded = open === key;
          return [
            <tr key={key}>
              {!p.grouped && (
                <td>
                  <a class="name" href={"/events?" + new URLSearchParams({ type: e.event.type })}>
                    <Dotted name={e.event.type} />
                  </a>
                </td>
              )}
              <td>
                <Fate kept={e} grouped={p.grouped} />
              </td>
              <td class="cut" title={`${e.event.source}\n${e.event.id}`}>
                {e.event.source} <span class="id-text">{e.event.id}</span>
              </td>
              <td class="received">
                <Ago time={e.received} />
              </td>
              <td class="number">
                <button type="button" class="small ghost" aria-expanded={unfolded} aria-label={`${unfolded ? "Hide" : "Data"} of ${e.event.id}`} onClick={() => setOpen(unfolded ? "" : key)}>
                  {unfolded ? "Hide" : "Data"}
                </button>
              </td>
            </tr>,
            unfolded && (
              <tr key={key + " data"}>
                <td class="wide" colSpan={p.grouped ? 4 : 5}>
                  {!p.grouped && !e.taken && !e.producer && <Reasons of={e} />}
                  <pre tabIndex={0} aria-label={`Event ${e.event.id}`}>
                    {JSON.stringify(e.event, null, 2)}
                  </pre>
                </td>
              </tr>
            ),
          ];
        })}
      </tbody>
    </table>
  );
}

function Fate(p: { kept: Kept; grouped?: boolean }) {
  const e = p.kept;
  const nobodys = !e.taken && !e.producer;
  return (
    <>
      {e.taken && (
        <span class="status completed">
          <Icon name="completed" size={12} /> matched
        </span>
      )}
      {nobodys && !p.grouped && (
        <span class="status waiting">
          <Icon name="info" size={12} /> {misses([e]) > 0 ? "near miss" : "unmatched"}
        </span>
      )}
      {e.producer && !e.taken && (
        <span class="status">
          <Icon name="send" size={12} /> produced
        </span>
      )}{" "}
      {e.used?.map((id) => (
        <span key={id} class="fate">
          started <a href={"/definitions/" + encodeURIComponent(id)}>{id}</a>
        </span>
      ))}
      {e.for?.map((id) => (
        <span key={id} class="fate">
          kept for <a href={"/instances/" + encodeURIComponent(id)}>{shortId(id)}</a>
        </span>
      ))}
      {e.producer && (
        <span class="fate">
          by <a href={"/instances/" + encodeURIComponent(e.producer)}>{shortId(e.producer)}</a>
        </span>
      )}
      {nobodys && p.grouped && <Reasons of={e} />}
    </>
  );
}
