// What happened to an instance, as the server keeps it, and what the page makes of it:
// visits of states with their attempts, marks for the diagram, data at any point.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, get, type Fault, type Page } from "../api";
import { useRecovery } from "../parts/load";

export interface Rec {
  seq: number;
  time: string;
  type: string;
  node?: string;
  place?: { line: number; column: number };
  depth?: number;
  frame?: number;
  name?: string;
  ticket?: string;
  attempt?: number;
  at?: string;
  data?: unknown;
  error?: Fault;
  text?: string;
  status?: string;
  index?: number; // of the item of a foreach
  key?: string; // of a call
  exchange?: Exchange; // of an answer
}

/** How a call was carried out over HTTP. */
export interface Exchange {
  method: string;
  address: string;
  requestHeaders?: Header[];
  status?: number;
  headers?: Header[]; // of the answer
}

/** A header; without a value it is redacted. */
export interface Header {
  name: string;
  value?: string;
}

export interface Attempt {
  function: string;
  called: Rec;
  ended?: Rec; // returned or failed
}

/** What a record says that the instance waits for. Jobs list who may move them where, as CLIENT:DONE. */
export function waitOf(r: Rec): string {
  const moves = r.text?.split(", ").map((m) => /^(?:CLIENT|WFX):(.+)$/.exec(m)?.[1]);
  return moves?.every(Boolean) ? `a move to ${[...new Set(moves)].join(" or ")}` : (r.text ?? "the time");
}

/** A state from the time it is entered until it is left. */
export interface Visit {
  node: string;
  records: Rec[];
  left?: Rec;
  attempts: Attempt[];
  error: boolean; // something went wrong in it, at least for a while
  over?: boolean; // it was not left, but the state around it has gone on
  cut?: boolean; // some of its records are not read
  undone?: Rec; // its compensation began
  handled?: Rec; // an error ended it, and a handler elsewhere took that
}

/** A line of the timeline: a record alone, those of a visit up to the next one that is alone, or how many are not read. */
export type Item =
  | { visit: Visit; records: Rec[]; again: boolean; record?: undefined }
  | { record: Rec; visit?: undefined }
  | { unread: number; next: Rec; visit?: undefined; record?: undefined };

const pageSize = 1000;

/** One page of a history. */
export function readHistory(id: string, after: string, signal?: AbortSignal): Promise<Page<Rec>> {
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (after) query.set("after", after);
  return get<Page<Rec>>(api("instances", id, "history") + "?" + query, signal);
}

export interface History {
  head: Rec[]; // from the first on; the rest is in tail if nothing is unread between
  tail: Rec[]; // up to the newest
  unread: number; // records between the two
  loaded: boolean;
  error?: unknown;
  again: () => void; // looks for what is new
  loadMore: () => void; // of what is between, the newest
}

type Read = Pick<History, "head" | "tail" | "unread" | "loaded" | "error">;

/** Records in order, and where the page of older ones begins. */
interface Stretch {
  items: Rec[];
  older?: string;
}

const step = 3; // pages that are read at once, and kept

/**
 * Follows a history: its newest records, and of a long one the first too. What is between
 * is read when it is asked for.
 */
class Follower {
  #head: Rec[] = [];
  #tail: Stretch[] = []; // each goes on where the one before ends, or earlier
  #most = step;

  constructor(private id: string) {}

  /** Looks for what is new. */
  async look(): Promise<Read> {
    const fresh = [await readNewest(this.id, "")];
    const known = this.#tail.at(-1)?.items.at(-1)?.seq ?? 0;
    while (fresh[0]!.older && firstOf(fresh[0]!) > known + 1 && fresh.length < this.#most) fresh.unshift(await readNewest(this.id, fresh[0]!.older));
    if (firstOf(fresh[0]!) > known + 1) this.#tail = []; // too much came meanwhile
    fresh.forEach((s) => this.#join(s));
    this.#tail = this.#tail.slice(-this.#most);
    if (this.#tail[0]!.older && this.#head.length === 0) this.#head = (await readHistory(this.id, "")).items;
    return this.#read();
  }

  /** Reads more of what is between the two ends. */
  async fill(): Promise<Read> {
    this.#most += step;
    for (let i = 0; i < step && this.#read().unread > 0; i++) this.#tail.unshift(await readNewest(this.id, this.#tail[0]!.older!));
    return this.#read();
  }

  #join(next: Stretch) {
    const last = this.#tail.at(-1);
    const end = last?.items.at(-1)?.seq ?? 0;
    const news = next.items.filter((r) => r.seq > end);
    if (!last || last.items.length + news.length > 2 * pageSize) this.#tail.push(next);
    else last.items = [...last.items, ...news];
  }

  #read(): Read {
    const tail: Rec[] = [];
    for (const s of this.#tail) for (const r of s.items) if (r.seq > (tail.at(-1)?.seq ?? 0)) tail.push(r);
    const first = tail[0]?.seq ?? 1;
    const head = this.#head.filter((r) => r.seq < first);
    const unread = first - 1 - head.length;
    // Without anything between, it is one.
    return unread > 0 ? { head, tail, unread, loaded: true } : { head: [], tail: [...head, ...tail], unread: 0, loaded: true };
  }
}

function firstOf(s: Stretch): number {
  return s.items[0]?.seq ?? 0;
}

/** One page of a history from its end, or from where another page began. */
async function readNewest(id: string, before: string): Promise<Stretch> {
  const query = new URLSearchParams({ order: "newest", limit: String(pageSize) });
  if (before) query.set("after", before);
  const page = await get<Page<Rec>>(api("instances", id, "history") + "?" + query);
  return { items: page.items.reverse(), older: page.next === undefined ? undefined : String(page.next) };
}

/** Follows the history of an instance, which stays the same. */
export function useHistory(id: string): History {
  const [state, set] = useState<Read>({ head: [], tail: [], unread: 0, loaded: false });
  const follower = useRef<Follower>(null);
  follower.current ??= new Follower(id);
  const reading = useRef(false);
  const wanted = useRef({ look: false, fill: false });
  const gone = useRef(false);
  const ask = useCallback(async (what: "look" | "fill") => {
    wanted.current[what] = true;
    if (reading.current) return;
    reading.current = true;
    try {
      while (wanted.current.look || wanted.current.fill) {
        const { fill } = wanted.current;
        wanted.current = fill ? { ...wanted.current, fill: false } : { look: false, fill: false };
        const read = await (fill ? follower.current!.fill() : follower.current!.look());
        if (gone.current) return;
        set(read);
      }
    } catch (error) {
      wanted.current = { look: false, fill: false };
      if (!gone.current) set((s) => ({ ...s, error }));
    } finally {
      reading.current = false;
    }
  }, []);
  useEffect(() => {
    void ask("look");
    return () => {
      gone.current = true;
    };
  }, [ask]);
  const again = () => void ask("look");
  useRecovery(state.error, again);
  return { ...state, again, loadMore: () => void ask("fill") };
}

const wrong = new Set(["callFailed", "itemFailed", "timedOut", "caught"]);

/** Whether a record tells of something that went wrong. */
export function isWrong(r: Rec): boolean {
  return wrong.has(r.type) || r.error !== undefined;
}

/** What a timeline tells: both ends of a history, and what is between. */
export function itemsOf(h: Pick<History, "head" | "tail" | "unread">): Item[] {
  if (h.unread === 0) return linesOf(h.tail, {});
  return [...linesOf(h.head, { end: true }), { unread: h.unread, next: h.tail[0]! }, ...linesOf(h.tail, { start: true })];
}

/** Records by the states that they belong to, in the order in which they came. */
export function linesOf(records: Rec[], cut: { start?: boolean; end?: boolean }): Item[] {
  const items: Item[] = [];
  const open = new Map<string, Visit>();
  let parts = new Map<Visit, Rec[]>(); // that go on
  const left = new Map<string, Visit[]>(); // that can be undone
  for (const r of records) {
    if (r.type === "compensating" && r.node) {
      const undone = left.get(r.node)?.pop();
      if (undone) undone.undone = r;
    }
    if (!r.node || r.type === "compensating") {
      items.push({ record: r });
      parts = new Map();
      continue;
    }
    // The events of a way out are written after its state was left.
    const known = r.type === "entered" ? undefined : (open.get(r.node) ?? (r.type === "produced" ? left.get(r.node)?.at(-1) : undefined));
    const visit = known ?? { node: r.node, records: [], attempts: [], error: false, cut: cut.start && r.type !== "entered" };
    if (!known) open.set(r.node, visit);
    if (["entered", "left", "caught", "retrying"].includes(r.type)) closeInside(open, r.node);
    let part = parts.get(visit);
    if (!part) {
      part = [];
      parts.set(visit, part);
      items.push({ visit, records: part, again: known !== undefined });
    }
    part.push(r);
    put(visit, r);
    if (r.type === "left") {
      open.delete(r.node);
      const list = left.get(r.node);
      if (list) list.push(visit);
      else left.set(r.node, [visit]);
    }
  }
  if (cut.end) for (const visit of open.values()) visit.cut = true;
  const last = records.at(-1);
  for (const visit of open.values()) {
    const end = visit.records.at(-1)!;
    if (end.type === "caught" && end !== last) visit.handled = end;
  }
  return items;
}

/** Ends the visits of states inside of one that goes on without them, such as after an error that is caught. */
function closeInside(open: Map<string, Visit>, node: string) {
  for (const [name, visit] of open) {
    if (!name.startsWith(node + "/")) continue;
    visit.over = true;
    open.delete(name);
  }
}

/** The first record that an item tells of; of what is not read, the one after it. */
export function firstRec(item: Item): Rec {
  if (item.visit) return item.records[0]!;
  return item.record ?? item.next;
}

/** Each visit once. */
export function visitsOf(items: Item[]): Visit[] {
  return items.flatMap((i) => (i.visit && !i.again ? [i.visit] : []));
}

function put(v: Visit, r: Rec) {
  v.records.push(r);
  v.error ||= isWrong(r);
  switch (r.type) {
    case "left":
      v.left = r;
      break;
    case "called":
      v.attempts.push({ function: r.name ?? "", called: r });
      break;
    case "returned":
    case "callFailed":
    case "timedOut": {
      const attempt = v.attempts.findLast((a) => !a.ended && (r.ticket === undefined || a.called.ticket === r.ticket));
      if (attempt) attempt.ended = r;
    }
  }
}

/** The data of the workflow when a record was written: what the last state before it took or gave. */
export function dataAt(h: Pick<History, "head" | "tail">, seq: number): Rec | undefined {
  const records = seq < (h.tail[0]?.seq ?? 0) ? h.head : h.tail;
  return records.findLast((r) => r.seq <= seq && !r.depth && r.data !== undefined && ["started", "entered", "left", "finished"].includes(r.type));
}

/** How long nothing happened before it is told in one line. */
export const idle = 5000;

export function millis(time: string): number {
  return Date.parse(time);
}
