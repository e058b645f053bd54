// The editor is large: it is loaded when it is first shown.
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Remark } from "../parts/source";
import type { Schema } from "./schema";
import "./editor.css";

export interface EditorProps {
  label: string;
  value: string;
  onChange?: (text: string) => void;
  /** What is wrong, at its line. A new list each time shows the new one. */
  remarks?: Remark[];
  /** Completes keys and values. */
  schema?: () => Promise<Schema | null>;
  /** What an empty text shows. */
  hint?: string;
  /** What Mod-Enter and Mod-Shift-Enter do while the editor has the focus. */
  keys?: Record<string, () => void>;
  /** Gets a function that puts the cursor at a place. */
  jump?: { current: ((line: number, column?: number) => void) | null };
  /** It is JSON even when it does not look like it. */
  json?: boolean;
  /** To look at and copy from; remarks are below their lines. */
  readOnly?: boolean;
  /** The line to begin at. */
  line?: number;
}

type Code = FunctionComponent<EditorProps>;

let loaded: Code | undefined;
let loading: Promise<Code> | undefined;

function load(): Promise<Code> {
  loading ??= import("./editor").then(
    (m) => (loaded = m.default),
    (e: unknown) => {
      loading = undefined; // the server may be back later
      throw e;
    },
  );
  return loading;
}

/** An editor. Until it is there its place is empty; where it cannot be loaded, a plain field stands in. */
export function Editor(p: EditorProps) {
  const [state, set] = useState<Code | "failed" | undefined>(() => loaded);
  useEffect(() => {
    let here = true;
    if (!state)
      load().then(
        (code) => here && set(() => code),
        () => here && set("failed"),
      );
    return () => void (here = false);
  }, []);
  if (state === "failed") return <Plain {...p} />;
  const Code = state;
  return <div class="editor-frame">{Code ? <Code {...p} /> : <p class="quiet editor-coming">Loading…</p>}</div>;
}

function Plain(p: EditorProps) {
  return (
    <textarea
      class="mono editor-plain"
      aria-label={p.label}
      readOnly={p.readOnly}
      value={p.value}
      placeholder={p.hint}
      spellcheck={false}
      onInput={(e) => p.onChange?.(e.currentTarget.value)}
      onKeyDown={(e) => {
        const act = e.key === "Enter" && (e.ctrlKey || e.metaKey) ? p.keys?.[e.shiftKey ? "Mod-Shift-Enter" : "Mod-Enter"] : undefined;
        if (!act) return;
        e.preventDefault();
        act();
      }}
    />
  );
}
