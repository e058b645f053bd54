// One stream for all tabs: browsers allow a server only six connections. The tab that
// holds the lock reads the stream and tells the others; when it closes, the next one goes
// on from the position that it saw last, so that nothing is missed between.
import { signal } from "@preact/signals";
import { needsToken, signedIn } from "./api";

export interface Change {
  instance: string;
  definition: string;
}

/** How the page stands to the server. */
export const connection = signal<"connecting" | "live" | "lost">("connecting");

type Message =
  | { kind: "changes"; pos: string; changes: Change[] }
  | { kind: "reset"; pos: string }
  | { kind: "state"; state: "connecting" | "live" | "lost" }
  | { kind: "hello" } // from a tab that opens
  | { kind: "stand"; pos: string; state: "connecting" | "live" | "lost" }; // to it

const heard = new Set<(changes: Change[]) => void>();
const missed = new Set<() => void>();
let last = "";
let reading = false; // this tab is the one that reads

/** Calls back with all changes, many at a time where they come fast, until the returned function is called. */
export function onChanges(f: (changes: Change[]) => void): () => void {
  heard.add(f);
  return () => heard.delete(f);
}

/** Calls back when changes may have been missed: then look at everything again. */
export function onReset(f: () => void): () => void {
  missed.add(f);
  return () => missed.delete(f);
}

const channel = new BroadcastChannel("lockstep-stream");

function take(m: Message) {
  switch (m.kind) {
    case "changes":
      last = m.pos;
      for (const f of heard) f(m.changes);
      break;
    case "reset":
      last = m.pos;
      for (const f of missed) f();
      break;
    case "state":
      connection.value = m.state;
      break;
    case "hello":
      if (reading) channel.postMessage({ kind: "stand", pos: last, state: connection.value } satisfies Message);
      break;
    case "stand":
      if (!reading) connection.value = m.state;
      if (!last) last = m.pos;
  }
}

function tell(m: Message) {
  take(m);
  channel.postMessage(m);
}

channel.onmessage = (e) => take(e.data as Message);

/** Begins to follow the stream, in this tab or through another. */
export function follow() {
  channel.postMessage({ kind: "hello" } satisfies Message);
  if (navigator.locks) void navigator.locks.request("lockstep-stream", read);
  else void read();
}

async function read(): Promise<void> {
  reading = true;
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      await readOnce(() => (wait = 250));
    } catch (e) {
      if (e === forbidden) return;
      // the rest is told by the state below
    }
    tell({ kind: "state", state: "lost" });
    await new Promise((done) => setTimeout(done, wait));
  }
}

// The server says something every 15 seconds. Where it does not, the connection is dead,
// and nobody has told.
const longestSilence = 60_000;

const forbidden = new Error("the role of this token may not read the stream"); // of another token it may: the page is then loaded again

async function readOnce(alive: () => void): Promise<void> {
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (last) headers["Last-Event-ID"] = last;
  const silence = new AbortController();
  let timer = 0;
  const heard = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => silence.abort(), longestSilence);
  };
  heard();
  const before = signedIn.peek();
  const r = await fetch("/api/v1/stream", { headers, cache: "no-store", signal: silence.signal });
  if (r.status === 401 && signedIn.peek() === before) needsToken.value = true;
  if (r.status === 403) throw forbidden;
  if (!r.ok || !r.body) throw new Error(String(r.status));
  const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return clearTimeout(timer);
    alive();
    heard();
    const texts = (rest + value).split("\n\n");
    rest = texts.pop()!;
    tellAll(texts.map(frameOf));
  }
}

type Frame = Partial<Record<"id" | "event" | "data", string>>;

function frameOf(text: string): Frame {
  const f: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const i = line.indexOf(":");
    if (i > 0) f[line.slice(0, i)] = line.slice(i + 1).trim();
  }
  return f;
}

/** Tells of the frames that came together. Changes in a row are one message: thousands may come in a second. */
function tellAll(frames: Frame[]) {
  let changes: Change[] = [];
  for (const [n, { id = "", event, data = "{}" }] of frames.entries()) {
    if (event === "change") {
      const { instance, definition } = JSON.parse(data) as Change; // of the rest nothing is shown
      changes.push({ instance, definition });
      if (frames[n + 1]?.event === "change") continue;
      tell({ kind: "changes", pos: id, changes });
      changes = [];
    } else if (event === "ready" || event === "reset") {
      tell({ kind: "state", state: "live" });
      // Pages may have loaded what they show before the first position.
      if (event === "reset" || !last) tell({ kind: "reset", pos: id });
    }
  }
}
