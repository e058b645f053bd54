// The rows of the timeline: what lasted from one record to another, as a tree.
import type { Instance } from "../api";
import { number } from "../parts/format";
import { isWrong, millis, visitsOf, waitOf, type Attempt, type Item, type Rec, type Visit } from "./instance-history";

/** What the colour of a bar means; its word says the same. */
export type Tone = "good" | "bad" | "busy" | "wait" | "off" | "undo";

export interface Span {
  key: string;
  kind: "state" | "call" | "wait" | "retry" | "event" | "child" | "control" | "group";
  label: string;
  note?: string; // beside the label
  from: number; // ms since 1970
  to?: number; // undefined: it goes on
  tone: Tone;
  word: string; // what the tone means
  rec: Rec;
  visit?: Visit;
  attempt?: Attempt;
  children: Span[];
}

const alike = 8; // so many of the same beside each other have rows of their own

/** The rows of a history. */
export function spansOf(items: Item[], instance: Instance): Span[] {
  const out: Span[] = [];
  const stack: Span[] = []; // visits that may contain the next one
  for (const visit of visitsOf(items)) {
    const span = ofVisit(visit, instance);
    const depth = visit.records[0]!.depth ?? 0;
    while (stack.length > 0 && !contains(stack.at(-1)!, span, depth)) stack.pop();
    const parent = stack.at(-1);
    if (parent) {
      if (span.label.startsWith(parent.visit!.node + "/")) span.label = span.label.slice(parent.visit!.node.length + 1);
      parent.children.push(span);
    } else out.push(span);
    stack.push(span);
  }
  for (const i of items) if (i.record && ["control", "taken"].includes(i.record.type)) out.push(ofControl(i.record));
  out.sort((a, b) => a.rec.seq - b.rec.seq);
  return groupAlike(out);
}

/** Whether a visit is part of one that began before it. */
function contains(outer: Span, inner: Span, depth: number): boolean {
  const v = outer.visit!;
  if (inner.visit!.node.startsWith(v.node + "/")) return outer.to === undefined || outer.to >= inner.from;
  return depth > (v.records[0]!.depth ?? 0) && (!v.left || v.left.seq > inner.rec.seq) && !v.node.includes("/");
}

function ofVisit(v: Visit, i: Instance): Span {
  const first = v.records[0]!;
  const last = v.records.at(-1)!;
  const base = { key: "v" + first.seq, kind: "state" as const, label: v.node, from: millis(first.time), rec: first, visit: v, children: partsOf(v, i) };
  if (v.undone) return { ...base, to: millis(v.left!.time), tone: "undo", word: "undone" };
  if (i.status === "completed" && i.job?.group === "FAILED" && i.job.state === v.node) return { ...base, to: millis(v.left?.time ?? i.ended ?? last.time), tone: "bad", word: "failed" };
  if (v.left) return { ...base, to: millis(v.left.time), tone: "good", word: v.error ? "done after errors" : "done" };
  if (v.handled) return { ...base, to: millis(v.handled.time), tone: "bad", word: "error handled" };
  if (v.over) return { ...base, to: millis(last.time), tone: v.error ? "bad" : "off", word: v.error ? "failed" : "did not finish" };
  if (v.cut) return { ...base, to: millis(last.time), tone: "off", word: "partly read" };
  if (i.ended) {
    if (i.status === "failed" && v.error) return { ...base, to: millis(last.time), tone: "bad", word: "failed" };
    if (i.status === "completed") return { ...base, to: millis(i.ended), tone: "good", word: "done" };
    return { ...base, to: millis(i.ended), tone: "off", word: i.status === "failed" ? "did not finish" : i.status };
  }
  return { ...base, to: undefined, ...standing(i) };
}

function standing(i: Instance): { tone: Tone; word: string } {
  if (i.status === "running") return { tone: "busy", word: "running" };
  return { tone: "wait", word: i.status };
}

/** What happened inside of a visit, but for the visits of other states. */
function partsOf(v: Visit, i: Instance): Span[] {
  const out: Span[] = v.attempts.map((a) => ofCall(a, i));
  const spawned = new Map<string, Span>();
  let wait: Span | undefined; // the last one that is open
  const closeWait = (r: Rec, tone: Tone, word: string) => {
    if (wait) Object.assign(wait, { to: millis(r.time), tone, word });
    wait = undefined;
  };
  v.records.forEach((r) => {
    const base = { key: "r" + r.seq, from: millis(r.time), rec: r, children: [] };
    const open = i.ended ? { to: millis(i.ended), tone: "off" as const, word: "did not finish" } : { to: undefined, tone: "wait" as const, word: "waiting" };
    switch (r.type) {
      case "waiting":
        closeWait(r, "off", "over");
        wait = { ...base, kind: "wait", label: waitOf(r), note: "waits", ...open };
        out.push(wait);
        break;
      case "retrying": {
        const due = r.at ? millis(r.at) : base.from;
        const over = i.ended ? Math.min(due, millis(i.ended)) : due > Date.now() ? undefined : due;
        out.push({ ...base, kind: "retry", label: "back-off", note: `before attempt ${(r.attempt ?? 1) + 1}`, to: over, tone: "wait", word: over === undefined ? "waiting" : "waited" });
        break;
      }
      case "spawned": {
        const child: Span = { ...base, kind: "child", label: r.name ?? "workflow", note: itemNote(r), ...open };
        if (!i.ended) Object.assign(child, { tone: "busy", word: "in flight" });
        if (r.ticket) spawned.set(r.ticket, child);
        out.push(child);
        break;
      }
      case "childEnded": {
        const child = r.ticket ? spawned.get(r.ticket) : undefined;
        if (child) Object.assign(child, { to: millis(r.time), tone: r.error ? "bad" : "good", word: r.error ? r.error.name : "done" });
        break;
      }
      case "consumed":
        closeWait(r, "good", "arrived");
        out.push({ ...base, kind: "event", label: r.name ?? "event", note: "event arrived", to: base.from, tone: "good", word: "arrived" });
        break;
      case "produced":
        out.push({ ...base, kind: "event", label: r.name ?? "event", note: "event sent", to: base.from, tone: "good", word: "sent" });
        break;
      case "timedOut":
        closeWait(r, "bad", "timed out");
        out.push({ ...base, kind: "event", label: "timed out", note: r.text, to: base.from, tone: "bad", word: "timed out" });
        break;
      case "left":
        closeWait(r, "good", "over");
    }
  });
  return out;
}

function ofCall(a: Attempt, i: Instance): Span {
  const r = a.called;
  const e = a.ended;
  const base = { key: "c" + r.seq, kind: "call" as const, label: a.function, note: [r.attempt && r.attempt > 1 ? `attempt ${r.attempt}` : "", itemNote(r)].filter(Boolean).join(", "), from: millis(r.time), rec: r, attempt: a, children: [] };
  if (!e) return i.ended ? { ...base, to: millis(i.ended), tone: "off", word: "no answer" } : { ...base, to: undefined, tone: "busy", word: "in flight" };
  const status = e.exchange?.status ?? e.error?.status;
  if (isWrong(e)) return { ...base, to: millis(e.time), tone: "bad", word: [status, e.error?.name ?? "timed out"].filter(Boolean).join(" ") };
  return { ...base, to: millis(e.time), tone: "good", word: status ? String(status) : "returned" };
}

function itemNote(r: Rec): string | undefined {
  return r.index === undefined ? undefined : `item ${number(r.index)}`;
}

function ofControl(r: Rec): Span {
  const at = millis(r.time);
  const label = r.type === "taken" ? `${r.name} sent ${r.text ?? ""}` : `${r.name} by ${r.text ?? "an operator"}`;
  return { key: "k" + r.seq, kind: "control", label, from: at, to: at, tone: "off", word: r.type === "taken" ? "moved" : "intervention", rec: r, children: [] };
}

/** A task that is nothing but a call has one row, not two. */
function plain(s: Span) {
  const [only, more] = s.children;
  if (s.kind !== "state" || !only || more || only.kind !== "call" || only.label !== s.label.split("/").at(-1)) return;
  Object.assign(s, { kind: "call", note: only.note, attempt: only.attempt, tone: s.tone === "good" && s.word === "done" ? only.tone : s.tone, word: s.tone === "undo" ? s.word : only.word, children: [] });
}

/** Puts many of the same into one row: the items of a foreach, the turns of a loop. */
function groupAlike(list: Span[]): Span[] {
  const by = new Map<string, Span[]>();
  for (const s of list) {
    s.children = groupAlike(s.children.sort((a, b) => a.from - b.from || a.rec.seq - b.rec.seq));
    plain(s);
    const key = s.kind + " " + s.label;
    const same = by.get(key);
    if (same) same.push(s);
    else by.set(key, [s]);
  }
  const out: Span[] = [];
  for (const s of list) {
    const same = by.get(s.kind + " " + s.label)!;
    if (same.length <= alike) out.push(s);
    else if (same[0] === s) out.push(groupOf(same));
  }
  return out;
}

function groupOf(list: Span[]): Span {
  const first = list[0]!;
  const count = (tones: Tone[]) => list.filter((s) => tones.includes(s.tone)).length;
  const [bad, open] = [count(["bad"]), list.filter((s) => s.to === undefined).length];
  const done = count(["good", "undo"]);
  const n = number;
  const word = [bad && `${n(bad)} failed`, open && `${n(open)} ${first.kind === "call" || first.kind === "child" ? "in flight" : "open"}`, done && `${n(done)} done`].filter(Boolean).join(" · ");
  const indexes = list.flatMap((s) => (s.rec.index === undefined ? [] : [s.rec.index]));
  const range = indexes.length > 1 ? `items ${n(Math.min(...indexes))} to ${n(Math.max(...indexes))}` : "";
  return {
    key: "g" + first.key,
    kind: "group",
    label: first.label,
    note: [`×${n(list.length)}`, range].filter(Boolean).join(", "),
    from: Math.min(...list.map((s) => s.from)),
    to: open ? undefined : Math.max(...list.map((s) => s.to!)),
    tone: bad ? "bad" : open ? (first.kind === "call" || first.kind === "child" ? "busy" : list.find((s) => s.to === undefined)!.tone) : done ? "good" : "off",
    word: word || `${n(list.length)}`,
    rec: first.rec,
    children: list,
  };
}

/** A visible row. */
export interface Shown {
  span: Span;
  depth: number;
  open?: boolean; // undefined: nothing to open
  more?: number; // instead of the row: how many rows of span are left out
}

export const rowsAtOnce = 50; // of one group

/** The rows that are visible. extent says of which groups more are shown. */
export function shownOf(spans: Span[], isOpen: (s: Span) => boolean, extent: Map<string, number>): Shown[] {
  const out: Shown[] = [];
  const walk = (list: Span[], depth: number, of?: Span) => {
    let rows = list;
    if (of?.kind === "group") {
      rows = [...list.filter((s) => s.tone === "bad"), ...list.filter((s) => s.tone !== "bad" && s.to === undefined), ...list.filter((s) => s.tone !== "bad" && s.to !== undefined)];
    }
    const most = of ? (extent.get(of.key) ?? rowsAtOnce) : Infinity;
    for (const span of rows.slice(0, most)) {
      const open = span.children.length > 0 ? isOpen(span) : undefined;
      out.push({ span, depth, open });
      if (open) walk(span.children, depth + 1, span);
    }
    if (rows.length > most) out.push({ span: of!, depth, more: rows.length - most });
  };
  walk(spans, 0);
  return out;
}

/** How many rows there are if all but groups is open. */
export function outlineOf(list: Span[]): number {
  return list.reduce((n, s) => n + 1 + (s.kind === "group" ? 0 : outlineOf(s.children)), 0);
}

/** Every span, outer ones first. */
export function everySpan(list: Span[]): Span[] {
  return list.flatMap((s) => [s, ...everySpan(s.children)]);
}
