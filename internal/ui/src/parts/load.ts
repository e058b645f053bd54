import { Problem, signedIn } from "../api";
import { connection } from "../live";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  data?: T;
  error?: unknown;
  busy: boolean;
  /** Asks again; what is shown stays until there is an answer. */
  again: () => void;
}

/**
 * Loads something and keeps it; an answer that came too late is dropped. What is asked for
 * while an answer is on its way is asked after it, and not sooner than that one took: so
 * something slow neither starves nor keeps the server busy all the time.
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, on: unknown[]): Loaded<T> {
  const [state, set] = useState<{ data?: T; error?: unknown; busy: boolean }>({ busy: true });
  const { again, stop } = useMemo(() => {
    let running: AbortController | null = null;
    let wanted = false;
    let timer = 0;
    const run = () => {
      timer = 0;
      const mine = new AbortController();
      running = mine;
      const began = performance.now();
      set((s) => ({ ...s, busy: true }));
      const done = (next: (s: { data?: T }) => { data?: T; error?: unknown; busy: boolean }) => {
        if (mine.signal.aborted) return;
        running = null;
        set(next);
        if (wanted) timer = window.setTimeout(run, performance.now() - began);
        wanted = false;
      };
      load(mine.signal).then(
        (data) => done(() => ({ data, busy: false })),
        (error) => done((s) => ({ data: s.data, error, busy: false })),
      );
    };
    return {
      again: () => {
        if (running) wanted = true;
        else if (!timer) run();
      },
      stop: () => {
        running?.abort();
        running = null;
        clearTimeout(timer);
        timer = 0;
      },
    };
  }, on);
  useRecovery(state.error, again);
  useEffect(() => {
    again();
    return stop;
  }, [again]);
  return { ...state, again };
}

const retryAfter = 2000; // ms, where the server seems to be there

/** What failed for want of a token or of a server is asked again once there is one. */
export function useRecovery(error: unknown, again: () => void) {
  const now = useRef({ status: undefined as number | undefined, again });
  now.current = { status: error instanceof Problem ? error.status : undefined, again };
  useEffect(() => signedIn.subscribe(() => now.current.status === 401 && now.current.again()), []);
  useEffect(() => connection.subscribe((stands) => stands === "live" && now.current.status === 0 && now.current.again()), []);
  useEffect(() => {
    // The failure may be told after the server is known to be back.
    if (now.current.status !== 0 || connection.value !== "live") return;
    const timer = window.setTimeout(() => now.current.again(), retryAfter);
    return () => clearTimeout(timer);
  }, [error]);
}

/** Calls at most once in a while, and once more after the last call. */
export function throttle(ms: number, f: () => void): () => void {
  let timer = 0;
  let pending = false;
  const fire = () => {
    timer = 0;
    if (pending) {
      pending = false;
      f();
      timer = window.setTimeout(fire, ms);
    }
  };
  return () => {
    if (timer) {
      pending = true;
      return;
    }
    f();
    timer = window.setTimeout(fire, ms);
  };
}
