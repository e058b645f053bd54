import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Colours come from the page's own names, so that both schemes have them.
export const theme = EditorView.theme({
  "&": { fontSize: "var(--text-s)", backgroundColor: "var(--ground)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" }, // its frame on the page has one
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto", minHeight: "var(--editor-min)", maxHeight: "var(--editor-max)" },
  ".cm-content": { caretColor: "var(--text)", padding: "6px 0", minHeight: "var(--editor-min)" },
  ".cm-gutter": { minHeight: "var(--editor-min)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--quiet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLineGutter": { backgroundColor: "var(--off-ground)", color: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--busy-ground)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--off-ground)", outline: "1px solid var(--line)" },
  ".cm-placeholder": { color: "var(--quiet)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "24rem", font: "13px/1.45 system-ui, sans-serif" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--busy-ground)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--quiet)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic": { padding: "4px 10px", font: "13px/1.45 system-ui, sans-serif" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--wait)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--wait)" },
  ".cm-remark": { padding: "2px 12px 4px", color: "var(--bad)", backgroundColor: "var(--bad-ground)", font: "var(--text-s)/1.5 system-ui, sans-serif", whiteSpace: "pre-wrap" },
  ".cm-remark.warning": { color: "var(--wait)", backgroundColor: "var(--wait-ground)" },
  ".cm-lint-marker": { width: "0.9em", height: "0.9em", content: "normal", lineHeight: "1" },
  ".cm-lint-marker-error": { content: "normal" },
  ".cm-lint-marker-error::before": { content: "'✕'", color: "var(--bad)", fontWeight: "700" },
  ".cm-lint-marker-warning::before": { content: "'!'", color: "var(--wait)", fontWeight: "700" },
});

export const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--wait)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.labelName, tags.typeName], color: "var(--busy)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);
