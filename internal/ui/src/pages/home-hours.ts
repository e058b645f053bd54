// What happened in each hour, as the server tells it and as the chart shows it.
import { clock, day, number } from "../parts/format";

export interface Happened {
  started: number;
  completed: number;
  failed: number;
  cancelled: number;
}

export interface HourStats extends Happened {
  at: string;
}

export interface DefinitionHours extends Happened {
  id: string; // "": of all others
  p50?: number; // seconds
  p95?: number;
}

export interface Hours {
  from: string;
  hours: HourStats[];
  definitions: DefinitionHours[];
}

export type Period = "day" | "week";

/** How many hours are asked for. The bins of a week begin with the day: some hours before it complete the first. */
export const hoursOf: Record<Period, number> = { day: 24, week: 7 * 24 + 5 };

const hour = 3_600_000;
const binHours = 6; // of a week

/** A part of the time axis. */
export interface Bin extends Happened {
  from: number; // ms
  until: number;
}

/** The bins of a period: hours, or parts of days as they are here. What begins in the middle of a part is left out. */
export function binsOf(hours: HourStats[], period: Period): Bin[] {
  const out: Bin[] = [];
  for (const h of hours) {
    const from = Date.parse(h.at);
    const last = out.at(-1);
    const opens = period === "day" || new Date(from).getHours() % binHours === 0;
    if (last && !opens) {
      last.until = from + hour;
      last.started += h.started;
      last.completed += h.completed;
      last.failed += h.failed;
      last.cancelled += h.cancelled;
    } else if (opens) {
      out.push({ from, until: from + hour, started: h.started, completed: h.completed, failed: h.failed, cancelled: h.cancelled });
    }
  }
  return out.slice(period === "week" ? -(7 * 24) / binHours : 0);
}

/** What happened in several bins together. */
export function sum(bins: Happened[]): Happened {
  const out = { started: 0, completed: 0, failed: 0, cancelled: 0 };
  for (const b of bins) {
    out.started += b.started;
    out.completed += b.completed;
    out.failed += b.failed;
    out.cancelled += b.cancelled;
  }
  return out;
}

/** The first round number that is not smaller: the top of an axis. */
export function roundUp(n: number): number {
  if (n <= 4) return Math.max(n, 1);
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((m) => m * power >= n)! * power;
}

/** When a bin is, as people say it. */
export function timeOf(b: Bin): string {
  return `${day(b.from, "weekday and date")}, ${clock(b.from, "minute")} – ${clock(b.until, "minute")}`;
}

/** What happened, as people say it. */
export function inWords(h: Happened): string {
  return `${number(h.started)} started, ${number(h.completed)} completed, ${number(h.failed)} failed`;
}

/** How high the chart is, in pixels: its place is kept until it is loaded. */
export const chartHeight = 194;
