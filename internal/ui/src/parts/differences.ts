// What differs between two JSON values, as a tree of the paths that differ.
import { isTree } from "./json-rows";

export type Change = "added" | "removed" | "changed" | "inside";

export interface Difference {
  key: string | number;
  change: Change;
  before?: unknown;
  after?: unknown;
  inner: Difference[];
}

export const mostDifferences = 500;
const run = 10; // so many items more or less at the end of a list are told as one

/** The differences, outermost first; at most so many, and whether there are more. */
export function differences(before: unknown, after: unknown): { list: Difference[]; count: number } {
  let count = 0;
  const compare = (a: unknown, b: unknown): Difference[] => {
    if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) return [];
    const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
    const out: Difference[] = [];
    const deeper: (() => void)[] = []; // what is further inside counts after what is here
    let keys: (string | number)[] = [];
    if (Array.isArray(a) && Array.isArray(b)) {
      const both = Math.min(a.length, b.length);
      const last = Math.max(a.length, b.length) - 1;
      keys = [...Array(last - both < run ? last + 1 : both).keys()];
      if (last - both >= run) out.push({ key: `${both} … ${last}`, change: b.length > a.length ? "added" : "removed", before: a.slice(both), after: b.slice(both), inner: [] });
    } else keys = [...new Set([...Object.keys(x), ...Object.keys(y)])];
    for (const key of keys) {
      const [was, is] = [x[key], y[key]];
      const [had, has] = [key in x, key in y];
      if (had && has && same(was, is)) continue;
      if (had && has && isTree(was) && isTree(is) && Array.isArray(was) === Array.isArray(is)) {
        const inside: Difference = { key, change: "inside", inner: [] };
        out.push(inside);
        deeper.push(() => (inside.inner = compare(was, is)));
        continue;
      }
      if (++count > mostDifferences) continue;
      out.push({ key, change: !had ? "added" : !has ? "removed" : "changed", before: was, after: is, inner: [] });
    }
    for (const look of deeper) look();
    return out.filter((d) => d.change !== "inside" || d.inner.length > 0);
  };
  const list = compare(before, after);
  if (list.length === 0 && !same(before, after)) return { list: [{ key: "$", change: before === undefined ? "added" : after === undefined ? "removed" : "changed", before, after, inner: [] }], count: 1 };
  return { list, count };
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isTree(a) || !isTree(b)) return false;
  return JSON.stringify(a) === JSON.stringify(b);
}
