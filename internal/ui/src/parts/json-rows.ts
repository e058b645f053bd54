// A JSON value as lines of a tree. Only what is open has lines, so that a large value costs nothing
// until someone looks into it.

/** A line: a value, or the end of a list of which not all is shown. */
export interface Row {
  path: string; // a JSON pointer
  depth: number;
  key?: string | number;
  value: unknown;
  size: number; // members; 0 for a scalar
  open: boolean;
  more?: number; // instead of a value: how many members of path are not shown
}

const atOnce = 200; // members of one value that have lines before someone asks for more

export function isTree(v: unknown): v is object {
  return typeof v === "object" && v !== null;
}

export function sizeOf(v: object): number {
  return Array.isArray(v) ? v.length : Object.keys(v).length;
}

/** A step of a JSON pointer. */
export function step(key: string | number): string {
  return "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The path as an expression would have it: $.a.b[0]["c d"]. */
export function spoken(pointer: string): string {
  const parts = pointer.split("/").slice(1).map(unstep);
  return "$" + parts.map((k) => (/^\d+$/.test(k) ? `[${k}]` : /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(k) ? "." + k : `[${JSON.stringify(k)}]`)).join("");
}

function unstep(text: string): string {
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** What is at a pointer. */
export function valueAt(root: unknown, pointer: string): unknown {
  let at = root;
  for (const part of pointer.split("/").slice(1)) at = isTree(at) ? (at as Record<string, unknown>)[unstep(part)] : undefined;
  return at;
}

/** The values around a pointer, outermost first. */
export function around(pointer: string): string[] {
  const parts = pointer.split("/");
  return parts.slice(0, -1).map((_, i) => parts.slice(0, i + 1).join("/"));
}

/** What is open at first: as much as fits in so many lines, outer values before inner ones. */
export function firstOpen(root: unknown, lines: number): Set<string> {
  const open = new Set<string>();
  let level: [string, unknown][] = [["", root]];
  let used = 1;
  for (let depth = 0; level.length > 0 && depth < 6; depth++) {
    const next: [string, unknown][] = [];
    for (const [path, value] of level) {
      if (!isTree(value)) continue;
      const size = Math.min(sizeOf(value), atOnce);
      if (depth > 0 && used + size > lines) continue;
      used += size;
      open.add(path);
      if (size <= lines) for (const [k, v] of entriesOf(value, size)) next.push([path + step(k), v]);
    }
    level = next;
  }
  return open;
}

function entriesOf(v: object, most: number): [string | number, unknown][] {
  if (Array.isArray(v)) return v.slice(0, most).map((item, i) => [i, item]);
  return Object.keys(v)
    .slice(0, most)
    .map((k) => [k, (v as Record<string, unknown>)[k]]);
}

/** The lines of a value. extent says of which values more members are shown than at first. */
export function rowsOf(root: unknown, open: Set<string>, extent: Map<string, number>): Row[] {
  const rows: Row[] = [];
  const walk = (path: string, depth: number, key: string | number | undefined, value: unknown) => {
    const size = isTree(value) ? sizeOf(value) : 0;
    const isOpen = size > 0 && open.has(path);
    rows.push({ path, depth, key, value, size, open: isOpen });
    if (!isOpen) return;
    const most = extent.get(path) ?? atOnce;
    for (const [k, v] of entriesOf(value as object, most)) walk(path + step(k), depth + 1, k, v);
    if (size > most) rows.push({ path, depth: depth + 1, value: undefined, size: 0, open: false, more: size - most });
  };
  walk("", 0, undefined, root);
  return rows;
}

/** How many members more are shown when someone asks. */
export function further(extent: Map<string, number>, path: string): Map<string, number> {
  return new Map(extent).set(path, (extent.get(path) ?? atOnce) + 1000);
}

/** Makes sure that the line of a pointer is there. */
export function reveal(root: unknown, pointer: string, open: Set<string>, extent: Map<string, number>): { open: Set<string>; extent: Map<string, number> } {
  const out = { open: new Set(open), extent: new Map(extent) };
  const steps = pointer.split("/").slice(1);
  around(pointer).forEach((path, i) => {
    out.open.add(path);
    const value = valueAt(root, path);
    if (!isTree(value)) return;
    const at = Array.isArray(value) ? Number(steps[i]) : Object.keys(value).indexOf(unstep(steps[i]!));
    if (at >= (out.extent.get(path) ?? atOnce)) out.extent.set(path, at + 50);
  });
  return out;
}

const mostFound = 1000;

/** Pointers of keys and scalars that have a text in them, in the order of lines. */
export function find(root: unknown, text: string): string[] {
  const want = text.toLowerCase();
  const found: string[] = [];
  const walk = (path: string, key: string | number | undefined, value: unknown) => {
    if (found.length >= mostFound) return;
    const tree = isTree(value);
    if ((typeof key === "string" && key.toLowerCase().includes(want)) || (!tree && String(value).toLowerCase().includes(want))) found.push(path);
    if (!tree) return;
    if (Array.isArray(value)) value.forEach((v, i) => walk(path + step(i), i, v));
    else for (const k in value) walk(path + step(k), k, (value as Record<string, unknown>)[k]);
  };
  walk("", undefined, root);
  return found;
}
