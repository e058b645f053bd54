// A small picture of a large drawing, with what is seen of it. It has a path for each kind of
// mark, not an element for each state.
import type { Drawing, NodeMark } from "./diagram-drawing";
import type { View } from "./diagram-view";
import { useEffect, useMemo, useRef } from "preact/hooks";

const kinds = ["none", "done", "undone", "caught", "waiting", "paused", "active", "failed"] as const;

/** How large the map is: it keeps the drawing's shape, and hides little of it, but no side gets too short to point at. */
export function mapSize(d: { w: number; h: number }, room: { w: number; h: number }) {
  const scale = Math.min(Math.min(150, room.w * 0.2) / d.w, Math.min(220, room.h * 0.35) / d.h);
  return { w: Math.max(36, Math.round(d.w * scale)), h: Math.max(36, Math.round(d.h * scale)) };
}

export function Minimap(p: { drawing: Drawing; view: View; marks: Map<string, NodeMark>; seen: preact.RefObject<SVGRectElement | null> }) {
  const { drawing: d, view } = p;
  const size = mapSize(d, view);
  const [sx, sy] = [size.w / d.w, size.h / d.h];
  const paths = useMemo(() => {
    const out: Record<string, string> = {};
    for (const s of d.states.values()) {
      const kind = p.marks.get(s.name)?.kind ?? "none";
      const tall = kind === "none" || kind === "done" ? 1 : 3; // what matters is never too small to see
      const [w, h] = [Math.max(tall, s.w * sx), Math.max(tall, s.h * sy)];
      out[kind] = (out[kind] ?? "") + `M${(s.x * sx).toFixed(1)} ${(s.y * sy).toFixed(1)}h${w.toFixed(1)}v${h.toFixed(1)}h${(-w).toFixed(1)}z`;
    }
    return out;
  }, [d, p.marks, sx, sy]);
  const svg = useRef<SVGSVGElement>(null);
  const down = useRef(false);
  useEffect(() => showSeen(p.seen.current, view, size));
  const go = (e: PointerEvent) => {
    const at = svg.current!.getBoundingClientRect();
    view.touched = true;
    const [x, y] = [((e.clientX - at.left) / at.width) * d.w, ((e.clientY - at.top) / at.height) * d.h];
    view.pan(view.w / 2 - (view.x + x * view.k), view.h / 2 - (view.y + y * view.k));
  };
  return (
    <svg
      class="map"
      ref={svg}
      width={size.w}
      height={size.h}
      viewBox={`0 0 ${size.w} ${size.h}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={(e) => {
        down.current = true;
        svg.current!.setPointerCapture(e.pointerId);
        go(e);
        e.stopPropagation();
      }}
      onPointerMove={(e) => down.current && go(e)}
      onPointerUp={() => (down.current = false)}
      onPointerCancel={() => (down.current = false)}
    >
      {kinds.map((kind) => paths[kind] && <path key={kind} class={"map-" + kind} d={paths[kind]} />)}
      <rect ref={p.seen} class="map-seen" />
    </svg>
  );
}

/** Moves the frame of what is seen. */
export function showSeen(rect: SVGRectElement | null, view: View, size = mapSize(view.size, view)) {
  if (!rect) return;
  const [sx, sy] = [size.w / view.size.w, size.h / view.size.h];
  const x = Math.max(0, (-view.x / view.k) * sx);
  const y = Math.max(0, (-view.y / view.k) * sy);
  rect.setAttribute("x", String(x + 0.75));
  rect.setAttribute("y", String(y + 0.75));
  rect.setAttribute("width", String(Math.max(4, Math.min(size.w - x, (view.w / view.k) * sx) - 1.5)));
  rect.setAttribute("height", String(Math.max(4, Math.min(size.h - y, (view.h / view.k) * sy) - 1.5)));
}
