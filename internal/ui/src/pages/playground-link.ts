// Links that carry what was written: in the fragment of the address, which browsers keep to
// themselves.
import { nothing, type Texts } from "./playground-examples";

const mark = "play=";
export const longestLink = 32_000; // characters of the fragment; some programs cut longer links
const largest = 4 << 20; // bytes that a link may hold, unpacked

/** The fragment for what was written; null: it would be too long. */
export async function toFragment(texts: Texts): Promise<string | null> {
  const told = Object.fromEntries(Object.entries(texts).filter(([, v]) => (typeof v === "string" ? v : Object.keys(v).length)));
  const stream = new Blob([JSON.stringify(told)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  const fragment = mark + btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return fragment.length > longestLink ? null : fragment;
}

export const isLink = (hash: string) => hash.startsWith("#" + mark);

/** What a fragment carries. */
export async function fromFragment(hash: string): Promise<Texts> {
  const broken = new Error("This link is not whole: it was cut, or changed on its way. Ask for it again.");
  let text = "";
  try {
    const binary = atob(hash.slice(1 + mark.length).replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const decoder = new TextDecoder("utf-8", { fatal: true });
    for (let size = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > largest) throw broken;
      text += decoder.decode(value, { stream: true });
    }
    text += decoder.decode();
    const got = JSON.parse(text) as Partial<Texts>;
    const isText = (v: unknown) => v === undefined || typeof v === "string";
    const { definition, input, mocks, events, takes, files } = got;
    if (typeof definition !== "string" || ![input, mocks, events, takes].every(isText)) throw broken;
    if (files !== undefined && (typeof files !== "object" || files === null || !Object.values(files).every((v) => typeof v === "string"))) throw broken;
    return { ...nothing, definition, input: input ?? "", mocks: mocks ?? "", events: events ?? "", takes: takes ?? "", files: files ?? {} };
  } catch {
    throw broken;
  }
}

const prefix = "lockstep-playground-link:";
const most = 10; // links that the browser keeps
const opened = new Map<string, Texts>(); // where it keeps nothing

/** Keeps what a link carried, so that the address can be short from then on; gives its name. */
export async function keepLink(hash: string, texts: Texts): Promise<string> {
  const digest = crypto.subtle ? [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(hash)))] : [...hash].reduce((h, c) => [(h[0]! * 31 + c.charCodeAt(0)) >>> 0], [7]);
  const name = digest.slice(0, 6).map((b) => b.toString(16).padStart(2, "0")).join("");
  opened.set(name, texts);
  try {
    const kept = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    for (const key of kept.slice(0, Math.max(0, kept.length - most + 1))) localStorage.removeItem(key);
    localStorage.setItem(prefix + name, JSON.stringify(texts));
  } catch {
    // then it is there until the page is left
  }
  return name;
}

/** What a link carried that was opened in this browser. */
export function readLink(name: string): Texts | null {
  try {
    return opened.get(name) ?? (JSON.parse(localStorage.getItem(prefix + name) ?? "null") as Texts | null);
  } catch {
    return null;
  }
}
