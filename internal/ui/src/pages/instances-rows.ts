// The rows of the list. They follow what happens, but do not move while someone points at
// them: then only their content changes, and what is new is counted.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, get, type Instance, type Page } from "../api";
import { onChanges, onReset } from "../live";
import { number } from "../parts/format";
import { throttle, useRecovery } from "../parts/load";

export const pageSize = 50;

/** How many instances match, as far as the server counts. */
export interface Count {
  count: number;
  exact: boolean;
}

export function counted(c?: Count): string {
  return c ? number(c.count) + (c.exact ? "" : "+") : "…";
}

export interface Rows {
  items?: Instance[];
  next?: string;
  fresh: number; // how many have come that are not shown
  error?: unknown;
  busy: boolean;
  of: string; // the filter that the rows are of
  shown: string; // the place that the rows are of; "" while they are of another
  show: () => void; // those too
}

interface State {
  key: string;
  of: string;
  items?: Instance[];
  next?: string;
  fresh: number;
  error?: unknown;
  busy: boolean;
}

/** How often a list goes on by itself where the server compared some instances, and found none. */
const patience = 20;

export function useRows(q: string, after: string, fold: boolean, held: () => boolean): Rows {
  const key = JSON.stringify([q, after, fold]);
  const [state, set] = useState<State>({ key, of: q, fresh: 0, busy: true });
  const now = useRef({ state, held, key });
  now.current = { state, held, key };
  const running = useRef<AbortController | null>(null);
  const changed = useRef(new Set<string>());
  const missed = useRef(false);
  const look = useRef(() => {});
  const [lost, setLost] = useState<unknown>(); // why the last look failed

  const load = useCallback(
    async (live: boolean) => {
      if (now.current.key !== key) return; // the filter is another one now
      if (live && running.current) {
        missed.current = true; // an answer is on its way, which may not have it
        return;
      }
      running.current?.abort();
      const mine = new AbortController();
      running.current = mine;
      if (!live) set((s) => ({ ...s, busy: true }));
      const touched = changed.current;
      changed.current = new Set();
      try {
        const query = new URLSearchParams({ q, limit: String(pageSize) });
        if (fold) query.set("fold", "true");
        if (after) query.set("after", after);
        let page = await get<Page<Instance>>("/api/v1/instances?" + query, mine.signal);
        for (let n = 0; !page.items.length && page.next && n < patience; n++) {
          query.set("after", String(page.next));
          page = await get<Page<Instance>>("/api/v1/instances?" + query, mine.signal);
        }
        const old = now.current.state;
        const stay = live && old.key === key && old.items !== undefined && now.current.held();
        const next = { key, of: q, next: page.next as string | undefined, busy: false };
        if (stay) set({ ...next, ...(await updated(old.items!, page.items, touched, mine.signal)), next: old.next });
        else set({ ...next, items: page.items, fresh: 0 });
        setLost(undefined);
      } catch (error) {
        if (mine.signal.aborted) return;
        for (const id of touched) changed.current.add(id);
        setLost(error);
        // While the server is away the rows stay; the header says what is wrong.
        set((s) => (live ? s : { ...s, key, error, busy: false }));
      } finally {
        if (running.current === mine) {
          running.current = null;
          if (missed.current) look.current();
          missed.current = false;
        }
      }
    },
    [key],
  );

  useEffect(() => {
    void load(false);
    look.current = throttle(1000, () => void load(true));
    const offs = [
      onChanges((changes) => {
        for (const c of changes) changed.current.add(c.instance);
        look.current();
      }),
      onReset(() => look.current()),
    ];
    return () => {
      offs.forEach((off) => off());
      look.current = () => {};
      running.current?.abort();
      running.current = null;
    };
  }, [load]);

  useRecovery(lost, () => void load(state.items !== undefined && state.error === undefined));

  const shown = state.items !== undefined && state.key === key ? key : "";
  return { ...state, shown, busy: state.busy || state.key !== key, show: () => void load(false) };
}

/** The same rows with what is known of them now, and how many others have come. */
async function updated(old: Instance[], got: Instance[], touched: Set<string>, signal: AbortSignal) {
  const byId = new Map(got.map((row) => [row.id, row]));
  const lost = old.filter((row) => !byId.has(row.id) && touched.has(row.id)).map((row) => row.id);
  const read = await Promise.all(lost.map((id) => get<Instance>(api("instances", id), signal).catch(() => undefined)));
  for (const row of read) if (row) byId.set(row.id, row);
  const known = new Set(old.map((row) => row.id));
  const first = old[0]?.created ?? "";
  const fresh = got.filter((row) => !known.has(row.id) && row.created >= first).length;
  return { items: old.map((row) => byId.get(row.id) ?? row), fresh };
}
