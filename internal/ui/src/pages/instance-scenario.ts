// A run as a test: the input, how functions answered, which events came when, and what came
// of it, in the form that `lockstep test` reads. YAML takes JSON as it is.
import type { Fault, Instance } from "../api";
import type { Rec } from "./instance-history";

export interface Run {
  instance: Instance;
  records: Rec[];
}

/** Whether a run can be told as a scenario, which knows neither cancelling nor skipping. */
export function canSave(instance: Instance): boolean {
  return instance.job !== undefined || instance.status === "completed" || instance.status === "failed";
}

/** The file's text. children are the instances that the run started, and theirs. */
export function scenarioOf(run: Run, children: Run[]): string {
  const { instance } = run;
  const cut = cutAt(run.records);
  const own = cut.records;
  const clock = new Clock(run.records, cut.dropped);
  const definitions = [...new Set([instance.definition.id, ...children.map((c) => c.instance.definition.id)])];
  const workflow = definitions.map((id) => id + ".yaml");
  const last = own.at(-1);
  const lines = [
    `# Made of instance ${instance.id} of ${instance.definition.id}@${instance.definition.version}.`,
    `# Put it beside ${workflow.join(" and ")} and run: lockstep test ${fileName(instance)}`,
  ];
  if (cut.note) lines.push("# " + cut.note);
  lines.push(`workflow: ${json(workflow.length === 1 ? workflow[0] : workflow)}`, "scenarios:", `- name: ${json(titleOf(instance, last))}`);
  lines.push(`  clock: ${json(run.records[0]?.time ?? instance.created)}`);
  lines.push(...(instance.job ? jobLines(instance, own, clock) : flowLines(instance, own, children, clock, cut.dropped)));
  lines.push("  expect:", ...expectation(instance, own).map((line) => "    " + line));
  return lines.join("\n") + "\n";
}

export function fileName(instance: Instance): string {
  return instance.definition.id.replace(/[^\w.-]+/g, "_") + "_test.yaml";
}

function titleOf(instance: Instance, last?: Rec): string {
  const how = last?.type === "finished" ? last.status : instance.status;
  return `${how} as instance ${instance.id}`;
}

function json(value: unknown): string {
  return JSON.stringify(value);
}

/** What was done by hand is left out where the run is the same without it, else the run is told up to there. */
function cutAt(records: Rec[]): { records: Rec[]; dropped: Set<number>; note?: string } {
  const dropped = new Set<number>(); // records of calls that failed and were retried by hand
  for (const [i, r] of records.entries()) {
    if (r.type !== "control" || r.name === "pause" || r.name === "resume") continue;
    const before = records.slice(0, i);
    const failed = before.findLast((b) => b.type === "callFailed");
    if (r.name === "retry" && r.data === undefined && failed && before.at(-1)?.type === "finished") {
      const called = before.findLast((b) => b.type === "called" && b.ticket === failed.ticket);
      for (const gone of [called, failed, before.at(-1), r]) if (gone) dropped.add(gone.seq);
      continue;
    }
    return { records: before.filter((b) => !dropped.has(b.seq)), dropped, note: `Up to where somebody intervened (${r.name}), which a scenario cannot tell.` };
  }
  return { records: records.filter((r) => !dropped.has(r.seq)), dropped };
}

/** Time since the start, without that between a failure and its retry by hand. */
class Clock {
  private start: number;
  private gaps: { from: number; to: number }[] = [];

  constructor(records: Rec[], dropped: Set<number>) {
    this.start = Date.parse(records[0]?.time ?? "") || 0;
    const gone = records.filter((r) => dropped.has(r.seq));
    for (const [i, r] of gone.entries()) {
      if (r.type !== "control") continue;
      const called = gone.slice(0, i).findLast((g) => g.type === "called");
      if (called) this.gaps.push({ from: Date.parse(called.time), to: Date.parse(r.time) });
    }
  }

  at(time: string): number {
    const t = Date.parse(time);
    const lost = this.gaps.reduce((sum, g) => sum + (t >= g.to ? g.to - g.from : 0), 0);
    return Math.max(0, t - this.start - lost);
  }
}

/** Milliseconds as an ISO 8601 duration. */
function duration(ms: number): string {
  return `PT${ms / 1000}S`;
}

function flowLines(instance: Instance, own: Rec[], children: Run[], clock: Clock, dropped: Set<number>): string[] {
  const out: string[] = [];
  const byEvent = instance.id.startsWith("event:");
  if (!byEvent) out.push(`  input: ${json(own[0]?.data ?? {})}`);
  const all = [{ records: own }, ...children].flatMap((run, n) => run.records.map((r) => ({ r, n })));
  all.sort((a, b) => Date.parse(a.r.time) - Date.parse(b.r.time) || a.n - b.n || a.r.seq - b.r.seq);
  const mocks = new Map<string, unknown[]>();
  for (const { r, n } of all) {
    if (r.type !== "called" || (n === 0 && dropped.has(r.seq))) continue;
    const answer = all.find((o) => o.n === n && o.r.seq > r.seq && o.r.ticket === r.ticket && (o.r.type === "returned" || o.r.type === "callFailed"))?.r;
    mocks.set(r.name ?? "", [...(mocks.get(r.name ?? "") ?? []), mockOf(r, answer)]);
  }
  if (mocks.size > 0) out.push("  mocks:");
  for (const [name, answers] of mocks) {
    if (answers.length === 1) out.push(`    ${json(name)}: ${json(answers[0])}`);
    else out.push(`    ${json(name)}:`, ...answers.map((a) => `    - ${json(a)}`));
  }
  const seen = new Set<string>();
  const events: string[] = [];
  for (const { r } of all) {
    const e = r.data as { source?: string; id?: string } | undefined;
    if (r.type !== "consumed" || !e || seen.has(json([e.source, e.id]))) continue;
    seen.add(json([e.source, e.id]));
    events.push(`  - {at: ${duration(clock.at(r.time))}, event: ${json(e)}}`);
  }
  if (events.length > 0) out.push("  events:", ...events);
  return out;
}

function mockOf(called: Rec, answer?: Rec): unknown {
  if (!answer) return { delay: "P1D", result: {} }; // a timeout came first
  const ms = Date.parse(answer.time) - Date.parse(called.time);
  const delay = ms > 0 ? { delay: duration(ms) } : {};
  return answer.type === "returned" ? { ...delay, result: answer.data ?? null } : { ...delay, error: errorOf(answer.error) };
}

function errorOf(e?: Fault): Record<string, unknown> {
  const out: Record<string, unknown> = { name: e?.name ?? "Error" };
  for (const key of ["code", "status", "title", "type", "detail"] as const) if (e?.[key]) out[key] = e[key];
  if (e?.data !== undefined) out.data = e.data;
  return out;
}

function jobLines(instance: Instance, own: Rec[], clock: Clock): string[] {
  const started = own[0]?.data as { clientId?: string; definition?: unknown } | undefined;
  const out = [`  client: ${json(started?.clientId ?? instance.job!.client)}`, `  input: ${json(started?.definition ?? {})}`];
  const takes = own.filter((r) => r.type === "taken");
  if (takes.length > 0) out.push("  takes:");
  for (const r of takes) {
    const sent = (r.data ?? {}) as Record<string, unknown>;
    const more: Record<string, unknown> = {};
    for (const key of ["progress", "message", "context"]) if (sent[key] !== undefined) more[key] = sent[key];
    out.push(`  - ${json({ at: duration(clock.at(r.time)), actor: r.name, state: r.text, ...more })}`);
  }
  return out;
}

function expectation(instance: Instance, own: Rec[]): string[] {
  const path = own.filter((r) => r.type === "entered" && !r.depth).map((r) => r.node);
  if (instance.job) {
    return [`status: ${instance.status === "completed" ? "completed" : "waiting"}`, `state: ${json(instance.job.state)}`, `path: ${json(path)}`];
  }
  const end = own.findLast((r) => r.type === "finished");
  const out = [`status: ${end?.status ?? instance.status}`, `path: ${json(path)}`];
  if (end?.status === "completed") out.push(`output: ${json(end.data ?? null)}`);
  if (end?.error) out.push(`error: ${json(end.error.code ? { name: end.error.name, code: end.error.code } : { name: end.error.name })}`);
  return out;
}
