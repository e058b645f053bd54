// Instants and durations that change while they are looked at.
import { signal } from "@preact/signals";
import { instant, passing, span } from "./format";

// One clock for all ages on the page.
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 5000);

/** How old something is. */
function ageOf(ms: number): string {
  return ms < 1000 ? "just now" : passing(ms) + " ago";
}

/** An instant as its age; the instant itself is in the title. */
export function Ago(p: { time: string }) {
  const t = Date.parse(p.time);
  return (
    <time class="nowrap" dateTime={p.time} title={instant(t)}>
      {ageOf(now.value - t)}
    </time>
  );
}

/** How long something took, or has taken until now. */
export function Took(p: { from: string; to?: string }) {
  const began = Date.parse(p.from);
  const ms = (p.to ? Date.parse(p.to) : now.value) - began;
  return <span class="nowrap">{p.to ? span(ms) : passing(Math.max(ms, 1000))}</span>;
}

/** An instant to come as how far away it is; the instant itself is in the title. */
export function Due(p: { time: string }) {
  const t = Date.parse(p.time);
  const left = t - now.value;
  return (
    <time class="nowrap" dateTime={p.time} title={instant(t)}>
      {left < 1000 ? "now" : "in " + passing(left)}
    </time>
  );
}

/** A fire time to come: the instant, and how far away it is. */
export function Next(p: { time?: string }) {
  if (!p.time) return <span class="quiet">none</span>;
  const t = Date.parse(p.time);
  const left = t - now.value;
  return (
    <>
      <time class="nowrap" dateTime={p.time}>
        {instant(t)}
      </time>{" "}
      <span class="quiet nowrap">{left < 1000 ? "now" : "in " + passing(left)}</span>
    </>
  );
}
