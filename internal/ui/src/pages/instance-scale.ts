// Time as a place on an axis. Long stretches in which nothing happened are folded: each takes the
// same small part of the axis, and a break shows that.
import { idle } from "./instance-history";
import type { Span } from "./instance-spans";

export interface Piece {
  from: number; // ms
  to: number;
  at: number; // part of the axis, 0 to 1
  width: number;
  folded: boolean;
}

/** A part of the axis. */
export interface View {
  a: number;
  b: number;
}

export const whole: View = { a: 0, b: 1 };
const mostFolds = 10;

/** The axis from start to end. instants are when something happened, in order. */
export function scaleOf(start: number, end: number, instants: number[], busy: Span[], fold: boolean): Piece[] {
  end = Math.max(end, start + 1);
  const gaps = fold ? gapsOf(start, end, instants, busy) : [];
  const active: [number, number, boolean][] = [];
  let at = start;
  for (const [from, to] of gaps) {
    if (from > at) active.push([at, from, false]);
    active.push([from, to, true]);
    at = to;
  }
  if (at < end) active.push([at, end, false]);
  const folds = gaps.length;
  const each = folds === 0 ? 0 : Math.min(0.08, 0.35 / folds);
  const room = active.length > folds ? 1 - folds * each : 0;
  const total = active.reduce((sum, [from, to, folded]) => sum + (folded ? 0 : to - from), 0);
  const least = total * 0.08; // a short burst between two breaks is still seen
  const weight = ([from, to]: [number, number, boolean]) => to - from + least;
  const sum = active.reduce((s, p) => s + (p[2] ? 0 : weight(p)), 0) || 1;
  let x = 0;
  return active.map((p) => {
    const width = p[2] ? (room ? each : 1 / folds) : (weight(p) / sum) * room;
    const piece = { from: p[0], to: p[1], at: x, width, folded: p[2] };
    x += width;
    return piece;
  });
}

/** The longest stretches without any record, while no call was under way. */
function gapsOf(start: number, end: number, instants: number[], busy: Span[]): [number, number][] {
  const calls = busy.map((s) => [s.from, s.to ?? end] as const).sort((x, y) => x[0] - y[0]);
  const found: [number, number][] = [];
  let k = 0;
  let reach = -Infinity; // how far calls that began before go
  const points = [start, ...instants, end];
  for (let i = 1; i < points.length; i++) {
    const [from, to] = [Math.max(points[i - 1]!, start), Math.min(points[i]!, end)];
    while (k < calls.length && calls[k]![0] <= from) reach = Math.max(reach, calls[k++]![1]);
    if (to - from >= idle && reach < to) found.push([from, to]);
  }
  const active = end - start - found.reduce((s, [from, to]) => s + to - from, 0);
  return found
    .filter(([from, to]) => to - from > active / 10)
    .sort((x, y) => y[1] - y[0] - (x[1] - x[0]))
    .slice(0, mostFolds)
    .sort((x, y) => x[0] - y[0]);
}

/** Where a time is, from 0 to 1. */
export function placeOf(scale: Piece[], t: number): number {
  const first = scale[0]!;
  if (t <= first.from) return 0;
  const p = scale.find((s) => t <= s.to);
  return p ? p.at + ((t - p.from) / (p.to - p.from || 1)) * p.width : 1;
}

/** The time at a place. */
export function timeAt(scale: Piece[], x: number): number {
  const p = scale.find((s) => x <= s.at + s.width) ?? scale.at(-1)!;
  return p.from + Math.max(0, Math.min(1, (x - p.at) / (p.width || 1))) * (p.to - p.from);
}

/** A place in a view, in per cent. */
export function seenAt(view: View, x: number): number {
  return ((x - view.a) / (view.b - view.a)) * 100;
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 21600e3, 43200e3, 86400e3, 172800e3, 604800e3, 2592000e3];

/** Times at which the axis has a mark, about count of them. They are round from zero on. */
export function ticksOf(scale: Piece[], view: View, zero: number, count: number): number[] {
  const out: number[] = [];
  const label = (0.5 / count) * (view.b - view.a);
  for (const [i, p] of scale.entries()) {
    if (p.folded) continue;
    const [a, b] = [Math.max(p.at, view.a), Math.min(p.at + p.width, view.b)];
    const room = Math.floor(((b - a) / (view.b - view.a)) * count);
    if (b <= a) continue;
    const [from, to] = [timeAt(scale, a + 1e-9), timeAt(scale, b - 1e-9)];
    if (room < 1) continue;
    const step = steps.find((s) => (to - from) / s <= room) ?? steps.at(-1)!;
    for (let t = zero + Math.ceil((from - zero) / step - 1e-3) * step; t <= to && out.length < 40; t += step) {
      if (!scale[i + 1]?.folded || placeOf(scale, t) + label <= p.at + p.width) out.push(t); // else its label runs into that of the fold
    }
  }
  return out;
}

/** A view zoomed by a factor around a place, within the axis. */
export function zoomed(view: View, factor: number, around = (view.a + view.b) / 2): View {
  const width = Math.min(1, Math.max(1e-5, (view.b - view.a) / factor));
  const share = (around - view.a) / (view.b - view.a);
  return within(around - share * width, width);
}

/** A view moved by a part of its width. */
export function moved(view: View, by: number): View {
  const width = view.b - view.a;
  return within(view.a + by * width, width);
}

function within(a: number, width: number): View {
  const from = Math.max(0, Math.min(1 - width, a));
  return { a: from, b: from + width };
}
