import { useEffect, useMemo, useRef } from "preact/hooks";
import "./diagram.css";

/** What the page knows of a state of the diagram. */
export interface NodeMark {
  kind?: "none" | "done" | "active" | "waiting" | "paused" | "failed";
  /** Shown at the upper edge, and read out. */
  note?: string;
  /** Read out after the state's name, instead of kind and note. */
  says?: string;
  /** Small signs at the upper edge, such as counts. */
  badges?: { text: string; bad?: boolean }[];
}

/**
 * A diagram as the server draws it. With onSelect its states are buttons. It is drawn once;
 * when marks change, only those do.
 */
export function Diagram(p: {
  svg: string;
  label?: string;
  marks?: Map<string, NodeMark>;
  selected?: string;
  onSelect?: (state: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const select = useRef(p.onSelect);
  select.current = p.onSelect;
  const buttons = !!p.onSelect;
  const drawing = useMemo(() => parse(p.svg), [p.svg]);
  useEffect(() => {
    if (drawing) box.current?.replaceChildren(drawing);
  }, [drawing]);
  useEffect(() => {
    if (drawing) decorate(drawing, p.marks ?? new Map(), p.selected, buttons, p.label);
  }, [drawing, p.marks, p.selected, buttons, p.label]);
  if (!drawing) return <p class="quiet">There is no diagram.</p>;
  const pick = (target: EventTarget | null) => {
    const state = (target as Element | null)?.closest?.("[data-state]")?.getAttribute("data-state");
    if (state) select.current?.(state);
    return !!state;
  };
  // A drawing much wider than the page is scrolled rather than shrunk beyond reading.
  const wide = Number(drawing.getAttribute("width")) > 1800;
  return (
    <div
      class={wide ? "diagram wide" : "diagram"}
      ref={box}
      tabIndex={buttons ? undefined : 0}
      role={buttons ? undefined : "group"}
      aria-label={buttons ? undefined : (p.label ?? "Diagram")}
      onClick={buttons ? (e) => void pick(e.target) : undefined}
      onKeyDown={
        buttons
          ? (e) => {
              if ((e.key === "Enter" || e.key === " ") && pick(e.target)) e.preventDefault();
            }
          : undefined
      }
    />
  );
}

/** The states of a drawing, in the order in which it has them. */
export function statesOf(svg: string): string[] {
  const drawing = parse(svg);
  return drawing ? [...drawing.querySelectorAll("[data-state]")].map((g) => g.getAttribute("data-state")!) : [];
}

function parse(svg: string): SVGSVGElement | null {
  // The policy refuses the style sheet of the drawing already while it is read.
  const text = svg.replace(/<style>[^<]*<\/style>/g, "");
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.nodeName !== "svg") return null;
  for (const e of root.querySelectorAll("style, script, foreignObject")) e.remove();
  return document.importNode(root, true) as unknown as SVGSVGElement;
}

const kinds = ["done", "active", "waiting", "paused", "failed"];

function decorate(drawing: SVGSVGElement, marks: Map<string, NodeMark>, selected: string | undefined, buttons: boolean, label?: string) {
  // An image has no parts for a screen reader; a group of buttons has.
  drawing.setAttribute("role", buttons ? "group" : "img");
  if (label) {
    drawing.removeAttribute("aria-labelledby");
    drawing.setAttribute("aria-label", label);
  }
  for (const g of drawing.querySelectorAll<SVGGElement>("[data-state]")) {
    const state = g.getAttribute("data-state")!;
    const mark: NodeMark = marks.get(state) ?? {};
    const says = mark.says ?? [mark.kind === "none" ? "" : mark.kind, mark.note].filter(Boolean).join(", ");
    for (const kind of kinds) g.classList.toggle("mark-" + kind, mark.kind === kind);
    g.classList.toggle("selected", state === selected);
    if (buttons) {
      g.setAttribute("role", "button");
      g.setAttribute("tabindex", "0");
      g.setAttribute("aria-label", says ? `${state}, ${says}` : state);
      g.setAttribute("aria-pressed", String(state === selected));
    }
    drawBadges(g, mark.badges ?? (mark.note ? [{ text: mark.note, bad: mark.kind === "failed" }] : []));
  }
}

function drawBadges(g: SVGGElement, badges: { text: string; bad?: boolean }[]) {
  const want = JSON.stringify(badges);
  if ((g.dataset.badges ?? "[]") === want) return;
  g.dataset.badges = want;
  for (const old of g.querySelectorAll(":scope > .badge")) old.remove();
  const frame = g.querySelector(".ls-box");
  if (!frame) return;
  const at = (name: string) => Number(frame.getAttribute(name));
  let right = at("x") + at("width") - 8;
  for (const badge of [...badges].reverse()) {
    const width = 14 + 7.2 * badge.text.length;
    const sign = element("g", { class: badge.bad ? "badge bad" : "badge", "aria-hidden": "true" });
    sign.append(element("rect", { x: right - width, y: at("y") - 10, width, height: 20, rx: 10 }));
    const text = element("text", { x: right - width / 2, y: at("y") + 4.5 });
    text.textContent = badge.text;
    sign.append(text);
    g.append(sign);
    right -= width + 5;
  }
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
  return e;
}
