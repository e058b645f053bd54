import { signal } from "@preact/signals";

// One clock for all ages on the page.
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 5000);

/** How long something took or is ago, in the largest two units that say something. */
export function span(ms: number): string {
  if (ms < 1) return "< 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.floor(ms / 100) / 10}s`;
  const units: [string, number][] = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1000],
  ];
  const i = units.findIndex(([, size]) => ms >= size);
  const [name, size] = units[i]!;
  const whole = Math.floor(ms / size);
  const finer = units[i + 1];
  const rest = finer ? Math.floor((ms - whole * size) / finer[1]) : 0;
  return rest && whole < 10 ? `${whole}${name} ${rest}${finer![0]}` : `${whole}${name}`;
}

const minute = 60_000;

/** A time that is told while it passes: in seconds, after a minute in minutes. */
export function passing(ms: number): string {
  return span(ms - (ms % (ms < minute ? 1000 : minute)));
}

/** How old something is. */
function ageOf(ms: number): string {
  return ms < 1000 ? "just now" : passing(ms) + " ago";
}

/** An instant as its age; the instant itself is in the title. */
export function Ago(p: { time: string }) {
  const t = Date.parse(p.time);
  return (
    <time class="nowrap" dateTime={p.time} title={new Date(t).toLocaleString()}>
      {ageOf(now.value - t)}
    </time>
  );
}

/** An ISO 8601 duration in words; one with years or months as it is. */
export function inWords(iso: string): string {
  const m = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(iso);
  const parts = ["week", "day", "hour", "minute", "second"].flatMap((unit, i) => {
    const n = Number(m?.[i + 1] ?? 0);
    return n ? [n === 1 ? `1 ${unit}` : `${n} ${unit}s`] : [];
  });
  return parts.length > 0 ? parts.join(" ") : iso;
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
    <time class="nowrap" dateTime={p.time} title={new Date(t).toLocaleString()}>
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
        {new Date(t).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })}
      </time>{" "}
      <span class="quiet nowrap">{left < 1000 ? "now" : "in " + span(left - (left % 1000))}</span>
    </>
  );
}
