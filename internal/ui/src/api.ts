// The page talks to the same API as everybody else.
import { signal } from "@preact/signals";

/** The server wants a token that it knows; parts/signin.tsx asks for it. */
export const needsToken = signal(false);

/** Counts tokens that were entered: what was refused before may work now. */
export const signedIn = signal(0);

/** A problem as the server tells it (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = "",
    readonly body: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

export interface Answer<T> {
  data: T;
  etag: string;
  status: number;
}

export interface Ask {
  method?: string;
  body?: unknown; // a string or a form is sent as it is
  type?: string;
  text?: boolean; // the answer as text, also where it is JSON
  bytes?: boolean; // the answer as an ArrayBuffer
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Asks the server. What is not a success is a Problem; no answer is one with status 0. */
export async function ask<T>(path: string, o: Ask = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { Accept: "application/json", ...o.headers };
  let body: string | FormData | undefined;
  if (o.body instanceof FormData) {
    body = o.body; // the browser writes its type, with the boundary
  } else if (o.body !== undefined) {
    body = typeof o.body === "string" ? o.body : JSON.stringify(o.body);
    headers["Content-Type"] = o.type ?? "application/json";
  }
  const before = signedIn.peek();
  let r: Response;
  try {
    r = await fetch(path, { method: o.method ?? (body === undefined ? "GET" : "POST"), headers, body, signal: o.signal, cache: "no-store" });
  } catch (e) {
    if ((e as Error).name === "AbortError") throw e;
    throw new Problem(0, "unreachable", "The server does not respond.", "It may be stopped or restarting; the page continues when it is back.");
  }
  if (o.bytes && r.ok) return { data: (await r.arrayBuffer()) as T, etag: r.headers.get("ETag") ?? "", status: r.status };
  const text = await r.text();
  if (r.status === 401 && path !== "/api/v1/session") {
    if (signedIn.peek() !== before) return ask(path, o); // it was sent without the token that was entered meanwhile
    needsToken.value = true;
  }
  if (!r.ok) throw problemOf(r, text);
  const json = !o.text && (r.headers.get("Content-Type") ?? "").includes("json");
  return { data: (json && text ? JSON.parse(text) : text) as T, etag: r.headers.get("ETag") ?? "", status: r.status };
}

function problemOf(r: Response, text: string): Problem {
  try {
    const p = JSON.parse(text) as Record<string, unknown>;
    const first = Array.isArray(p.errors) ? (p.errors[0] as { message?: string; code?: string }) : undefined; // all that wfx's interface has
    const message = String(p.detail ?? p.title ?? first?.message ?? r.statusText);
    return new Problem(r.status, String(p.code ?? first?.code ?? ""), message, String(p.hint ?? ""), p);
  } catch {
    return new Problem(r.status, "", text.trim() || `${r.status} ${r.statusText}`);
  }
}

/** Reads something. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask<T>(path, { signal })).data;
}

/** A path of the API from its parts. */
export function api(...parts: string[]): string {
  return "/api/v1/" + parts.map(encodeURIComponent).join("/");
}

// What the API's shapes are, as far as the page uses them.

export type Status = "running" | "waiting" | "paused" | "completed" | "failed" | "cancelled" | "terminated";

export const statuses: Status[] = ["running", "waiting", "paused", "completed", "failed", "cancelled", "terminated"];

export interface Fault {
  name: string;
  code?: string;
  status?: string;
  title?: string;
  type?: string;
  detail?: string;
  node?: string;
  place?: { line: number; column: number };
  data?: unknown;
  args?: unknown;
  state?: unknown;
  cut?: string[];
  trail?: { workflow: string; node?: string; place?: { line: number; column: number } }[];
  item?: { index: number; value?: unknown; cut?: boolean };
}

/** How far a foreach is. */
export interface Progress {
  state: string;
  total: number;
  done: number;
  failed: number;
  inFlight: number;
  failures?: { index: number; item?: unknown; cut?: boolean; error: Fault }[];
}

export interface Instance {
  id: string;
  name?: string;
  key?: string;
  definition: { id: string; version: string; digest?: string };
  status: Status;
  state?: string;
  states?: string[];
  created: string;
  updated: string;
  ended?: string;
  rev: number;
  output?: unknown;
  error?: Fault;
  labels?: Record<string, unknown>;
  parent?: string;
  children?: number;
  restartOf?: string;
  quarantine?: string;
  wake?: string;
  allowed?: string[];
  job?: Job;
  progress?: Progress[];
}

/** What an instance has beside that is a job. */
export interface Job {
  client: string;
  state: string;
  group?: string;
  allowed: { actor: string; state: string }[];
}

export interface Page<T> {
  items: T[];
  next?: string | number;
}

const pageItems = 1000; // the most that a page may have
const pagesRead = 5;

/** Reads a list from its start, as far as it is read at once; more: there are others. */
export async function getAll<T>(path: string, signal?: AbortSignal): Promise<{ items: T[]; more: boolean }> {
  const items: T[] = [];
  let after = "";
  for (let n = 0; n < pagesRead; n++) {
    const page = await get<Page<T>>(path + "?" + new URLSearchParams({ limit: String(pageItems), ...(after && { after }) }), signal);
    items.push(...page.items);
    if (page.next === undefined) return { items, more: false };
    after = String(page.next);
  }
  return { items, more: true };
}

export interface Definition {
  id: string;
  version: string;
  name?: string;
  dialect: string;
  digest: string;
  deployed: string;
  current?: boolean;
  scheduled?: boolean; // it is current, and its schedule starts instances
  diagnostics?: Diagnostic[];
  paused?: Decision;
  retired?: Decision;
  path?: string;
  bundle?: string;
  inputSchema?: unknown;
}

/** Who decided something, when and why. */
export interface Decision {
  at: string;
  by?: string;
  reason?: string;
}

export interface Schedule {
  definition: string;
  version: string;
  state: "active" | "paused" | "definition-paused" | "retired" | "over";
  paused?: Decision; // what the state is about
  cron?: string;
  every?: string;
  after?: string;
  from?: string;
  until?: string;
  zone: string;
  overlap: "allow" | "skip" | "queue";
  catchUp: "latest" | "all" | "none";
  catchUpWindow?: string;
  set: { overlap?: string; catchUp?: string; catchUpWindow?: string }; // the rest is the server's
  next: string[];
  fires: Fire[]; // newest first
}

/** What became of a fire time, or of those from at until another. */
export interface Fire {
  at: string;
  until?: string;
  outcome: "started" | "triggered" | "queued" | "skipped" | "missed" | "paused";
  instance?: string;
  status?: Status; // once it is over
}

export interface Diagnostic {
  file?: string;
  line: number;
  column: number;
  severity: string;
  code: string;
  message: string;
  hint?: string;
}

/** What a deployment of definitions with their files did, or would do. */
export interface Bundle {
  digest: string;
  definitions: { definition: Definition; change: "created" | "new-version" | "replaced" | "restored" | "unchanged" }[];
  unused?: string[];
  diff?: string;
}

/** A file that a definition uses. */
export interface DefinitionFile {
  path: string;
  bytes: number;
  digest: string;
  document?: boolean;
  remote?: boolean;
}
