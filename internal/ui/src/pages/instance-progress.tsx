import { useMemo, useState } from "preact/hooks";
import { api, get, type Fault, type Instance, type Page, type Progress } from "../api";
import { number, span } from "../parts/format";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { millis, type Attempt } from "./instance-history";
import { showTab } from "./instance-show";
import { useNow } from "./instance-time";

const count = number;

/** An item for reading; what was cut is text already. */
export function itemText(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value);
}

interface ForeachItem {
  index: number;
  status: "pending" | "inFlight" | "done" | "failed" | "cancelled";
  item?: unknown;
  cut?: boolean;
  error?: Fault;
  attempt?: number;
  tickets?: string[];
}

const words = { pending: "· pending", inFlight: "▶ in flight", done: "✓ done", failed: "✕ failed", cancelled: "⊘ cancelled" };
const tones = { pending: "off", inFlight: "running", done: "completed", failed: "failed", cancelled: "cancelled" };
const choices = [
  ["", "All"],
  ["failed", "Failed"],
  ["inFlight", "In flight"],
  ["done", "Done"],
  ["pending", "Pending"],
] as const;
const atOnce = 50;

/** How far a foreach is: a bar, and a table of its items that is read page by page. */
export function ForeachProgress(p: { progress: Progress; instance: Instance; calls: Attempt[] }) {
  const { state, total, done, failed, inFlight } = p.progress;
  const [which, setWhich] = useState<string>(); // undefined: as it suits
  const [open, setOpen] = useState<boolean>();
  const rest = Math.max(0, total - done - failed - inFlight);
  const text = [`${count(done)} of ${count(total)} done`, inFlight > 0 && `${count(inFlight)} in flight`, failed > 0 && `${count(failed)} failed`].filter(Boolean).join(" · ");
  const isOpen = open ?? failed > 0;
  return (
    <section class="panel foreach" aria-label={"Items of " + state}>
      <div class="heading">
        <h2>
          {state}
        </h2>
        <span>{text}</span>
        {total > 0 && <span class="push quiet">{Math.floor(((done + failed) / total) * 100)}%</span>}
      </div>
      <div class="foreach-bar" role="progressbar" aria-valuemin={0} aria-valuemax={Math.max(1, total)} aria-valuenow={done + failed} aria-valuetext={text} aria-label={"Progress of " + state}>
        {[
          ["good", done],
          ["bad", failed],
          ["busy", inFlight],
        ].map(([tone, n]) => Number(n) > 0 && <i key={tone} class={"tone-" + tone} style={{ flexGrow: String(n) }} />)}
        {rest > 0 && <i class="rest" style={{ flexGrow: String(rest) }} />}
      </div>
      <details open={isOpen} onToggle={(e) => e.currentTarget.open !== isOpen && setOpen(e.currentTarget.open)}>
        <summary>Items</summary>
        {isOpen && <Items {...p} which={which ?? (failed > 0 ? "failed" : inFlight > 0 ? "inFlight" : "")} onWhich={setWhich} />}
      </details>
    </section>
  );
}

function Items(p: { progress: Progress; instance: Instance; calls: Attempt[]; which: string; onWhich: (w: string) => void }) {
  const { id, rev, ended } = p.instance;
  const { state, done, failed, inFlight, total } = p.progress;
  const [pages, setPages] = useState<string[]>([""]); // cursors: the last one is shown
  const after = pages.at(-1)!;
  const loaded = useLoad(
    (signal) => get<Page<ForeachItem>>(api("instances", id, "items") + "?" + new URLSearchParams({ state, limit: String(atOnce), ...(p.which && { status: p.which }), ...(after && { after }) }), signal),
    [id, state, p.which, after, rev],
  );
  const now = useNow(!ended);
  const known = useMemo(() => callsByItem(p.calls), [p.calls]);
  const numbers: Record<string, number> = { "": total, failed, inFlight, done, pending: Math.max(0, total - done - failed - inFlight) };
  const items = loaded.data?.items ?? [];
  return (
    <>
      <div class="choices" role="group" aria-label="Which items">
        {choices.map(([value, label]) => (
          <button key={value} type="button" aria-pressed={p.which === value} onClick={() => (p.onWhich(value), setPages([""]))}>
            {label} {count(numbers[value]!)}
          </button>
        ))}
      </div>
      <ProblemBox error={loaded.error} again={loaded.again} />
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Items">
        <table class="items-table">
          <thead>
            <tr>
              <th scope="col" class="num">
                Index
              </th>
              <th scope="col">Item</th>
              <th scope="col">Status</th>
              <th scope="col" class="num">
                Attempts
              </th>
              <th scope="col">Error</th>
              <th scope="col" class="num">
                Took
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((it) => {
              const of = known.get(it.index);
              const last = of?.last;
              const took = last && (last.ended ? millis(last.ended.time) : ended ? undefined : now);
              return (
                <tr key={it.index}>
                  <td class="num">{count(it.index)}</td>
                  <td class="mono item-value" title={itemText(it.item)}>
                    {itemText(it.item)}
                    {it.cut && "…"}
                  </td>
                  <td>
                    <span class={"status " + tones[it.status]}>{words[it.status]}</span>
                  </td>
                  <td class="num">{Math.max(it.attempt ?? 0, of?.attempts ?? 0) || "–"}</td>
                  <td class="fault">
                    {it.error && (
                      <button type="button" class="plain fault" disabled={!last} onClick={() => showTab("calls", last!.called.seq)}>
                        {it.error.name}
                        {it.error.code && ` (${it.error.code})`}
                        {it.error.detail && `: ${it.error.detail}`}
                      </button>
                    )}
                  </td>
                  <td class="num">{took === undefined ? "–" : span(took - millis(last!.called.time))}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {loaded.data && items.length === 0 && <p class="quiet">No such items.</p>}
      {(pages.length > 1 || loaded.data?.next) && (
        <div class="listbar">
          <button type="button" disabled={pages.length < 2} onClick={() => setPages(pages.slice(0, -1))}>
            « Previous
          </button>
          <button type="button" disabled={!loaded.data?.next} onClick={() => setPages([...pages, String(loaded.data!.next)])}>
            Next »
          </button>
        </div>
      )}
    </>
  );
}

/** The calls of each item, as far as their records are read. */
function callsByItem(calls: Attempt[]): Map<number, { last: Attempt; attempts: number }> {
  const out = new Map<number, { last: Attempt; attempts: number }>();
  for (const a of calls) {
    const index = a.called.index;
    if (index === undefined) continue;
    const had = out.get(index);
    out.set(index, { last: a, attempts: Math.max(a.called.attempt ?? 1, had?.last.function === a.function ? had.attempts + 1 : 1) });
  }
  return out;
}
