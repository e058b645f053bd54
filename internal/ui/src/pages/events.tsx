import { useEffect, useRef, useState } from "preact/hooks";
import { api, get, type Page } from "../api";
import { useTitle } from "../app";
import { amend, go, place, restoreScroll } from "../router";
import { announce } from "../parts/announcer";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Ago } from "../parts/when";
import { useNowAndThen } from "./definitions";
import { SendEvent } from "./events-send";
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
}

const keyOf = (e: Kept) => e.event.source + "\n" + e.event.id;

export function Events() {
  useTitle("Events");
  const query = place.value.query;
  const type = query.get("type") ?? "";
  const unmatched = query.get("unmatched") === "1";
  const after = query.get("after") ?? "";
  const sending = query.has("send");
  const asked = new URLSearchParams({ limit: "50" });
  if (type) asked.set("type", type);
  if (unmatched) asked.set("unmatched", "true");
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
      <h1>Events</h1>
      <div class="bar">
        <TypeFilter type={type} />
        <label>
          <input type="checkbox" checked={unmatched} onChange={(e) => amend({ unmatched: e.currentTarget.checked ? "1" : null, after: null })} /> unmatched only
        </label>
        <span class="grow" />
        <button type="button" aria-expanded={sending} onClick={() => amend({ send: sending ? null : "1" })}>
          Send an event
        </button>
      </div>
      {sending && <SendEvent sent={list.again} />}
      <ProblemBox error={list.error} again={list.again} />
      {fresh > 0 && (
        <div class="fresh">
          {fresh} new
          <button type="button" onClick={() => setShown({ path, page: list.data! })}>
            Show
          </button>
        </div>
      )}
      <div ref={box}>{page && <Table page={page} />}</div>
      {page && page.items.length === 0 && !page.next && <Nothing filtered={!!type || unmatched} />}
      <p class="bar">
        {after && <a href={"/events" + without("after")}>Newest</a>}
        {page?.next && (
          <button type="button" onClick={() => go("/events" + withAfter(String(page.next)))}>
            Older events
          </button>
        )}
      </p>
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
      <label for="event-type">Type</label>
      <input id="event-type" type="search" ref={input} value={text} placeholder="any" onInput={(e) => setText(e.currentTarget.value)} onChange={apply} />
      <button type="submit">Filter</button>
    </form>
  );
}

function Nothing(p: { filtered: boolean }) {
  return (
    <div class="panel">
      <p>
        {p.filtered
          ? "No event matches the filter."
          : "There are no events. An event is kept for a day, or as long as the server is configured to, even if no instance waits for it."}
      </p>
    </div>
  );
}

function Table(p: { page: Page<Kept> }) {
  if (p.page.items.length === 0) return p.page.next ? <p class="quiet">None among the newest; older ones may match.</p> : null;
  return (
    <table class="events">
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col">Source and id</th>
          <th scope="col">Received</th>
          <th scope="col">What became of it</th>
        </tr>
      </thead>
      <tbody>
        {p.page.items.map((e) => (
          <tr key={keyOf(e)}>
            <td>
              <a href={"/events?" + new URLSearchParams({ type: e.event.type })}>{e.event.type}</a>
              <Content event={e.event} />
            </td>
            <td>
              {e.event.source}
              <div class="quiet mono">{e.event.id}</div>
            </td>
            <td>
              <Ago time={e.received} />
            </td>
            <td>
              <Fate kept={e} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The event itself, once someone asks for it. */
function Content(p: { event: CloudEvent }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary class="quiet">event</summary>
      {open && (
        <pre tabIndex={0} aria-label={`Event ${p.event.id}`}>
          {JSON.stringify(p.event, null, 2)}
        </pre>
      )}
    </details>
  );
}

function Fate(p: { kept: Kept }) {
  const e = p.kept;
  return (
    <>
      {e.taken ? (
        <span class="taken">
          <span aria-hidden="true">✓</span> taken
        </span>
      ) : (
        <span class="kept">
          <span aria-hidden="true">◇</span> unmatched
        </span>
      )}
      {e.used?.map((id) => (
        <div>
          started <a href={"/definitions/" + encodeURIComponent(id)}>{id}</a>
        </div>
      ))}
      {e.for?.map((id) => (
        <div>
          waits for <a href={"/instances/" + encodeURIComponent(id)}>{id}</a>
        </div>
      ))}
      {e.producer && (
        <div>
          from <a href={"/instances/" + encodeURIComponent(e.producer)}>{e.producer}</a>
        </div>
      )}
      {!e.taken && e.why && e.why.length > 0 && (
        <ul class="whynot">
          {e.why.slice(0, 10).map((why) => (
            <li>{why}</li>
          ))}
        </ul>
      )}
    </>
  );
}
