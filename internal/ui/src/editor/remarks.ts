// Remarks below the lines that they are about, in a text that is only read.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import type { Remark } from "../parts/source";

const set = StateEffect.define<Remark[]>();

class Line extends WidgetType {
  constructor(readonly remark: Remark) {
    super();
  }
  override eq(other: Line) {
    return other.remark === this.remark;
  }
  override toDOM() {
    const d = this.remark;
    const warning = d.severity === "warning";
    const line = document.createElement("div");
    line.className = "cm-remark" + (warning ? " warning" : "");
    const head = document.createElement("b");
    head.textContent = `${warning ? "▲ warning" : "✕ error"} ${d.code ?? ""} `;
    line.append(head, d.hint ? `${d.message} (${d.hint})` : d.message);
    return line;
  }
}

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lines, tr) {
    for (const e of tr.effects) {
      if (!e.is(set)) continue;
      const { doc } = tr.state;
      const sorted = [...e.value].sort((a, b) => a.line! - b.line!);
      return Decoration.set(
        sorted.map((d) => Decoration.widget({ widget: new Line(d), block: true, side: 1 }).range(doc.line(Math.min(Math.max(d.line!, 1), doc.lines)).to)),
        true,
      );
    }
    return lines.map(tr.changes);
  },
  provide: (f) => EditorView.decorations.from(f),
});

/** The extension; `of` gives the effect that changes what it shows. */
export const remarkLines = Object.assign([field], { of: (remarks: Remark[]) => set.of(remarks) });
