// A drawing of the server as the page uses it: what is in it and where, and how it looks for
// what is known of its states.

/** A badge at a box, such as a count. */
export interface Badge {
  text: string;
  bad?: boolean;
}

/** What the page knows of a state of the diagram. */
export interface NodeMark {
  kind?: "none" | "done" | "active" | "waiting" | "paused" | "failed" | "undone" | "caught";
  /** Shown at the upper edge, and read out. */
  note?: string;
  /** Read out after the state's name, instead of kind and note. */
  says?: string;
  /** Small signs at the upper edge, such as counts. */
  badges?: Badge[];
  /** Shown at the lower edge: how long it took, and its attempts. */
  below?: string;
}

/** A line about a state or a way, such as its last input. */
export interface Fact {
  name: string;
  text: string;
}

/** How often a way was taken, and with what. */
export interface EdgeMark {
  times: number;
  over: () => Fact[]; // what went over it the last time; asked for when it is looked at
}

/** A way between two states; without one of them it leads in or out. */
export interface Link {
  key: string;
  from?: string;
  to?: string;
  kind: string;
  label: string;
}

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Place extends Rect {
  name: string;
  g: SVGGElement;
}

/** A drawing with an index of its parts. */
export interface Drawing {
  svg: SVGSVGElement;
  w: number;
  h: number;
  states: Map<string, Place>;
  links: Link[];
  lines: Map<string, SVGGElement>;
  start?: string;
}

const linkKinds = ["start", "next", "condition", "event", "default", "timeout", "error", "compensate", "offer"];

function linkOf(g: Element): Link {
  const from = g.getAttribute("data-from") ?? undefined;
  const to = g.getAttribute("data-to") ?? undefined;
  const kind = linkKinds.find((k) => g.classList.contains("ls-" + k)) ?? "next";
  return { key: JSON.stringify([from ?? null, to ?? null, kind]), from, to, kind, label: g.getAttribute("data-label") ?? "" };
}

function read(svg: string): Element | null {
  // The policy refuses the style sheet of the drawing already while it is read.
  const root = new DOMParser().parseFromString(svg.replace(/<style>[^<]*<\/style>/g, ""), "image/svg+xml").documentElement;
  return root.nodeName === "svg" ? root : null;
}

/** The ways between the states of a drawing. */
export function linksOf(svg: string): Link[] {
  return [...(read(svg)?.querySelectorAll(".ls-edge") ?? [])].map(linkOf);
}

/** The states of a drawing, in the order in which it has them. */
export function statesOf(svg: string): string[] {
  return [...(read(svg)?.querySelectorAll("[data-state]") ?? [])].map((g) => g.getAttribute("data-state")!);
}

/** Makes a drawing of the server's text, without its heading: the page has one. */
export function drawingOf(text: string): Drawing | null {
  const root = read(text);
  if (!root) return null;
  for (const e of root.querySelectorAll("style, script, foreignObject, .ls-heading, .ls-subtitle, .ls-paper")) e.remove();
  const svg = document.importNode(root, true) as unknown as SVGSVGElement;
  const whole = svg.querySelector(":scope > g");
  const [dx, dy] = shiftOf(whole);
  const w = Number(svg.getAttribute("width")) - 2 * dx;
  const h = Number(svg.getAttribute("height")) - dy;
  svg.setAttribute("viewBox", `${dx} ${dy} ${w} ${h}`);
  svg.setAttribute("width", String(w));
  svg.setAttribute("height", String(h));
  const out: Drawing = { svg, w, h, states: new Map(), links: [], lines: new Map() };
  for (const g of svg.querySelectorAll<SVGGElement>("[data-state]")) {
    const box = g.querySelector(".ls-box");
    if (!box) continue;
    const at = (name: string) => Number(box.getAttribute(name));
    let [x, y] = [at("x"), at("y")];
    for (let e = g.parentElement; e && (e as Element) !== whole && (e as Element) !== svg; e = e.parentElement) {
      const [ex, ey] = shiftOf(e);
      x += ex;
      y += ey;
    }
    const name = g.getAttribute("data-state")!;
    out.states.set(name, { name, g, x, y, w: at("width"), h: at("height") });
    for (const t of g.querySelectorAll("title")) t.remove(); // the card says it
    if (g.classList.contains("ls-begins")) out.start ??= name;
  }
  for (const g of svg.querySelectorAll<SVGGElement>(".ls-edge")) {
    const link = linkOf(g);
    out.links.push(link);
    out.lines.set(link.key, g);
    g.querySelector("title")?.remove();
    const path = g.querySelector(".ls-path");
    if (!path) continue;
    const hit = path.cloneNode() as SVGElement; // a line is thin to point at
    hit.setAttribute("class", "ls-hit");
    g.prepend(hit);
  }
  return out;
}

function shiftOf(g: Element | null | undefined): [number, number] {
  const found = /translate\((-?[\d.]+) (-?[\d.]+)\)/.exec(g?.getAttribute("transform") ?? "");
  return found ? [Number(found[1]), Number(found[2])] : [0, 0];
}

const kinds = ["done", "active", "waiting", "paused", "failed", "undone", "caught"];
const before = new WeakMap<SVGGElement, string>(); // what a state shows

/** Shows what is known; states of which nothing changed stay untouched. */
export function decorate(d: Drawing, p: { marks: Map<string, NodeMark>; edges?: Map<string, EdgeMark>; selected?: string; buttons: boolean; label?: string }) {
  d.svg.removeAttribute("aria-labelledby");
  d.svg.setAttribute("role", "group");
  d.svg.setAttribute("aria-label", p.label ?? "Diagram");
  d.svg.classList.toggle("trail", !!p.edges);
  const outer = new Set<string>(); // tasks with tasks inside
  for (const name of d.states.keys()) for (let i = name.indexOf("/"); i > 0; i = name.indexOf("/", i + 1)) outer.add(name.slice(0, i));
  for (const { name, g } of d.states.values()) {
    const mark = p.marks.get(name);
    const selected = name === p.selected;
    const now = JSON.stringify([mark, selected, !!p.edges, p.buttons]); // each change brings new marks, most of them alike
    if (before.get(g) === now) continue;
    before.set(g, now);
    const says = mark ? (mark.says ?? [mark.kind === "none" ? "" : mark.kind, mark.note].filter(Boolean).join(", ")) : "";
    for (const kind of kinds) g.classList.toggle("mark-" + kind, mark?.kind === kind);
    g.classList.toggle("visited", !!mark);
    g.classList.toggle("selected", selected);
    g.setAttribute("role", p.buttons ? "button" : "img");
    g.setAttribute("aria-label", says ? `${name}, ${says}` : name);
    if (p.buttons) g.setAttribute("aria-pressed", String(selected));
    if (!g.hasAttribute("tabindex")) g.setAttribute("tabindex", "-1");
    drawBadges(g, mark, outer.has(name));
  }
  for (const [key, g] of d.lines) {
    const times = p.edges?.get(key)?.times ?? 0;
    if (Number(g.dataset.times ?? 0) === times) continue;
    g.dataset.times = String(times);
    g.classList.toggle("taken", times > 0);
    g.querySelector(":scope > .badge")?.remove();
    if (times > 1) g.append(lineBadge(g, "×" + times));
  }
}

function drawBadges(g: SVGGElement, mark: NodeMark | undefined, outer: boolean) {
  const badges = mark?.badges ?? (mark?.note ? [{ text: mark.note, bad: mark.kind === "failed" }] : []);
  const want = JSON.stringify([badges, mark?.below]);
  if ((g.dataset.badges ?? "[[],null]") === want) return;
  g.dataset.badges = want;
  for (const old of g.querySelectorAll(":scope > .badge")) old.remove();
  const frame = g.querySelector(".ls-box");
  if (!frame) return;
  const at = (name: string) => Number(frame.getAttribute(name));
  let right = at("x") + at("width") + 8; // over the corner: lines arrive in the middle
  for (const badge of [...badges].reverse()) {
    const sign = badgeAt(badge.text, right, at("y"), badge.bad ? "badge bad" : `badge ${mark?.kind ?? ""}`);
    g.append(sign.g);
    right -= sign.width + 4;
  }
  if (!mark?.below) return;
  // Of a task with tasks inside it stands left, since theirs are right.
  const end = outer ? at("x") + 10 + widthOf(mark.below, "badge below") : at("x") + at("width") + 8;
  g.append(badgeAt(mark.below, end, at("y") + at("height"), "badge below").g);
}

function widthOf(text: string, name: string): number {
  return 12 + (name === "badge below" ? 6.1 : 6.7) * [...text].length;
}

/** A badge that ends at a place, with its middle there. */
function badgeAt(text: string, right: number, middle: number, name: string): { g: SVGElement; width: number } {
  const width = widthOf(text, name);
  const g = element("g", { class: name, "aria-hidden": "true" });
  g.append(element("rect", { x: right - width, y: middle - 9, width, height: 18, rx: 9 }));
  const words = element("text", { x: right - width / 2, y: middle + 4, textLength: width - 12, lengthAdjust: "spacingAndGlyphs" });
  words.textContent = text;
  g.append(words);
  return { g, width };
}

function lineBadge(g: SVGGElement, text: string): SVGElement {
  const pill = g.querySelector(".ls-pill");
  if (pill) {
    const at = (name: string) => Number(pill.getAttribute(name));
    return badgeAt(text, at("x") + at("width") + 22, at("y") + at("height") / 2, "badge line").g;
  }
  const path = g.querySelector<SVGPathElement>("path.ls-path");
  const middle = path?.getPointAtLength(path.getTotalLength() / 2) ?? { x: 0, y: 0 };
  return badgeAt(text, middle.x + 14, middle.y, "badge line").g;
}

/** Puts a button below each state that runs other workflows: it opens their diagrams. */
export function addExpanders(d: Drawing) {
  for (const { g, name } of d.states.values()) {
    const runs = g.dataset.runs?.split("\n") ?? [];
    const box = g.querySelector(".ls-box");
    if (!box || runs.length === 0) continue;
    let x = Number(box.getAttribute("x")) + 10;
    const y = Number(box.getAttribute("y")) + Number(box.getAttribute("height"));
    for (const workflow of runs.slice(0, 3)) {
      const text = "⊞ " + (workflow.length > 16 ? workflow.slice(0, 15) + "…" : workflow);
      const width = 12 + 6.7 * text.length;
      const button = badgeAt(text, x + width, y, "expander").g;
      button.removeAttribute("aria-hidden");
      for (const [key, value] of Object.entries({ role: "button", tabindex: "-1", "data-opens": workflow, "data-of": name, "aria-label": `Open the diagram of ${workflow}, which ${name} runs` }))
        button.setAttribute(key, value);
      g.after(button);
      x += width + 4;
    }
  }
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
  return e;
}
