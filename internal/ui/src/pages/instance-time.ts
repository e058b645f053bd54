// How a bar of the timeline is told, and the time that passes.
import { useEffect, useState } from "preact/hooks";
import { momentOf, span } from "../parts/format";
import type { Span } from "./instance-spans";

/** A bar in words: what became of it, when, and how long it took. */
export function wordsOf(s: Span, now: number): string {
  if (s.to === s.from) return `${s.word} at ${momentOf(s.from, true)}`;
  const end = s.to === undefined ? "now" : momentOf(s.to, true);
  return `${s.word}, ${momentOf(s.from, true)} to ${end}, ${span((s.to ?? now) - s.from)}`;
}

/** The time now, each second as long as something runs. */
export function useNow(runs: boolean): number {
  const [now, set] = useState(() => Date.now());
  useEffect(() => {
    if (!runs) return;
    const timer = window.setInterval(() => set(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}
