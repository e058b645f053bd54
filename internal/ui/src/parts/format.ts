// How the page writes numbers, durations and times: here, and nowhere else. Numbers are written as
// English does in every browser, since the words are English; dates as the browser's language does,
// and times of day always with 24 hours.

const full = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A number with all its digits: 12,345. */
export function number(n: number): string {
  return full.format(n);
}

/** A number in few letters: 12.3K. */
export function brief(n: number): string {
  return n < 10_000 ? number(n) : compact.format(n);
}

/** So many bytes, in a unit that leaves few digits. */
export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

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

/** An ISO 8601 duration in words; one with years or months as it is. */
export function inWords(iso: string): string {
  const m = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(iso);
  const parts = ["week", "day", "hour", "minute", "second"].flatMap((unit, i) => {
    const n = Number(m?.[i + 1] ?? 0);
    return n ? [n === 1 ? `1 ${unit}` : `${n} ${unit}s`] : [];
  });
  return parts.length > 0 ? parts.join(" ") : iso;
}

/** Time since the start, as fine as the distance to the next mark asks for. */
export function offsetOf(ms: number, gap = 1): string {
  if (Math.abs(ms) < 1) return "0";
  if (ms < 1000 && gap < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(gap < 10 ? 3 : gap < 100 ? 2 : gap < 1000 ? 1 : 0)} s`;
  if (gap < 1000) return `${Math.floor(ms / 60_000)}m ${((ms % 60_000) / 1000).toFixed(gap < 100 ? 2 : 1)}s`;
  const [h, m, s] = [Math.floor(ms / 3600e3), Math.floor(ms / 60e3) % 60, Math.round(ms / 1000) % 60];
  return [h && `${h}h`, m && `${m}m`, gap < 60_000 && s && `${s}s`].filter(Boolean).join(" ") || span(ms);
}

/** An instant: its day and its time to the second. */
export function instant(t: string | number): string {
  return new Date(t).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
}

const two = (n: number) => String(n).padStart(2, "0");

/** A time of day: to the minute, to the second, or to the millisecond. */
export function clock(ms: number, to: "minute" | "second" | "milli" = "second"): string {
  const d = new Date(ms);
  const minute = `${two(d.getHours())}:${two(d.getMinutes())}`;
  if (to === "minute") return minute;
  return `${minute}:${two(d.getSeconds())}${to === "milli" ? "." + String(d.getMilliseconds()).padStart(3, "0") : ""}`;
}

/** A day without its year, with the day of the week where there is room for it. */
export function day(ms: number, parts: "date" | "weekday" | "weekday and date" = "date"): string {
  return new Date(ms).toLocaleDateString(undefined, { day: "numeric", ...(parts !== "weekday" && { month: "short" }), ...(parts !== "date" && { weekday: "short" }) });
}

/** A time of day; with the date if it is not today's, and with milliseconds where they matter. */
export function momentOf(ms: number, fine = false): string {
  const today = new Date(ms).toDateString() === new Date().toDateString();
  return (today ? "" : day(ms) + " ") + clock(ms, fine ? "milli" : "second");
}

/** An instant of the playground's virtual time, which is in UTC. */
export const virtual = (at: string) => at.replace("T", " ").replace("Z", "");
