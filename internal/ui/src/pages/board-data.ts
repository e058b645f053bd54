// What the board shows, and how it is read. Jobs come from wfx's interface on the north,
// where whoever looks at this page is the actor WFX.
import { api, ask, get } from "../api";

export interface Workflow {
  name: string;
  description?: string;
  groups?: { name: string; description?: string; states: string[] }[];
  states: { name: string; description?: string }[];
  transitions?: { from: string; to: string; eligible: "CLIENT" | "WFX"; action?: string; description?: string }[];
}

export interface Card {
  id: string;
  title: string | null; // what its definition calls it
  client: string;
  tags: string[] | null;
  state: string;
  progress: number | null;
  message: string | null;
  stime: string;
  mtime: string;
}

export interface Lane {
  state: string;
  description: string;
  /** Only devices move jobs here. */
  devices: boolean;
  /** What is here has failed: the group says so. */
  failed: boolean;
  count: number;
  cards: Card[];
}

export interface Group {
  name: string; // "": of the states without one
  description: string;
  lanes: Lane[];
}

export interface BoardData {
  workflow: Workflow;
  groups: Group[];
  left: number; // lanes that are not shown, as they are too many
}

export const laneStep = 50; // cards of a lane at first, and with each "more"
export const laneMost = 200; // cards of a lane that are ever shown
const mostLanes = 60;

const wfx = (...parts: string[]) => "/api/wfx/v1/" + parts.map(encodeURIComponent).join("/");

// Each job comes with its whole workflow; the server leaves that away.
const brief =
  "[.content[] | {id, client: .clientId, title: ((.definition | objects | (.title // .name) | strings) // null), tags, stime, mtime, state: .status.state, progress: .status.progress, message: .status.message}]";

/** Reads a board; wanted says how many cards of a lane are to be there. */
export async function readBoard(name: string, wanted: Record<string, number>, signal: AbortSignal): Promise<BoardData> {
  const [workflow, heat] = await Promise.all([
    get<Workflow>(wfx("workflows", name), signal),
    get<{ states: { state: string; now: number }[] }>(api("definitions", name, "heat"), signal),
  ]);
  const counts = new Map(heat.states.map((s) => [s.state, s.now]));
  let room = mostLanes;
  const groups = grouped(workflow)
    .map((g) => ({ ...g, lanes: g.states.filter((s) => counts.get(s) || room-- > 0).map((s) => laneOf(workflow, s, counts.get(s) ?? 0)) }))
    .filter((g) => g.lanes.length > 0);
  const lanes = groups.flatMap((g) => g.lanes);
  await inTurns(
    lanes.filter((l) => l.count > 0),
    async (l) => void (l.cards = await readCards(name, l.state, Math.min(wanted[l.state] ?? laneStep, laneMost), signal)),
  );
  for (const l of lanes) l.count = Math.max(l.count, l.cards.length);
  return { workflow, groups, left: workflow.states.length - lanes.length };
}

async function readCards(workflow: string, state: string, limit: number, signal: AbortSignal): Promise<Card[]> {
  const query = new URLSearchParams({ workflow, state, limit: String(limit), sort: "desc" });
  const r = await ask<string>(wfx("jobs") + "?" + query, { signal, text: true, headers: { "X-Response-Filter": brief } });
  return JSON.parse(r.data) as Card[];
}

/** Does something with each of a list, a few at a time: a browser has six connections. */
async function inTurns<T>(list: T[], f: (item: T) => Promise<void>) {
  const rest = [...list];
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      for (let next = rest.shift(); next; next = rest.shift()) await f(next);
    }),
  );
}

/** The states of each group together, groups in the order of their first state. */
function grouped(w: Workflow): { name: string; description: string; states: string[] }[] {
  const out = new Map<string, { name: string; description: string; states: string[] }>();
  for (const s of w.states) {
    const g = w.groups?.find((g) => g.states.includes(s.name));
    // States without a group stay where they are: those before a group are not those after it.
    const key = g ? "g" + g.name : "-" + [...out.keys()].filter((k) => k.startsWith("g")).length;
    if (!out.has(key)) out.set(key, { name: g?.name ?? "", description: g?.description ?? "", states: [] });
    out.get(key)!.states.push(s.name);
  }
  return [...out.values()];
}

function laneOf(w: Workflow, state: string, count: number): Lane {
  const into = (w.transitions ?? []).filter((t) => t.to === state && t.from !== state);
  return {
    state,
    description: w.states.find((s) => s.name === state)?.description ?? "",
    devices: into.length > 0 && into.every((t) => t.eligible === "CLIENT"),
    failed: w.groups?.find((g) => g.states.includes(state))?.name === "FAILED",
    count,
    cards: [],
  };
}

/** What people call a job: its title, else the device that it is for. */
export function titleOf(card: Card): string {
  return card.title || card.client;
}

/** Whether a text is on a card. */
export function says(card: Card, text: string): boolean {
  return [card.title, card.client, card.id, card.message, ...(card.tags ?? [])].some((s) => s?.toLowerCase().includes(text));
}

/** Where a card in a state can go, and who may move it there. */
export function movesFrom(w: Workflow, state: string): { to: string; legal: boolean; description: string }[] {
  const out = new Map<string, { to: string; legal: boolean; description: string }>();
  for (const t of w.transitions ?? []) {
    if (t.from !== state || t.to === state) continue;
    const legal = t.eligible === "WFX";
    const had = out.get(t.to);
    if (!had || (legal && !had.legal)) out.set(t.to, { to: t.to, legal, description: t.description ?? "" });
  }
  return [...out.values()].sort((a, b) => Number(b.legal) - Number(a.legal));
}

/** Someone else changed the job first. */
export class Meanwhile extends Error {}

/** Moves a job. It counts only if the job is still as the mover saw it. */
export async function moveJob(card: Pick<Card, "id" | "client" | "state">, to: string): Promise<string> {
  const path = wfx("jobs", card.id);
  const now = await ask<{ status: { state: string } }>(path);
  const state = now.data.status.state;
  if (state !== card.state) throw new Meanwhile(`Someone else was faster: ${card.client} is in ${state} now.`);
  try {
    const r = await ask<{ state: string }>(path + "/status", { method: "PUT", body: { state: to }, headers: { "If-Match": now.etag } });
    return r.data.state;
  } catch (e) {
    if ((e as { code?: string }).code === "wfx.jobModifiedConcurrently") throw new Meanwhile(`Someone else was faster: ${card.client} changed meanwhile.`);
    throw e;
  }
}

/**
 * What to show while someone points at the board: the cards stay where they are, and only
 * what is on them is new. changes counts what that keeps back.
 */
export function hold(shown: BoardData, next: BoardData): { data: BoardData; changes: number } {
  const lanes = new Map(next.groups.flatMap((g) => g.lanes).map((l) => [l.state, l]));
  let changes = 0;
  const groups = shown.groups.map((g) => ({
    ...g,
    lanes: g.lanes.map((l) => {
      const now = lanes.get(l.state);
      const cards = new Map(now?.cards.map((c) => [c.id, c]));
      const had = new Set(l.cards.map((c) => c.id));
      changes += (now?.cards ?? []).filter((c) => !had.has(c.id)).length;
      return { ...l, count: now?.count ?? 0, cards: l.cards.map((c) => cards.get(c.id) ?? c) };
    }),
  }));
  const all = new Set(next.groups.flatMap((g) => g.lanes).flatMap((l) => l.cards.map((c) => c.id)));
  for (const l of shown.groups.flatMap((g) => g.lanes)) changes += l.cards.filter((c) => !all.has(c.id)).length;
  return { data: { ...shown, groups }, changes };
}

/** The board after a card was moved, before the server has told of it. */
export function moved(data: BoardData, card: Card, to: string): BoardData {
  const lane = (l: Lane): Lane => {
    if (l.state === to) return { ...l, count: l.count + 1, cards: [{ ...card, state: to, progress: null, message: null }, ...l.cards] };
    if (l.state !== card.state) return l;
    return { ...l, count: Math.max(0, l.count - 1), cards: l.cards.filter((c) => c.id !== card.id) };
  };
  return { ...data, groups: data.groups.map((g) => ({ ...g, lanes: g.lanes.map(lane) })) };
}
