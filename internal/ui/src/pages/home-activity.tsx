import { lazy, Suspense } from "preact/compat";
import { useState } from "preact/hooks";
import { listOf } from "../parts/filter";
import { number, span } from "../parts/format";
import { ProblemBox } from "../parts/problem";
import { chartHeight, inWords, sum, timeOf, type Bin, type DefinitionHours, type Happened, type Period } from "./home-hours";

// The numbers are there at once, the drawing of them a moment later.
const Chart = lazy<typeof import("./home-chart").default | typeof NoChart>(() => import("./home-chart").catch(() => ({ default: NoChart })));

/** Where it cannot be loaded, as the server was replaced by another version meanwhile. */
function NoChart() {
  return (
    <p class="quiet" style={{ height: chartHeight }}>
      The chart could not be loaded; load the page again.
    </p>
  );
}

const names: Record<Period, string> = { day: "Last 24 hours", week: "Last 7 days" };

/**
 * What started and ended over time. The numbers are those of the bin that is pointed at, else of the one that was
 * picked, else of all. Those of a picked one lead to the instances.
 */
export function Activity(p: { bins?: Bin[]; period: Period; choose: (to: Period) => void; error?: unknown; again: () => void }) {
  const [pointed, setAt] = useState<number>();
  const [picked, setPicked] = useState<number>(); // when it begins: the axis moves
  const bins = p.bins ?? [];
  const kept = bins.findIndex((b) => b.from === picked);
  const at = pointed ?? (kept < 0 ? undefined : kept);
  const bin = at === undefined ? undefined : bins[at];
  const choose = (period: Period) => {
    setAt(undefined);
    setPicked(undefined);
    p.choose(period);
  };
  const total = sum(bins);
  const empty = total.started + total.completed + total.failed + total.cancelled === 0;
  return (
    <section class="panel activity" aria-labelledby="activity">
      <div class="home-title">
        <h2 id="activity">Activity</h2>
        <div class="periods" role="group" aria-label="Period">
          {(["day", "week"] as Period[]).map((period) => (
            <button key={period} type="button" class="small" aria-pressed={p.period === period} onClick={() => choose(period)}>
              {period === "day" ? "24 hours" : "7 days"}
            </button>
          ))}
        </div>
      </div>
      <ProblemBox error={p.error} again={p.again} />
      {p.bins && empty && <p class="quiet">Nothing started or ended in the {names[p.period].toLowerCase()}.</p>}
      {!empty && (
        <>
          <Readout when={bin ? timeOf(bin) : names[p.period]} what={bin ?? total} picked={bin && at === kept ? bin : undefined} />
          <Suspense fallback={<div style={{ height: chartHeight }} />}>
            <Chart bins={bins} period={p.period} at={at} setAt={setAt} pick={(i) => setPicked(i === undefined || bins[i]!.from === picked ? undefined : bins[i]!.from)} />
          </Suspense>
          <p class="unseen" id="activity-summary">
            {summary(bins, p.period)}
          </p>
          <Numbers bins={bins} />
        </>
      )}
    </section>
  );
}

function Readout(p: { when: string; what: Happened; picked?: Bin }) {
  const shown = (["started", "completed", "failed", "cancelled"] as const).filter((kind) => kind !== "cancelled" || p.what.cancelled > 0);
  return (
    <div class="readout">
      <span class="when">{p.when}</span>
      <dl>
        {shown.map((kind) => (
          <div key={kind}>
            <dt>
              {kind !== "cancelled" && <Key kind={kind} />} {titles[kind]}
            </dt>
            <dd>{p.picked && p.what[kind] > 0 ? <a href={listOf(filterOf(kind, p.picked))}>{number(p.what[kind])}</a> : number(p.what[kind])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

const titles = { started: "Started", completed: "Completed", failed: "Failed", cancelled: "Cancelled" };

/** The instances that something happened to in a bin, as far as their last change tells. */
function filterOf(kind: keyof Happened, b: Bin): string {
  const word = kind === "started" ? "created" : "updated";
  const [from, until] = [b.from, b.until].map((ms) => new Date(ms).toISOString().replace(".000Z", "Z"));
  const status = { started: "", completed: "status:completed ", failed: "status:failed ", cancelled: "status:cancelled,terminated " }[kind];
  return `${status}${word}:>${from} ${word}:<${until}`;
}

/** How the chart draws something. */
function Key(p: { kind: "started" | "completed" | "failed" }) {
  return (
    <svg class="key" width="14" height="10" aria-hidden="true">
      {p.kind === "started" ? <path class="started" d="M0 8h7V2h7" /> : <rect class={p.kind} width="14" height="10" rx="2" />}
      {p.kind === "failed" && <rect class="hatched" width="14" height="10" rx="2" fill="url(#hatch)" />}
    </svg>
  );
}

function summary(bins: Bin[], period: Period): string {
  const busiest = bins.reduce((a, b) => (b.started > a.started ? b : a));
  const worst = bins.reduce((a, b) => (b.failed > a.failed ? b : a));
  let out = `${names[period]}: ${inWords(sum(bins))}.`;
  if (busiest.started > 0) out += ` Most started ${timeOf(busiest)}: ${number(busiest.started)}.`;
  if (worst.failed > 0) out += ` Most failed ${timeOf(worst)}: ${number(worst.failed)}.`;
  return out;
}

/** The chart as a table. */
function Numbers(p: { bins: Bin[] }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        <div class="scroll-x" role="region" aria-label="Activity as a table" tabIndex={0}>
          <table class="numbers">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Started</th>
                <th scope="col">Completed</th>
                <th scope="col">Failed</th>
                <th scope="col">Cancelled</th>
              </tr>
            </thead>
            <tbody>
              {p.bins.toReversed().map((b) => (
                <tr key={b.from}>
                  <th scope="row">{timeOf(b)}</th>
                  <td>{number(b.started)}</td>
                  <td>{number(b.completed)}</td>
                  <td>{number(b.failed)}</td>
                  <td>{number(b.cancelled)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

const few = 6; // definitions that are shown at once

/** How long instances took, by definition: the busiest first, all on one logarithmic scale. */
export function Durations(p: { list?: DefinitionHours[]; period: Period }) {
  const [all, setAll] = useState(false);
  const list = (p.list ?? []).filter((d) => d.p50 !== undefined);
  if (list.length === 0) return null;
  const shown = all ? list : list.slice(0, few);
  const logs = list.flatMap((d) => [Math.log(Math.max(d.p50!, 0.001)), Math.log(Math.max(d.p95!, 0.001))]);
  const low = Math.min(...logs);
  const wide = Math.max(...logs) - low || 1;
  const at = (seconds: number) => 4 + (92 * (Math.log(Math.max(seconds, 0.001)) - low)) / wide;
  return (
    <section class="panel" aria-labelledby="durations">
      <div class="home-title">
        <h2 id="durations">Durations</h2>
        <span class="quiet">{names[p.period].toLowerCase()}</span>
      </div>
      <table class="durations">
        <thead>
          <tr>
            <th scope="col">Definition</th>
            <th scope="col" class="number" title="Half of the instances that completed took no longer">
              p50
            </th>
            <th scope="col" class="number" title="95 % of the instances that completed took no longer">
              p95
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((d) => (
            <tr key={d.id}>
              <th scope="row">
                <div title={`${d.id || "All others"}: ${number(d.completed)} completed`}>
                  {d.id ? (
                    <a class="name" href={"/definitions/" + encodeURIComponent(d.id)}>
                      {d.id}
                    </a>
                  ) : (
                    "All others"
                  )}
                </div>
                <svg class="range" height="10" aria-hidden="true">
                  <line x1="0%" x2="100%" y1="5" y2="5" class="axis" />
                  <line x1={at(d.p50!) + "%"} x2={at(d.p95!) + "%"} y1="5" y2="5" class="between" />
                  <circle cx={at(d.p95!) + "%"} cy="5" r="3.5" class="p95" />
                  <circle cx={at(d.p50!) + "%"} cy="5" r="3.5" class="p50" />
                </svg>
              </th>
              <td class="number">{took(d.p50!)}</td>
              <td class="number">{took(d.p95!)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.length > few && (
        <button type="button" class="small ghost" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fewer" : `All ${number(list.length)}`}
        </button>
      )}
    </section>
  );
}

/** A duration that is known to 6 %. */
function took(seconds: number): string {
  return span(seconds * 1000);
}
