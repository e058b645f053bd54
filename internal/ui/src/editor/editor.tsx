import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic as Lint } from "@codemirror/lint";
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import type { Remark } from "../parts/source";
import { completeFrom } from "./complete";
import type { EditorProps } from "./lazy";
import { remarkLines } from "./remarks";
import { colours, theme } from "./theme";

const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);

/**
 * A text with line numbers, colours, mistakes at their places and completion. Tab and Escape
 * leave it; Ctrl+] and Ctrl+[ indent.
 */
export default function CodeEditor(p: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const now = useRef(p);
  const emitted = useRef<string[]>([]); // texts that were reported and have not come back as the value yet
  now.current = p;

  useEffect(() => {
    const v = create(host.current!, now, emitted.current);
    view.current = v;
    if (now.current.jump) now.current.jump.current = (line, column = 1) => jumpTo(v, line, column);
    if (now.current.line) jumpTo(v, now.current.line, 1, false);
    return () => v.destroy();
  }, []);

  useEffect(() => {
    // A value that lags behind what is being typed must not overwrite it.
    const known = emitted.current.indexOf(p.value);
    if (known >= 0) return void emitted.current.splice(0, known + 1);
    const v = view.current!;
    const doc = v.state.doc;
    if (doc.length === p.value.length && doc.toString() === p.value) return;
    emitted.current.length = 0;
    v.dispatch({ changes: { from: 0, to: doc.length, insert: p.value } });
    emitted.current.length = 0;
  }, [p.value]);

  useEffect(() => {
    const v = view.current!;
    const here = (p.remarks ?? []).filter((d) => d.line);
    v.dispatch(setDiagnostics(v.state, here.map((d) => lintOf(v.state.doc, d))));
    if (p.readOnly) v.dispatch({ effects: remarkLines.of(here) });
  }, [p.remarks]);

  return <div class="editor" ref={host} tabIndex={-1} />;
}

function create(host: HTMLElement, now: { current: EditorProps }, emitted: string[]): EditorView {
  // The editor brings its styles as a sheet of a shadow root: the page's policy allows no
  // style elements.
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const p = now.current;
  const language = new Compartment();
  let isJson = p.json ?? looksLikeJson(p.value);
  const shortcuts = ["Mod-Enter", "Mod-Shift-Enter"].map((key) => ({
    key,
    preventDefault: true,
    run: () => {
      const act = now.current.keys?.[key];
      act?.();
      return !!act;
    },
  }));
  const leave = () => {
    host.focus(); // Tab goes on from here
    return true;
  };
  const writing: Extension[] = [
    keymap.of([
      ...shortcuts,
      { key: "Enter", run: indentItem },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...historyKeymap,
      ...defaultKeymap.filter((k) => k.key !== "Escape"),
      { key: "Escape", run: leave },
    ]),
    history(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    lintGutter(),
    placeholder(p.hint ?? ""),
    autocompletion({ override: p.schema ? [completeFrom(() => now.current.schema!())] : [], icons: false }),
    EditorView.contentAttributes.of({ "aria-label": p.label, spellcheck: "false", tabindex: "0" }),
  ];
  const reading: Extension[] = [
    keymap.of([...defaultKeymap.filter((k) => k.key !== "Escape"), { key: "Escape", run: leave }]),
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": p.label, "aria-readonly": "true", spellcheck: "false", tabindex: "0" }),
    remarkLines,
  ];
  const v = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: p.value,
      extensions: [
        p.readOnly ? reading : writing,
        lineNumbers(),
        drawSelection(),
        bracketMatching(),
        indentUnit.of("  "),
        EditorState.tabSize.of(2),
        language.of(isJson ? json() : yaml()),
        syntaxHighlighting(colours),
        theme,
        EditorView.updateListener.of((u) => {
          if (!u.docChanged) return;
          const text = u.state.doc.toString();
          if (p.json === undefined && looksLikeJson(text) !== isJson) {
            isJson = !isJson;
            queueMicrotask(() => v.dispatch({ effects: language.reconfigure(isJson ? json() : yaml()) }));
          }
          emitted.push(text);
          if (emitted.length > most) emitted.shift();
          now.current.onChange?.(text);
        }),
      ],
    }),
  });
  return v;
}

const most = 200; // texts on their way

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
function lintOf(doc: Text, d: Remark): Lint {
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

function jumpTo(v: EditorView, line: number, column: number, focus = true) {
  const at = offsetOf(v.state.doc, line, column);
  v.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  if (focus) v.focus();
}
