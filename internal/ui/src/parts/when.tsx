import { signal } from "@preact/signals";

// One clock for all ages on the page.
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 5000);

/** How long something took or is ago, in the largest two units that say something. */
export function span(ms: number): string {
  if (ms < 0) ms = 0;
  if (ms < 1000) return `${Math.round(ms)} ms`;
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

/** How old something is. After a minute the seconds say nothing. */
function ageOf(ms: number): string {
  if (ms < 1000) return "just now";
  return span(ms < minute ? ms : ms - (ms % minute)) + " ago";
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
      <span class="quiet nowrap">{left < 1000 ? "now" : "in " + span(left)}</span>
    </>
  );
}
