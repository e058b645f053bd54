import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic as Lint } from "@codemirror/lint";
import { Compartment, EditorState, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import type { Diagnostic } from "../api";
import { completeFrom } from "./complete";
import type { Schema } from "./schema";
import { colours, theme } from "./theme";

export interface EditorProps {
  label: string;
  /** What it begins with. From then on the text is the editor's own: another needs another key. */
  text: string;
  onText: (text: string) => void;
  diagnostics: Diagnostic[];
  schema?: () => Promise<Schema | null>;
  hint?: string;
  /** Shortcuts, as CodeMirror names them: they work while the editor has the focus. */
  keys?: Record<string, () => void>;
  /** Gets a function that puts the cursor at a place. */
  jump?: { current: ((line: number, column?: number) => void) | null };
}

const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/**
 * A text with line numbers, colours, mistakes at their places and completion. The Tab key
 * leaves it, as everywhere on the page; Ctrl+] and Ctrl+[ indent.
 */
export function Editor(p: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const now = useRef(p);
  now.current = p;

  useEffect(() => {
    const v = create(host.current!, now);
    view.current = v;
    if (now.current.jump) now.current.jump.current = (line, column = 1) => jumpTo(v, line, column);
    return () => v.destroy();
  }, []);

  useEffect(() => {
    const v = view.current!;
    v.dispatch(setDiagnostics(v.state, p.diagnostics.map((d) => lintOf(v.state.doc, d))));
  }, [p.diagnostics]);

  return <div class="editor" ref={host} />;
}

function create(host: HTMLElement, now: { current: EditorProps }): EditorView {
  // The editor brings its styles as a sheet of a shadow root: the page's policy allows no
  // style elements.
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const p = now.current;
  const language = new Compartment();
  let isJson = looksLikeJson(p.text);
  const shortcuts = Object.keys(p.keys ?? {}).map((key) => ({
    key,
    preventDefault: true,
    run: () => {
      now.current.keys?.[key]?.();
      return true;
    },
  }));
  const v = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: p.text,
      extensions: [
        keymap.of([...shortcuts, { key: "Enter", run: indentItem }, ...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        indentUnit.of("  "),
        EditorState.tabSize.of(2),
        language.of(isJson ? json() : yaml()),
        syntaxHighlighting(colours),
        theme,
        placeholder(p.hint ?? ""),
        autocompletion({ override: p.schema ? [completeFrom(() => now.current.schema!())] : [], icons: false }),
        EditorView.contentAttributes.of({ "aria-label": p.label, spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((u) => {
          if (!u.docChanged) return;
          const text = u.state.doc.toString();
          if (looksLikeJson(text) !== isJson) {
            isJson = !isJson;
            queueMicrotask(() => v.dispatch({ effects: language.reconfigure(isJson ? json() : yaml()) }));
          }
          now.current.onText(text);
        }),
      ],
    }),
  });
  return v;
}

/**
 * Enter behind "- name:" indents below the name: what belongs to an item of a list that has one key
 * stands there, as tasks do.
 */
function indentItem(v: EditorView): boolean {
  const { main } = v.state.selection;
  const line = v.state.doc.lineAt(main.head);
  const item = /^(\s*(?:-\s+)+)[^\s#{["'][^#{[]*:\s*$/.exec(line.text);
  if (!item || !main.empty || main.head !== line.to) return false;
  v.dispatch({ ...v.state.replaceSelection("\n" + " ".repeat(item[1]!.length + 2)), scrollIntoView: true, userEvent: "input" });
  return true;
}

function offsetOf(doc: Text, line: number, column: number): number {
  const l = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(l.from + Math.max(column - 1, 0), l.to);
}

/** A mistake is underlined to the end of the word that it is at. */
function lintOf(doc: Text, d: Diagnostic): Lint {
  const from = offsetOf(doc, d.line || 1, d.column || 1);
  const line = doc.lineAt(from);
  const word = /^[^\s,:{}[\]"']+/.exec(line.text.slice(from - line.from))?.[0].length ?? 1;
  return {
    from,
    to: Math.min(from + word, line.to),
    severity: d.severity === "warning" ? "warning" : "error",
    source: d.code,
    message: d.hint ? `${d.message} (${d.hint})` : d.message,
  };
}

function jumpTo(v: EditorView, line: number, column: number) {
  const at = offsetOf(v.state.doc, line, column);
  v.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  v.focus();
}
