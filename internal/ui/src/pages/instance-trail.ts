// The trail of an instance on its diagram: how each state stands, and which ways were taken.
import type { Fault, Instance } from "../api";
import type { EdgeMark, Fact, Link, NodeMark } from "../parts/diagram";
import { span } from "../parts/format";
import { millis, visitsOf, type Item, type Rec, type Visit } from "./instance-history";

export interface Trail {
  marks: Map<string, NodeMark>;
  edges: Map<string, EdgeMark>;
  facts: (state: string) => Fact[];
}

/** What a history says about a diagram with these ways. */
export function trailOf(items: Item[], records: Rec[], instance: Instance, links: Link[]): Trail {
  const visits = new Map<string, Visit[]>();
  for (const visit of visitsOf(items)) {
    if (visit.records[0]!.type === "compensating") continue; // of an earlier visit
    const list = visits.get(visit.node);
    if (list) list.push(visit);
    else visits.set(visit.node, [visit]);
  }
  return { marks: marksOf(visits, items, records, instance), edges: edgesOf(records, links), facts: (state) => factsOf(visits.get(state)?.at(-1)) };
}

function marksOf(visits: Map<string, Visit[]>, items: Item[], records: Rec[], instance: Instance): Map<string, NodeMark> {
  const out = new Map<string, NodeMark>();
  const partly = items.some((i) => !i.visit && !i.record);
  const undone = new Map<string, number>();
  for (const r of records) if (r.type === "compensating" && r.node) undone.set(r.node, (undone.get(r.node) ?? 0) + 1);
  const here = placesOf(visits, instance);
  const kindHere = ({ failed: "failed", paused: "paused", running: "active", waiting: "waiting" } as const)[instance.status as string];
  for (const node of new Set([...visits.keys(), ...(kindHere ? here : [])])) {
    const list = visits.get(node) ?? [];
    const last = list.at(-1);
    const gone = undone.get(node) ?? 0;
    let kind: NonNullable<NodeMark["kind"]> = last?.left || (last && instance.status === "completed") ? "done" : "none";
    if (last && !last.left && ((last.over && last.error) || last.records.some((r) => r.type === "caught"))) kind = "caught";
    if (gone > 0 && gone >= list.filter((v) => v.left).length) kind = "undone";
    if (kindHere && here.has(node)) kind = kindHere;
    if (instance.status === "completed" && instance.job?.group === "FAILED" && instance.job.state === node) kind = "failed";
    const visited = list.filter((v) => !again(v)).length; // a retry is another attempt, not another visit
    const times = visited > 1 ? `×${visited}${partly ? "+" : ""}` : "";
    const some = gone > 0 && kind !== "undone" ? `${gone} undone` : "";
    const tries = last ? triesOf(last) : 0;
    const attempt = tries > 1 ? `attempt ${tries}` : "";
    const end = last && (last.left ?? (kind === "failed" ? last.records.at(-1) : undefined));
    const took = end && !last.cut ? millis(end.time) - millis(last.records[0]!.time) : 0;
    const text = [signs[kind], times, some].filter(Boolean).join(" ");
    out.set(node, {
      kind,
      note: [times, some, attempt].filter(Boolean).join(", "),
      badges: text ? [{ text, bad: kind === "failed" }] : [],
      below: [attempt, took > 0 && span(took)].filter(Boolean).join(" · ") || undefined,
    });
  }
  return out;
}

// A sign or a word for each kind, so that colour alone tells nothing.
export const signs: Record<NonNullable<NodeMark["kind"]>, string> = { none: "", done: "✓", active: "▶ now", waiting: "◷ waits", paused: "‖ paused", failed: "✕ failed", undone: "↶ undone", caught: "✕ caught" };

/** Where the instance is, or where it failed, with what is open inside. */
function placesOf(visits: Map<string, Visit[]>, instance: Instance): Set<string> {
  const failed = instance.status === "failed" && instance.error?.node ? [instance.error.node] : [];
  const here = instance.job ? [instance.job.state] : [...(instance.states ?? []), ...failed];
  for (const [node, list] of visits) {
    const last = list.at(-1)!;
    if (!last.left && !last.over && !last.cut && here.some((h) => node.startsWith(h + "/"))) here.push(node);
  }
  return new Set(here);
}

/** Whether a visit is a retry: the try around it ran it again. */
function again(v: Visit): boolean {
  return (v.attempts[0]?.called.attempt ?? 1) > 1;
}

/**
 * The attempt that a visit came to: of a retry its calls tell; an operator's retry is known by calls of the
 * same that followed an error. Items of a collection are no attempts: each has a frame of its own.
 */
function triesOf(v: Visit): number {
  const of = v.attempts.findLast((a) => a.ended?.error) ?? v.attempts.at(-1);
  const alike = v.attempts.filter((a) => a.function === of?.function && a.called.frame === of.called.frame);
  return Math.max(1, v.error ? alike.length : 1, of?.called.attempt ?? 1, v.attempts.at(-1)?.called.attempt ?? 1);
}

/**
 * The ways that were taken: where a state is entered, it is from the last one that was left, or
 * whose error was handled, and that has a way to it.
 */
function edgesOf(records: Rec[], links: Link[]): Map<string, EdgeMark> {
  const out = new Map<string, EdgeMark>();
  const into = new Map<string, Link[]>();
  for (const l of links) {
    const list = into.get(l.to ?? "");
    if (list) list.push(l);
    else into.set(l.to ?? "", [l]);
  }
  const exits = new Map<string, { seq: number; how: string; used: boolean; of: Rec }>(); // of each state, the last
  let undoing = "";
  const take = (to: string, entered: Rec) => {
    let best: Link | undefined;
    let score = -1;
    for (const l of into.get(to) ?? []) {
      const exit = exits.get(l.from ?? "");
      const fits = l.kind === "compensate" ? l.from === undoing : exit && !exit.used && (exit.how === "caught") === (l.kind === "error");
      const at = l.kind === "compensate" ? Infinity : l.kind === "timeout" && exit?.how !== "timedOut" ? (exit?.seq ?? 0) - 0.5 : (exit?.seq ?? 0);
      if (fits && at > score) [best, score] = [l, at];
    }
    if (!best) return;
    const exit = exits.get(best.from ?? "");
    if (exit && best.kind !== "compensate") exit.used = true;
    if (best.kind === "compensate") undoing = "";
    const over = () => overOf(best.kind === "compensate" ? entered : exit?.of, entered);
    out.set(best.key, { times: (out.get(best.key)?.times ?? 0) + 1, over });
  };
  for (const r of records) {
    switch (r.type) {
      case "started":
        exits.set("", { seq: r.seq, how: "left", used: false, of: r });
        break;
      case "entered":
        if (r.node) take(r.node, r);
        break;
      case "left":
      case "caught":
      case "taken":
        if (r.node) exits.set(r.node, { seq: r.seq, how: r.type === "caught" ? "caught" : "left", used: false, of: r });
        break;
      case "compensating":
        undoing = r.node ?? "";
        break;
      case "finished":
        if (r.status === "completed") take("", r);
    }
  }
  return out;
}

const factLong = 240;

/** Data in one line, cut where it is long. */
export function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > factLong ? text.slice(0, factLong) + "…" : text;
}

/** What a way carried: the error that it handles, or the data that was left with, else with which it went on. */
function overOf(exit: Rec | undefined, entered: Rec): Fact[] {
  if (exit?.error) return [errorOf(exit.error)];
  const data = exit?.data ?? entered.data;
  return data === undefined ? [] : [{ name: "Data", text: short(data) }];
}

const errorOf = (e: Fault): Fact => ({ name: "Error", text: [e.name, e.detail].filter(Boolean).join(": ") });

/** The data of a visit in short. */
function factsOf(visit?: Visit): Fact[] {
  if (!visit) return [];
  const entered = visit.records.find((r) => r.type === "entered");
  const error = visit.records.findLast((r) => r.error)?.error;
  const out: Fact[] = [];
  if (entered?.data !== undefined) out.push({ name: "Input", text: short(entered.data) });
  if (visit.left?.data !== undefined) out.push({ name: "Output", text: short(visit.left.data) });
  else if (error) out.push(errorOf(error));
  return out;
}
