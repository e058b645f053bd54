// What part of a drawing is seen, and how the pointer, the wheel and touches move it. Only the
// transform of the whole drawing changes: nothing is done for each state.
import type { Rect } from "./diagram-drawing";

/** Below this scale texts of 12 pixels cannot be read. */
export const readable = 0.7;
const most = 3;
const margin = 24;

export class View {
  x = 0;
  y = 0;
  k = 1;
  /** The person moved it: it moves by itself no more. */
  touched = false;
  /** The last pointer moved the drawing: its click is none. */
  dragged = false;
  #pointers = new Map<number, { x: number; y: number }>();
  #from = { x: 0, y: 0 };
  #scrolled = -Infinity;
  #end = new AbortController();

  constructor(
    readonly frame: HTMLElement,
    readonly svg: SVGSVGElement,
    readonly size: { w: number; h: number },
    private changed: () => void,
  ) {
    this.#measure();
    const on = { signal: this.#end.signal };
    frame.addEventListener("wheel", (e) => this.#wheel(e), { ...on, passive: false });
    frame.addEventListener("pointerdown", (e) => this.#down(e), on);
    frame.addEventListener("pointermove", (e) => this.#move(e), on);
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"] as const) frame.addEventListener(type, (e) => this.#pointers.delete(e.pointerId), on);
    // A browser scrolls to what gets the focus; here that is a move.
    frame.addEventListener(
      "scroll",
      () => {
        const [dx, dy] = [frame.scrollLeft, frame.scrollTop];
        if (!dx && !dy) return;
        frame.scrollTo(0, 0);
        this.pan(-dx, -dy);
      },
      on,
    );
    document.addEventListener("scroll", (e) => (this.#scrolled = e.timeStamp), { ...on, passive: true });
  }

  close() {
    this.#end.abort();
  }

  /** The size of the frame, which is not asked for at each move: that would lay out the page anew. */
  w = 0;
  h = 0;
  #measure() {
    this.w = this.frame.clientWidth;
    this.h = this.frame.clientHeight;
  }

  /** The scale at which all of it is seen. */
  get whole() {
    return Math.min(1, this.w / this.size.w, this.h / this.size.h);
  }

  /** The smallest scale: all of it is seen, however many states there are. */
  get least() {
    return Math.min(readable, this.whole);
  }

  /** The scale in words. */
  get percent() {
    return (this.k < 0.095 ? (this.k * 100).toFixed(1) : Math.round(this.k * 100)) + " %";
  }

  /** Begins: with all of it if that can be read, else at a state. */
  begin(at?: Rect, start?: Rect) {
    this.#measure();
    if (!this.w || !this.h) return;
    if (this.whole >= readable) return this.fit();
    const wide = this.w / this.size.w;
    this.k = wide >= readable ? Math.min(1, wide) : 1;
    const [place, share] = at ? [at, 0.5] : [start ?? { x: this.size.w / 2, y: 0, w: 0, h: 0 }, 0];
    this.x = this.w / 2 - (place.x + place.w / 2) * this.k;
    this.y = share ? this.h * share - (place.y + place.h / 2) * this.k : margin - Math.max(0, place.y - 3 * margin) * this.k;
    this.#show();
  }

  fit() {
    if (!this.w || !this.h) return;
    this.k = this.whole;
    this.#show();
  }

  zoom(factor: number, px = this.w / 2, py = this.h / 2) {
    const k = Math.min(most, Math.max(this.least, this.k * factor));
    this.x = px - ((px - this.x) * k) / this.k;
    this.y = py - ((py - this.y) * k) / this.k;
    this.k = k;
    this.#show();
  }

  /** Moves it, as far as there is something to see; tells whether it moved. */
  pan(dx: number, dy: number): boolean {
    const [x, y] = [this.x, this.y];
    this.x += dx;
    this.y += dy;
    this.#show();
    return Math.abs(this.x - x) > 0.5 || Math.abs(this.y - y) > 0.5;
  }

  /** Moves a place into sight, no farther than needed. */
  reveal(r: Rect) {
    if (!this.w || !this.h) return;
    if (this.k < readable / 2) return this.centre(r);
    const need = (low: number, size: number, room: number) => (low < margin || size > room - 2 * margin ? margin - low : Math.min(0, room - margin - low - size));
    this.x += need(this.x + r.x * this.k, r.w * this.k, this.w);
    this.y += need(this.y + r.y * this.k, r.h * this.k, this.h);
    this.#show();
  }

  /** Moves a place to the middle, at a scale that can be read. */
  centre(r: Rect) {
    this.k = Math.max(this.k, readable);
    this.x = this.w / 2 - (r.x + r.w / 2) * this.k;
    this.y = this.h / 2 - (r.y + r.h / 2) * this.k;
    this.#show();
  }

  /** After the frame changed its size. */
  resized() {
    this.#measure();
    if (this.w && this.h) this.#show();
  }

  /** Where a place of the drawing is in the frame. */
  onScreen(r: Rect): Rect {
    return { x: this.x + r.x * this.k, y: this.y + r.y * this.k, w: r.w * this.k, h: r.h * this.k };
  }

  #show() {
    const within = (at: number, size: number, room: number) => (size <= room ? (room - size) / 2 : Math.min(margin, Math.max(room - size - margin, at)));
    this.k = Math.min(most, Math.max(this.least, this.k));
    this.x = within(this.x, this.size.w * this.k, this.w);
    this.y = within(this.y, this.size.h * this.k, this.h);
    this.svg.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.k})`;
    this.changed();
  }

  #wheel(e: WheelEvent) {
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? this.h : 1;
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      this.touched = true;
      const at = this.frame.getBoundingClientRect();
      this.zoom(Math.exp(-Math.max(-60, Math.min(60, e.deltaY * unit)) / 180), e.clientX - at.left, e.clientY - at.top);
      return;
    }
    // Who scrolls the page is not caught by the diagram on the way.
    if (e.timeStamp - this.#scrolled < 250) {
      this.#scrolled = e.timeStamp;
      return;
    }
    if (this.pan(-(e.shiftKey && !e.deltaX ? e.deltaY : e.deltaX) * unit, -(e.shiftKey && !e.deltaX ? 0 : e.deltaY) * unit)) {
      e.preventDefault();
      this.touched = true;
    }
  }

  #down(e: PointerEvent) {
    if (e.pointerType === "mouse" && e.button !== 0) return;
    if (this.#pointers.size === 0) {
      this.dragged = false;
      this.#from = { x: e.clientX, y: e.clientY };
    }
    this.#pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  }

  #move(e: PointerEvent) {
    const last = this.#pointers.get(e.pointerId);
    if (!last) return;
    if (e.pointerType === "mouse" && e.buttons === 0) {
      this.#pointers.delete(e.pointerId);
      return;
    }
    const now = { x: e.clientX, y: e.clientY };
    const other = [...this.#pointers].find(([id]) => id !== e.pointerId)?.[1];
    if (!other && !this.dragged && Math.hypot(now.x - this.#from.x, now.y - this.#from.y) < 5) return;
    if (!this.dragged) {
      this.dragged = true;
      this.touched = true;
      for (const id of this.#pointers.keys()) this.frame.setPointerCapture(id);
    }
    this.#pointers.set(e.pointerId, now);
    if (!other) {
      this.pan(now.x - last.x, now.y - last.y);
      return;
    }
    const at = this.frame.getBoundingClientRect();
    const far = (p: { x: number; y: number }) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
    this.pan((now.x - last.x) / 2, (now.y - last.y) / 2);
    this.zoom(far(now) / far(last), (now.x + other.x) / 2 - at.left, (now.y + other.y) / 2 - at.top);
  }
}
