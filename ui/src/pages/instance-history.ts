// What happened to an instance, as the server keeps it, and what the page makes of it:
// visits of states with their attempts, marks for the diagram, data at any point.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, get, type Fault, type Instance, type Page } from "../api";
import type { NodeMark } from "../parts/diagram";

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
}

export interface Attempt {
  function: string;
  called: Rec;
  ended?: Rec; // returned or failed
}

/** A state from the time it is entered until it is left. */
export interface Visit {
  node: string;
  records: Rec[];
  left?: Rec;
  attempts: Attempt[];
  error: boolean; // something went wrong in it, at least for a while
}

/** A line of the timeline: a record alone, or those of a visit up to the next one that is alone. */
export type Item = { visit: Visit; records: Rec[]; again: boolean; record?: undefined } | { record: Rec; visit?: undefined };

const pageSize = 1000;

/** One page of a history. */
export function readHistory(id: string, after: string, signal?: AbortSignal): Promise<Page<Rec>> {
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (after) query.set("after", after);
  return get<Page<Rec>>(api("instances", id, "history") + "?" + query, signal);
}

/** All of a history, up to a number of records. */
export async function wholeHistory(id: string, most: number): Promise<Rec[]> {
  const out: Rec[] = [];
  for (let after = ""; ; ) {
    const page = await readHistory(id, after);
    out.push(...page.items);
    if (!page.next || out.length >= most) return out;
    after = String(page.next);
  }
}

export interface History {
  records: Rec[];
  loaded: boolean;
  more: boolean;
  error?: unknown;
  again: () => void; // looks for what is new
  loadMore: () => void;
}

/** Follows a history. Its pages never change, so only the last is read again. */
export function useHistory(id: string): History {
  const [state, set] = useState<{ records: Rec[]; loaded: boolean; more: boolean; error?: unknown }>({ records: [], loaded: false, more: false });
  const pages = useRef<{ after: string; items: Rec[] }[]>([]);
  const budget = useRef(3); // pages
  const reading = useRef(false);
  const wanted = useRef(false);
  const gone = useRef(false);
  const again = useCallback(async () => {
    if (reading.current) {
      wanted.current = true;
      return;
    }
    reading.current = true;
    try {
      do {
        wanted.current = false;
        let after = pages.current.at(-1)?.after ?? "";
        pages.current.pop();
        for (;;) {
          const page = await readHistory(id, after);
          pages.current.push({ after, items: page.items });
          const more = page.next !== undefined && pages.current.length >= budget.current;
          if (page.next === undefined || more) {
            if (!gone.current) set({ records: pages.current.flatMap((p) => p.items), loaded: true, more });
            break;
          }
          after = String(page.next);
        }
      } while (wanted.current);
    } catch (error) {
      if (!gone.current) set((s) => ({ ...s, error }));
    } finally {
      reading.current = false;
    }
  }, [id]);
  useEffect(() => {
    void again();
    return () => {
      gone.current = true;
    };
  }, [again]);
  const loadMore = () => {
    budget.current += 3;
    void again();
  };
  return { ...state, again: () => void again(), loadMore };
}

const wrong = new Set(["callFailed", "timedOut", "caught"]);

/** Whether a record tells of something that went wrong. */
export function isWrong(r: Rec): boolean {
  return wrong.has(r.type) || r.error !== undefined;
}

/** Records by the states that they belong to, in the order in which they came. */
export function itemsOf(records: Rec[]): Item[] {
  const items: Item[] = [];
  const open = new Map<string, Visit>();
  let parts = new Map<Visit, Rec[]>(); // that go on
  for (const r of records) {
    if (!r.node) {
      items.push({ record: r });
      parts = new Map();
      continue;
    }
    const known = r.type === "entered" ? undefined : open.get(r.node);
    const visit = known ?? { node: r.node, records: [], attempts: [], error: false };
    if (!known) open.set(r.node, visit);
    let part = parts.get(visit);
    if (!part) {
      part = [];
      parts.set(visit, part);
      items.push({ visit, records: part, again: known !== undefined });
    }
    part.push(r);
    put(visit, r);
    if (r.type === "left") open.delete(r.node);
  }
  return items;
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

/** How each state of the diagram stands. */
export function marksOf(items: Item[], instance: Instance): Map<string, NodeMark> {
  const out = new Map<string, NodeMark>();
  const visits = new Map<string, Visit[]>();
  for (const visit of visitsOf(items)) {
    const list = visits.get(visit.node);
    if (list) list.push(visit);
    else visits.set(visit.node, [visit]);
  }
  for (const [node, list] of visits) {
    const last = list.at(-1)!;
    const tries = last.attempts.filter((a) => a.function === last.attempts.at(-1)?.function).length;
    const notes = [list.length > 1 ? `×${list.length}` : "", last.error && tries > 1 ? `${tries} tries` : ""].filter(Boolean).join(" ");
    out.set(node, markOf(last.left || instance.status === "completed" ? "done" : "none", notes));
  }
  const kind = ({ failed: "failed", paused: "paused", running: "active", waiting: "waiting" } as const)[instance.status as string];
  if (!kind) return out;
  const here = instance.job ? [instance.job.state] : [...(instance.states ?? []), ...(kind === "failed" && instance.error?.node ? [instance.error.node] : [])];
  for (const node of here) out.set(node, markOf(kind, out.get(node)?.note ?? ""));
  return out;
}

// A sign or a word for each kind, so that colour alone tells nothing.
const signs = { none: "", done: "✓", active: "▶ now", waiting: "waits", paused: "‖ paused", failed: "✕ failed" };

function markOf(kind: keyof typeof signs, note: string): NodeMark {
  const text = [signs[kind], note].filter(Boolean).join(" ");
  return { kind, note, badges: text ? [{ text, bad: kind === "failed" }] : [] };
}

/** The data of the workflow when a record was written: what the last state before it took or gave. */
export function dataAt(records: Rec[], seq: number): Rec | undefined {
  return records.findLast((r) => r.seq <= seq && !r.depth && r.data !== undefined && ["started", "entered", "left", "finished"].includes(r.type));
}

/** How long nothing happened before it is told in one line. */
export const idle = 5000;

export function millis(time: string): number {
  return Date.parse(time);
}
