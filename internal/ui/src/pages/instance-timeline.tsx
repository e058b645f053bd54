import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Instance } from "../api";
import { amend, place } from "../router";
import { momentOf, number, offsetOf, span } from "../parts/format";
import { millis, type History, type Item } from "./instance-history";
import { moved, placeOf, scaleOf, seenAt, ticksOf, whole, zoomed, type Piece, type View } from "./instance-scale";
import { SpanDetails } from "./instance-span";
import { everySpan, outlineOf, shownOf, spansOf, type Shown, type Span } from "./instance-spans";
import { useNow, wordsOf } from "./instance-time";
import "./instance-timeline.css";

const mostRows = 300; // that are drawn before someone asks for more

/** What happened, as bars on an axis of time. */
export function Timeline(p: { history: History; items: Item[]; instance: Instance }) {
  const { instance, history } = p;
  const query = place.value.query;
  const absolute = query.get("times") === "clock";
  const fold = query.get("idle") !== "shown";
  const selected = query.get("rec");
  const now = useNow(!instance.ended);
  const spans = useMemo(() => spansOf(p.items, instance), [p.items, instance]);
  const [turned, setTurned] = useState(() => new Map<string, boolean>()); // what someone opened or closed
  const [extent, setExtent] = useState(() => new Map<string, number>());
  const [rowsWanted, setRowsWanted] = useState(mostRows);
  const [view, setView] = useState<View>(whole);
  const all = useMemo(() => everySpan(spans), [spans]);
  const few = outlineOf(spans) <= 60;
  const isOpen = (s: Span) => turned.get(s.key) ?? (s.kind !== "group" && (few || s.tone === "bad" || s.to === undefined) && s.children.length <= 40);
  const shown = useMemo(() => shownOf(spans, isOpen, extent), [spans, turned, extent]);
  const start = millis(instance.created);
  const end = instance.ended ? millis(instance.ended) : now;
  const scale = useMemo(() => {
    const instants = [...history.head, ...history.tail].map((r) => millis(r.time));
    return scaleOf(start, end, instants, all.filter((s) => (s.kind === "call" || s.kind === "child") && s.children.length === 0), fold);
  }, [history.head, history.tail, all, start, end, fold]);
  const rows = shown.slice(0, rowsWanted);
  const box = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLSpanElement>(null);
  const drag = useDrag(box, view, setView);
  const zoom = (by: number) => setView(zoomed(view, by));
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).closest(".span-details, input")) return;
    const done = { "+": () => zoom(2), "=": () => zoom(2), "-": () => zoom(0.5), "0": () => setView(whole), ArrowLeft: () => setView(moved(view, -0.25)), ArrowRight: () => setView(moved(view, 0.25)), ArrowDown: () => step(box.current!, 1), ArrowUp: () => step(box.current!, -1) }[e.key];
    if (!done) return;
    done();
    e.preventDefault();
  };
  if (!history.loaded) return <p class="quiet">Loading…</p>;
  const folded = scale.some((s) => s.folded);
  return (
    <section class="gantt" aria-label="Timeline" onKeyDown={keys}>
      <div class="gantt-bar">
        <span class="gantt-readout quiet" ref={readout} aria-hidden="true">
          {momentOf(start, true)} to {instance.ended ? momentOf(end, true) : "now"}
        </span>
        <label>
          <input type="checkbox" checked={absolute} onChange={(e) => amend({ times: e.currentTarget.checked ? "clock" : null })} /> Clock time
        </label>
        {(folded || !fold) && (
          <label>
            <input type="checkbox" checked={fold} onChange={(e) => amend({ idle: e.currentTarget.checked ? null : "shown" })} /> Fold idle time
          </label>
        )}
        <span class="gantt-zoom" role="group" aria-label="Zoom">
          <button type="button" aria-label="Zoom out" title="Zoom out (-)" disabled={view === whole} onClick={() => zoom(0.5)}>
            −
          </button>
          <button type="button" aria-label="Zoom in" title="Zoom in (+), or drag over a part of the axis" onClick={() => zoom(2)}>
            +
          </button>
          <button type="button" title="Show all of it (0)" disabled={view.b - view.a > 0.999} onClick={() => setView(whole)}>
            Fit
          </button>
        </span>
      </div>
      {history.unread > 0 && (
        <p class="gantt-unread">
          {number(history.unread)} records between are not read, and have no bars.{" "}
          <button type="button" onClick={history.loadMore}>
            Load more
          </button>
        </p>
      )}
      <div class="gantt-body" ref={box} {...drag.events}>
        <Axis scale={scale} view={view} start={start} absolute={absolute} />
        <Breaks scale={scale} view={view} unread={history.unread > 0 ? boundsOf(history) : undefined} />
        {drag.range && <div class="gantt-track gantt-drag" aria-hidden="true"><i style={{ left: `${seenAt(view, drag.range.a)}%`, width: `${((drag.range.b - drag.range.a) / (view.b - view.a)) * 100}%` }} /></div>}
        <ol class="gantt-rows">
          {rows.map((row) =>
            row.more !== undefined ? (
              <li key={"more" + row.span.key} class="gantt-more">
                <button type="button" onClick={() => setExtent(new Map(extent).set(row.span.key, (extent.get(row.span.key) ?? 50) + 200))}>
                  {number(row.more)} more of {row.span.label}
                </button>
              </li>
            ) : (
              <Row
                key={row.span.key}
                row={row}
                scale={scale}
                view={view}
                now={end}
                start={start}
                absolute={absolute}
                selected={row.span.kind !== "group" && selected === String(row.span.rec.seq) }
                onTurn={() => setTurned(new Map(turned).set(row.span.key, !row.open))}
                tell={(text) => readout.current && (readout.current.textContent = text)}
                history={history}
                instance={instance}
              />
            ),
          )}
        </ol>
      </div>
      {spans.length === 0 && <p class="quiet">Nothing has happened in a state yet.</p>}
      {shown.length > rows.length && (
        <button type="button" onClick={() => setRowsWanted(rowsWanted + mostRows)}>
          {number(shown.length - rows.length)} more rows
        </button>
      )}
    </section>
  );
}

/** The time between the first and the last records that are read. */
function boundsOf(h: History): [number, number] {
  return [millis(h.head.at(-1)!.time), millis(h.tail[0]!.time)];
}

/** Brings the focus to a row before or after. */
function step(box: HTMLElement, by: number) {
  const rows = [...box.querySelectorAll<HTMLElement>("button.gantt-name")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

/** Zooms to a range that someone draws with the pointer. */
function useDrag(box: { current: HTMLElement | null }, view: View, setView: (v: View) => void) {
  const [range, setRange] = useState<View>();
  const from = useRef<number>(null);
  const dragged = useRef(false);
  const at = (e: PointerEvent) => {
    const track = box.current!.querySelector(".gantt-axis .gantt-track")!.getBoundingClientRect();
    return Math.max(view.a, Math.min(view.b, view.a + ((e.clientX - track.left) / track.width) * (view.b - view.a)));
  };
  const inTrack = (e: PointerEvent) => {
    const track = box.current!.querySelector(".gantt-axis .gantt-track")!.getBoundingClientRect();
    return e.clientX >= track.left && e.clientX <= track.right;
  };
  const events = {
    onPointerDown: (e: PointerEvent) => {
      if (e.button !== 0 || e.pointerType === "touch" || !inTrack(e) || (e.target as Element).closest(".span-details")) return;
      from.current = at(e);
      dragged.current = false;
    },
    onPointerMove: (e: PointerEvent) => {
      if (from.current === null) return;
      const to = at(e);
      if (Math.abs(to - from.current) / (view.b - view.a) < 0.01 && !dragged.current) return;
      if (!dragged.current) box.current!.setPointerCapture(e.pointerId);
      dragged.current = true;
      setRange({ a: Math.min(from.current, to), b: Math.max(from.current, to) });
    },
    onPointerUp: () => {
      if (range && range.b - range.a > 1e-5) setView(range);
      setRange(undefined);
      from.current = null;
    },
    onPointerCancel: () => {
      setRange(undefined);
      from.current = null;
    },
    onClickCapture: (e: MouseEvent) => {
      if (!dragged.current) return;
      dragged.current = false;
      e.stopPropagation();
      e.preventDefault();
    },
  };
  return { range, events };
}

function Axis(p: { scale: Piece[]; view: View; start: number; absolute: boolean }) {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(700);
  useEffect(() => {
    const seen = new ResizeObserver(([e]) => setWidth(e!.contentRect.width));
    seen.observe(ref.current!);
    return () => seen.disconnect();
  }, []);
  const zero = p.absolute ? 0 : p.start;
  const list = ticksOf(p.scale, p.view, zero, Math.max(2, Math.floor(width / 90)));
  const gap = list.length > 1 ? Math.min(...list.slice(1).map((t, i) => t - list[i]!)) : 1000;
  return (
    <div class="gantt-axis" aria-hidden="true">
      <div class="gantt-track" ref={ref}>
        {list.map((t) => (
          <i key={t} class="gantt-tick" style={{ left: `${seenAt(p.view, placeOf(p.scale, t))}%` }}>
            <span>{p.absolute ? momentOf(t, gap < 1000) : offsetOf(t - p.start, gap)}</span>
          </i>
        ))}
      </div>
    </div>
  );
}

/** Where time is left out. */
function Breaks(p: { scale: Piece[]; view: View; unread?: [number, number] }) {
  return (
    <div class="gantt-track gantt-breaks">
      {p.scale
        .filter((s) => s.folded && s.at < p.view.b && s.at + s.width > p.view.a)
        .map((s) => {
          const a = Math.max(s.at, p.view.a);
          const b = Math.min(s.at + s.width, p.view.b);
          const wide = (b - a) / (p.view.b - p.view.a) > 0.2;
          const unread = p.unread && s.from < p.unread[1] && s.to > p.unread[0];
          return (
            <i key={s.from} style={{ left: `${seenAt(p.view, a)}%`, width: `${((b - a) / (p.view.b - p.view.a)) * 100}%` }} title={`Idle from ${momentOf(s.from)} to ${momentOf(s.to)}`}>
              <span>{unread ? "not read" : span(s.to - s.from) + (wide ? " idle" : "")}</span>
            </i>
          );
        })}
    </div>
  );
}

function Row(p: { row: Shown; scale: Piece[]; view: View; now: number; start: number; absolute: boolean; selected: boolean; onTurn: () => void; tell: (text: string) => void; history: History; instance: Instance }) {
  const { span: s, depth, open } = p.row;
  const says = wordsOf(s, p.now);
  const took = span((s.to ?? p.now) - s.from);
  const point = s.to === s.from && (s.kind === "event" || s.kind === "control");
  const press = () => (s.kind === "group" ? p.onTurn() : amend({ rec: p.selected ? null : String(s.rec.seq) }));
  return (
    <li class={`gantt-row tone-${s.tone} kind-${s.kind}${p.selected ? " chosen" : ""}`}>
      <span class="gantt-label" style={{ paddingLeft: `${Math.min(depth, 8) * 1.1}rem` }}>
        {open === undefined ? (
          <span class="gantt-fold" />
        ) : (
          <button type="button" class="gantt-fold" aria-expanded={open} aria-label={`${open ? "Fold" : "Unfold"} ${s.label}`} onClick={p.onTurn}>
            {open ? "▾" : "▸"}
          </button>
        )}
        <button type="button" class="gantt-name" aria-label={`${kindWord(s)}${s.label}${s.note ? " " + s.note : ""}: ${says}`} aria-expanded={s.kind === "group" ? undefined : p.selected} onClick={press} onFocus={() => p.tell(`${s.label}: ${says}`)}>
          <b title={s.label}>{s.label}</b>{" "}
          {s.note && <span class="quiet">{s.note}</span>}
        </button>
      </span>
      <span class="gantt-track" title={`${s.label}: ${says}`} onClick={press} onPointerEnter={() => p.tell(`${s.label}: ${says}`)}>
        {s.kind === "group" ? <Parts group={s} scale={p.scale} view={p.view} now={p.now} /> : <Bar s={s} scale={p.scale} view={p.view} now={p.now} point={point} />}
      </span>
      <span class="gantt-word">
        <span>{s.word}</span>
        {!point && s.word !== took && <span class="quiet">{took}</span>}
      </span>
      {p.selected && <SpanDetails span={s} history={p.history} instance={p.instance} />}
    </li>
  );
}

function kindWord(s: Span): string {
  return { state: "State ", call: "Call ", wait: "Wait for ", retry: "", event: "Event ", child: "Workflow ", control: "", group: "" }[s.kind];
}

function Bar(p: { s: Span; scale: Piece[]; view: View; now: number; point: boolean }) {
  const a = placeOf(p.scale, p.s.from);
  const b = placeOf(p.scale, p.s.to ?? p.now);
  if (b < p.view.a || a > p.view.b) return <i class={"gantt-off " + (b < p.view.a ? "left" : "right")}>{b < p.view.a ? "‹" : "›"}</i>;
  const [from, to] = [Math.max(a, p.view.a), Math.min(b, p.view.b)];
  const left = `${seenAt(p.view, from)}%`;
  if (p.point) return <i class="gantt-point" style={{ left }} />;
  return <i class={"gantt-span" + (p.s.to === undefined ? " open" : "")} style={{ left, width: `${((to - from) / (p.view.b - p.view.a)) * 100}%` }} />;
}

const slots = 240; // of a group's row

/** Where the parts of a group are: as fine as can be seen, and never more elements than that. */
function Parts(p: { group: Span; scale: Piece[]; view: View; now: number }) {
  const bars = useMemo(() => {
    const order = ["off", "undo", "good", "wait", "busy", "bad"];
    const line = new Int8Array(slots).fill(-1);
    for (const s of p.group.children) {
      const a = Math.floor((seenAt(p.view, placeOf(p.scale, s.from)) / 100) * slots);
      const b = Math.floor((seenAt(p.view, placeOf(p.scale, s.to ?? p.now)) / 100) * slots);
      const rank = order.indexOf(s.tone);
      for (let i = Math.max(0, a); i <= Math.min(slots - 1, b); i++) if (rank > line[i]!) line[i] = rank;
    }
    const out: { at: number; count: number; tone: string }[] = [];
    for (let i = 0; i < slots; i++) {
      if (line[i]! < 0) continue;
      const tone = order[line[i]!]!;
      const last = out.at(-1);
      if (last && last.tone === tone && last.at + last.count === i) last.count++;
      else out.push({ at: i, count: 1, tone });
    }
    return out;
  }, [p.group, p.scale, p.view, p.now]);
  return (
    <>
      {bars.map((b) => (
        <i key={b.at} class={"gantt-span part tone-" + b.tone} style={{ left: `${(b.at / slots) * 100}%`, width: `${(b.count / slots) * 100}%` }} />
      ))}
    </>
  );
}

