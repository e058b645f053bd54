// The frame in which a drawing is seen: its tools, the pointer and the keys.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DiagramProps } from "./diagram";
import { Card, type About } from "./diagram-card";
import { addExpanders, decorate, drawingOf, type Drawing, type NodeMark, type Place } from "./diagram-drawing";
import { Find } from "./diagram-find";
import { Minimap, showSeen } from "./diagram-map";
import { readable, View } from "./diagram-view";

export interface CanvasProps extends DiagramProps {
  /** Opens the diagram of a workflow that a state runs. */
  open: (state: string, workflow: string) => void;
  full: boolean;
  onFull: () => void;
  active: boolean; // it is the one that is seen
}

export function Canvas(p: CanvasProps) {
  const frame = useRef<HTMLDivElement>(null);
  const seen = useRef<SVGRectElement>(null);
  const percent = useRef<HTMLElement>(null);
  const [view, setView] = useState<View>();
  const [about, setAbout] = useState<About>();
  const card = useId();
  const marks = p.marks ?? none;
  const buttons = !!p.onSelect;
  const drawing = useMemo(() => {
    const d = drawingOf(p.svg);
    if (d && p.nested) addExpanders(d);
    return d;
  }, [p.svg, !!p.nested]);
  const now = useRef({ ...p, marks, drawing });
  now.current = { ...p, marks, drawing };

  // Before the view: how things look does not change where they are.
  useLayoutEffect(() => {
    if (drawing) decorate(drawing, { marks, edges: p.edges, selected: p.selected, buttons, label: p.label });
  }, [drawing, marks, p.edges, p.selected, buttons, p.label]);

  const last = useRef<View>(undefined);
  const [large, setLarge] = useState(false);
  const [mapped, setMapped] = useState(false);
  useLayoutEffect(() => {
    const el = frame.current;
    if (!drawing || !el) return;
    const next = new View(el, drawing.svg, drawing, () => {
      if (percent.current) percent.current.textContent = next.percent;
      showSeen(seen.current, next);
      setAbout(undefined);
    });
    rove(drawing, focusOf(drawing, marks, p.selected) ?? drawing.start ?? drawing.states.keys().next().value);
    const size = () => {
      if (!el.clientWidth) return;
      sizeFrame(el, drawing, now.current.full);
      setLarge(next.whole < readable);
      setMapped(next.whole < readable * 0.75); // else it hides more than it shows
      next.resized();
    };
    size();
    if (last.current?.touched) {
      // Another drawing of the same, such as that of a text that is being written.
      Object.assign(next, { x: last.current.x, y: last.current.y, k: last.current.k, touched: true });
      next.resized();
    } else begin(next, drawing, marks, p.selected);
    el.replaceChildren(drawing.svg); // last: to measure the frame around it would lay all of it out
    last.current = next;
    setView(next);
    const observer = new ResizeObserver(size);
    observer.observe(el);
    return () => {
      observer.disconnect();
      next.close();
    };
  }, [drawing]);

  // What happened is often known later than the drawing.
  const begun = useRef(false);
  useEffect(() => {
    if (!view || !drawing || marks.size === 0 || begun.current) return;
    begun.current = true;
    if (!view.touched) begin(view, drawing, marks, p.selected);
  }, [view, drawing, marks]);

  const shown = useRef(p.selected);
  useEffect(() => {
    const place = drawing?.states.get(p.selected ?? "");
    if (!drawing || !view || !place || shown.current === p.selected) return;
    shown.current = p.selected;
    rove(drawing, place.name);
    view.reveal(place);
  }, [p.selected, view, drawing]);

  // A frame that fills the screen, or no longer, begins where it was.
  useLayoutEffect(() => {
    if (!drawing || !view || !frame.current) return;
    sizeFrame(frame.current, drawing, p.full);
    if (view.touched) view.resized();
    else begin(view, drawing, marks, p.selected);
  }, [p.full, p.active]);

  if (!drawing) return <p class="quiet">There is no diagram.</p>;

  const pointAt = (target: EventTarget | null): About | undefined => {
    if (!view || !(target instanceof Element)) return;
    const state = target.closest("[data-state]")?.getAttribute("data-state");
    const place = drawing.states.get(state ?? "");
    if (place) return { state: place.name, at: view.onScreen(place) };
    const line = target.closest<SVGGElement>(".ls-edge");
    if (!line) return;
    const link = drawing.links.find((l) => drawing.lines.get(l.key) === line);
    const at = (line.querySelector(".ls-pill") ?? target).getBoundingClientRect();
    const around = frame.current!.getBoundingClientRect();
    return link && { line: link.key, at: { x: at.left - around.left, y: at.top - around.top, w: at.width, h: at.height } };
  };
  const go = (place: Place | undefined, centre = false) => {
    if (!place || !view) return;
    view.touched = true;
    rove(drawing, place.name);
    if (centre) view.centre(place);
    else view.reveal(place);
    place.g.focus({ preventScroll: true });
    setAbout({ state: place.name, at: view.onScreen(place) });
  };
  const zoom = (factor: number) => {
    view!.touched = true;
    view!.zoom(view!.k < 0.1 ? factor ** 3 : factor); // from all of a large one it is a long way
  };
  const keys = (e: KeyboardEvent) => {
    if (!view || e.altKey || e.ctrlKey || e.metaKey) return;
    const target = e.target as Element;
    const state = target.closest("[data-state]")?.getAttribute("data-state") ?? undefined;
    const act: Record<string, () => void> = {
      "+": () => zoom(1.25),
      "=": () => zoom(1.25),
      "-": () => zoom(0.8),
      "0": () => (view.fit(), (view.touched = true)),
      f: p.onFull,
      Home: () => go(drawing.states.get(drawing.start ?? "")),
    };
    const way = ways[e.key];
    if (way && state) act[e.key] = () => go(neighbour(drawing, state, way));
    else if (way && target === frame.current) {
      const far = e.shiftKey ? 300 : 60;
      act[e.key] = () => (view.pan(-way.x * far, -way.y * far), (view.touched = true));
    }
    if (e.key === "Escape" && about) act.Escape = () => setAbout(undefined);
    if (state && (e.key === "Enter" || e.key === " ")) act[e.key] = () => p.onSelect?.(state);
    const opens = target.closest("[data-opens]") as SVGGElement | null;
    if (opens && (e.key === "Enter" || e.key === " ")) act[e.key] = () => p.open(opens.dataset.of!, opens.dataset.opens!);
    if (state && e.key === "o") {
      const workflow = drawing.states.get(state)!.g.dataset.runs?.split("\n")[0];
      if (workflow && p.nested) act.o = () => p.open(state, workflow);
    }
    if (!act[e.key]) return;
    e.preventDefault();
    e.stopPropagation();
    act[e.key]!();
  };
  return (
    <div class="canvas" hidden={!p.active}>
      <div class="tools" role="toolbar" aria-label="Diagram tools">
        <Find states={drawing.states} onFind={(name) => go(drawing.states.get(name), true)} />
        <span class="push" />
        <button type="button" title="Zoom out (−)" aria-label="Zoom out" onClick={() => zoom(0.8)}>
          −
        </button>
        <span class="percent" ref={percent}>
          {view?.percent}
        </span>
        <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => zoom(1.25)}>
          +
        </button>
        <button
          type="button"
          title="Show all of it (0)"
          onClick={() => {
            view!.touched = true;
            view!.fit();
          }}
        >
          Fit
        </button>
        <button type="button" title="Full screen (f)" aria-label="Full screen" aria-pressed={p.full} onClick={p.onFull}>
          <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
            <path d={p.full ? "M5 1v4H1M9 1v4h4M5 13V9H1M9 13V9h4" : "M1 5V1h4M9 1h4v4M1 9v4h4M13 9v4H9"} fill="none" stroke="currentColor" stroke-width="1.6" />
          </svg>
        </button>
      </div>
      <div class="sheet">
        <div
          class={large ? "frame large" : "frame"}
          ref={frame}
          tabIndex={0}
          role="group"
          aria-label={`${p.label ?? "Diagram"}: arrow keys move it, plus and minus zoom, 0 shows all of it, Tab goes to its states`}
          onKeyDown={keys}
          onClickCapture={(e) => {
            if (!view?.dragged) return;
            e.stopPropagation();
            e.preventDefault();
          }}
          onClick={(e) => {
            const opens = (e.target as Element).closest<SVGGElement>("[data-opens]");
            if (opens) return p.open(opens.dataset.of!, opens.dataset.opens!);
            const state = (e.target as Element).closest("[data-state]")?.getAttribute("data-state");
            if (!state) return;
            rove(drawing, state);
            p.onSelect?.(state);
            if (!buttons) setAbout(pointAt(e.target));
          }}
          onPointerOver={(e) => e.pointerType === "mouse" && e.buttons === 0 && setAbout(pointAt(e.target))}
          onPointerLeave={(e) => e.pointerType === "mouse" && setAbout(undefined)}
          onFocusIn={(e) => {
            const target = e.target as Element;
            if (!target.matches("[data-state]")) return setAbout(undefined);
            rove(drawing, target.getAttribute("data-state")!);
            if (target.matches(":focus-visible")) {
              const place = drawing.states.get(target.getAttribute("data-state")!);
              if (place) view?.reveal(place);
              setAbout(pointAt(target));
            }
            target.setAttribute("aria-describedby", card);
          }}
          onFocusOut={(e) => {
            (e.target as Element).removeAttribute("aria-describedby");
            setAbout(undefined);
          }}
        />
        {mapped && view && <Minimap drawing={drawing} view={view} marks={marks} seen={seen} />}
        {about && view && <Card id={card} about={about} drawing={drawing} marks={marks} edges={p.edges} facts={p.facts} room={view} />}
      </div>
    </div>
  );
}

const none = new Map<string, NodeMark>();

const ways: Record<string, { x: number; y: number }> = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };

/** As high as the drawing, up to most of the window. */
function sizeFrame(el: HTMLElement, d: Drawing, full: boolean) {
  if (full) {
    el.style.height = "";
    return;
  }
  const most = Math.max(260, Math.min(720, innerHeight * (innerWidth < 600 ? 0.55 : 0.68)));
  const scale = Math.min(1, Math.max(readable, el.clientWidth / d.w));
  el.style.height = Math.round(Math.min(most, Math.max(120, d.h * scale))) + "px";
}

/** The state that people look for first. */
function focusOf(d: Drawing, marks: Map<string, NodeMark>, selected?: string): string | undefined {
  if (selected && d.states.has(selected)) return selected;
  for (const kind of ["failed", "active", "waiting", "paused"]) {
    let found: string | undefined;
    for (const [name, mark] of marks) if (mark.kind === kind && d.states.has(name)) found = name; // the innermost comes last
    if (found) return found;
  }
}

function begin(view: View, d: Drawing, marks: Map<string, NodeMark>, selected?: string) {
  view.begin(d.states.get(focusOf(d, marks, selected) ?? ""), d.states.get(d.start ?? ""));
}

/** One state at a time takes part in the order of Tab, with the buttons at it. */
function rove(d: Drawing, name: string | undefined) {
  for (const e of d.svg.querySelectorAll('[tabindex="0"]')) e.setAttribute("tabindex", "-1");
  const g = d.states.get(name ?? "")?.g;
  g?.setAttribute("tabindex", "0");
  for (let e = g?.nextElementSibling; e?.matches("[data-opens]"); e = e.nextElementSibling) e.setAttribute("tabindex", "0");
}

/** The state in a direction: one that a line connects before others, then the nearest. */
function neighbour(d: Drawing, from: string, way: { x: number; y: number }): Place | undefined {
  const at = d.states.get(from)!;
  const linked = new Set<string>();
  for (const l of d.links) {
    if (l.from === from && l.to) linked.add(l.to);
    if (l.to === from && l.from) linked.add(l.from);
  }
  let best: Place | undefined;
  let least = Infinity;
  for (const s of d.states.values()) {
    if (s === at) continue;
    const [dx, dy] = [s.x + s.w / 2 - at.x - at.w / 2, s.y + s.h / 2 - at.y - at.h / 2];
    const [ahead, aside] = [dx * way.x + dy * way.y, Math.abs(dx * way.y) + Math.abs(dy * way.x)];
    if (ahead <= 4 || aside > 3 * ahead + 40) continue;
    const cost = (ahead + 2 * aside) * (linked.has(s.name) ? 0.2 : 1);
    if (cost < least) [best, least] = [s, cost];
  }
  return best;
}
