// The chart of Home. It is loaded when it is first shown.
import { useEffect, useRef, useState } from "preact/hooks";
import { brief, clock, day } from "../parts/format";
import { chartHeight, inWords, roundUp, timeOf, type Bin, type Period } from "./home-hours";

// The chart from above: how many started and completed, then, on a scale of their own since they should be few, how
// many failed, then the time.
const tall = 112;
const low = 44;
const gap = 18;
const foot = chartHeight - tall - gap - low; // the time
const left = 40;

export default function Chart(p: { bins: Bin[]; period: Period; at?: number; setAt: (at?: number) => void; pick: (at?: number) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const n = p.bins.length;
  const step = Math.max(width - left, 0) / n;
  const most = roundUp(Math.max(...p.bins.map((b) => Math.max(b.started, b.completed))));
  const worst = roundUp(Math.max(...p.bins.map((b) => b.failed)));
  const x = (i: number) => left + i * step;
  const y = (value: number) => tall - (value / most) * (tall - 6);
  const bar = Math.max(step - (step > 12 ? 4 : 1), 1);
  const bottom = tall + gap + low;
  const failedTop = (value: number) => bottom - Math.max((value / worst) * (low - 4), 2);
  const under = (e: { clientX: number }) => {
    const i = Math.floor((e.clientX - box.current!.getBoundingClientRect().left - left) / step);
    return i >= 0 && i < n ? i : undefined;
  };
  const move = (e: KeyboardEvent) => {
    const now = p.at ?? n - 1;
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, ArrowDown: now - 1, ArrowUp: now + 1, Home: 0, End: n - 1 }[e.key];
    if (e.key === "Enter" || e.key === " ") p.pick(now);
    else if (e.key === "Escape") p.pick(undefined);
    else if (to === undefined) return;
    e.preventDefault();
    p.setAt(to === undefined ? undefined : Math.min(Math.max(to, 0), n - 1));
  };
  const shown = p.at ?? n - 1;
  return (
    <div
      ref={box}
      class="chart"
      role="slider"
      tabIndex={0}
      aria-label={p.period === "day" ? "Hour" : "Part of a day"}
      aria-describedby="activity-summary"
      aria-valuemin={0}
      aria-valuemax={n - 1}
      aria-valuenow={shown}
      aria-valuetext={`${timeOf(p.bins[shown]!)}: ${inWords(p.bins[shown]!)}`}
      onPointerMove={(e) => e.pointerType === "mouse" && p.setAt(under(e))}
      onClick={(e) => p.pick(under(e))}
      onPointerLeave={(e) => e.pointerType === "mouse" && p.setAt(undefined)}
      onFocus={(e) => e.currentTarget.matches(":focus-visible") && p.setAt(shown)}
      onBlur={() => p.setAt(undefined)}
      onKeyDown={move}
    >
      <svg width={width} height={bottom + foot} aria-hidden="true">
        <defs>
          <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="stripe" width="2" height="5" />
          </pattern>
        </defs>
        {p.at !== undefined && <rect class="here" x={x(p.at)} y={0} width={step} height={bottom} />}
        <Axis y={y(most)} end={width} text={brief(most)} />
        <Axis y={y(0)} end={width} text="0" strong />
        <Axis y={bottom - low + 4} end={width} text={brief(worst)} />
        <Axis y={bottom} end={width} text="0" strong />
        {p.bins.map((b, i) => (
          <g key={b.from}>
            {b.completed > 0 && <rect class="completed" x={x(i) + (step - bar) / 2} y={y(b.completed)} width={bar} height={y(0) - y(b.completed)} rx={Math.min(2, bar / 3)} />}
            {b.failed > 0 && (
              <>
                <rect class="failed" x={x(i) + (step - bar) / 2} y={failedTop(b.failed)} width={bar} height={bottom - failedTop(b.failed)} rx={Math.min(2, bar / 3)} />
                <rect x={x(i) + (step - bar) / 2} y={failedTop(b.failed)} width={bar} height={bottom - failedTop(b.failed)} fill="url(#hatch)" />
              </>
            )}
          </g>
        ))}
        <path class="started" d={p.bins.map((b, i) => `${i ? "L" : "M"}${x(i)} ${y(b.started)}H${x(i + 1)}`).join("")} />
        <text class="scale" x={left + 2} y={tall + gap - 3}>
          failed
        </text>
        {ticks(p.bins, p.period, step).map((t) => (
          <text key={t.i} class="tick" x={x(t.i)} y={bottom + 16} text-anchor="middle">
            {t.text}
          </text>
        ))}
      </svg>
    </div>
  );
}

function Axis(p: { y: number; end: number; text: string; strong?: boolean }) {
  return (
    <>
      <path class={p.strong ? "axis strong" : "axis"} d={`M${left} ${Math.round(p.y) + 0.5}H${p.end}`} />
      <text class="scale" x={left - 6} y={p.y + 4} text-anchor="end">
        {p.text}
      </text>
    </>
  );
}

/** Where times are written: at full hours or days that are far enough from each other. */
function ticks(bins: Bin[], period: Period, step: number): { i: number; text: string }[] {
  const room = period === "day" ? 44 : 52;
  const every = period === "day" ? [1, 2, 3, 4, 6, 12].find((k) => k * step >= room) ?? 24 : 24;
  const out: { i: number; text: string }[] = [];
  bins.forEach((b, i) => {
    const t = new Date(b.from);
    if (t.getHours() % every !== 0 || (out.length > 0 && (i - out.at(-1)!.i) * step < room)) return;
    if ((bins.length - i) * step < room / 2) return; // it would run out of the chart
    out.push({ i, text: period === "day" ? clock(b.from, "minute") : day(b.from, "weekday") });
  });
  return out;
}

/** The width of an element, as it changes. */
function useWidth(of: { current: HTMLElement | null }): number {
  const [width, set] = useState(0);
  useEffect(() => {
    const seen = new ResizeObserver(([e]) => set(Math.floor(e!.contentRect.width)));
    seen.observe(of.current!);
    return () => seen.disconnect();
  }, []);
  return width;
}
