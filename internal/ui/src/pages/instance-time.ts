// How the page of an instance writes times.
import { useEffect, useState } from "preact/hooks";
import { span } from "../parts/when";
import type { Span } from "./instance-spans";

const two = (n: number) => String(n).padStart(2, "0");

/** A time of day; with the date if it is not today's, and with milliseconds where they matter. */
export function clockOf(ms: number, fine = false): string {
  const d = new Date(ms);
  const day = d.toDateString() === new Date().toDateString() ? "" : d.toLocaleDateString(undefined, { day: "numeric", month: "short" }) + " ";
  return `${day}${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}${fine ? "." + String(d.getMilliseconds()).padStart(3, "0") : ""}`;
}

/** Time since the start, as fine as the distance to the next mark asks for. */
export function offsetOf(ms: number, gap = 1): string {
  if (Math.abs(ms) < 1) return "0";
  if (ms < 1000 && gap < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(gap < 10 ? 3 : gap < 100 ? 2 : gap < 1000 ? 1 : 0)} s`;
  if (gap < 1000) return `${Math.floor(ms / 60_000)}m ${((ms % 60_000) / 1000).toFixed(gap < 100 ? 2 : 1)}s`;
  const [h, m, s] = [Math.floor(ms / 3600e3), Math.floor(ms / 60e3) % 60, Math.round(ms / 1000) % 60];
  return [h && `${h}h`, m && `${m}m`, gap < 60_000 && s && `${s}s`].filter(Boolean).join(" ") || span(ms);
}

/** A bar in words: what became of it, when, and how long it took. */
export function wordsOf(s: Span, now: number): string {
  if (s.to === s.from) return `${s.word} at ${clockOf(s.from, true)}`;
  const end = s.to === undefined ? "now" : clockOf(s.to, true);
  return `${s.word}, ${clockOf(s.from, true)} to ${end}, ${span((s.to ?? now) - s.from)}`;
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
