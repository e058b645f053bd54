// Several files in one editor.
import { useRef, useState } from "preact/hooks";
import { Dialog } from "../parts/dialog";
import { number } from "../parts/format";
import type { Remark } from "../parts/source";
import { schemaOf } from "./complete";
import { likelyDialect } from "./dialect";
import { Editor } from "./lazy";
import "./files.css";

/** Files by path. What is not text is kept as it is. */
export type Files = Record<string, string | Blob>;

const mostTabs = 10;

export interface FileChange {
  write: (path: string, text: string) => void;
  /** Without it, there are always the same files. */
  add?: (path: string) => void;
  rename?: (from: string, to: string) => void;
  remove?: (path: string) => void;
}

/** The files, one of which is shown, with the mistakes of each. A remark without a file is of the main one. */
export function FilesEditor(p: {
  files: Files;
  /** The one that stays, which remarks without a file are about. */
  main?: string;
  shown: string;
  show: (path: string) => void;
  change: FileChange;
  remarks: Remark[];
  keys?: Record<string, () => void>;
  jump?: { current: ((line: number, column?: number) => void) | null };
  label?: string;
}) {
  const [asking, setAsking] = useState<"add" | "rename">();
  const paths = Object.keys(p.files);
  const shown = p.shown in p.files ? p.shown : (paths[0] ?? "");
  const content = p.files[shown];
  const mine = (path: string) => p.remarks.filter((d) => (d.file || p.main) === path);
  const here = useStable(mine(shown));
  const fixed = shown === p.main;
  return (
    <div class="files-editor">
      {(paths.length > 1 || p.change.add) && (
        <div class="files-bar">
          <FileChoice paths={paths} shown={shown} show={p.show} name={(path) => (path === p.main && p.label ? p.label : path)} wrong={(path) => mine(path).filter((d) => d.severity !== "warning").length} />
          {p.change.add && (
            <button type="button" class="small" onClick={() => setAsking("add")}>
              Add file
            </button>
          )}
          {p.change.rename && !fixed && shown && (
            <button type="button" class="small" onClick={() => setAsking("rename")}>
              Rename
            </button>
          )}
          {p.change.remove && !fixed && shown && (
            <button type="button" class="small" aria-label={`Remove ${shown}`} onClick={() => p.change.remove!(shown)}>
              Remove
            </button>
          )}
        </div>
      )}
      {typeof content === "string" ? (
        <Editor
          key={shown}
          label={p.label && (fixed || paths.length === 1) ? p.label : shown}
          value={content}
          onChange={(text) => p.change.write(shown, text)}
          remarks={here}
          schema={/\.(ya?ml|json)$/.test(shown) || fixed ? () => schemaOf(likelyDialect(content)) : undefined}
          keys={p.keys}
          jump={p.jump}
        />
      ) : (
        content && <p class="quiet">This file is not text: {number(content.size)} bytes.</p>
      )}
      {asking && (
        <NameFile
          title={asking === "add" ? "Add a file" : `Rename ${shown}`}
          start={asking === "add" ? "" : shown}
          taken={paths}
          onClose={() => setAsking(undefined)}
          onName={(path) => {
            setAsking(undefined);
            if (asking === "add") p.change.add!(path);
            else p.change.rename!(shown, path);
            p.show(path);
          }}
        />
      )}
    </div>
  );
}

/** The same list as long as it says the same: editors show remarks anew when they get another one. */
function useStable(list: Remark[]): Remark[] {
  const last = useRef<{ text: string; list: Remark[] }>({ text: "[]", list: [] });
  const text = JSON.stringify(list);
  if (last.current.text !== text) last.current = { text, list };
  return last.current.list;
}

function FileChoice(p: { paths: string[]; shown: string; show: (path: string) => void; name: (path: string) => string; wrong: (path: string) => number }) {
  const tabs = useRef<HTMLDivElement>(null);
  const name = (path: string) => (p.wrong(path) ? `${p.name(path)} (${p.wrong(path)} wrong)` : p.name(path));
  if (p.paths.length > mostTabs) {
    return (
      <label class="files-choice">
        File{" "}
        <select value={p.shown} onChange={(e) => p.show(e.currentTarget.value)}>
          {p.paths.map((path) => (
            <option value={path}>{name(path)}</option>
          ))}
        </select>
      </label>
    );
  }
  const move = (e: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const to = (p.paths.indexOf(p.shown) + by + p.paths.length) % p.paths.length;
    p.show(p.paths[to]!);
    (tabs.current?.children[to] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="files-tabs" role="tablist" aria-label="Files" ref={tabs} onKeyDown={move}>
      {p.paths.map((path) => (
        <button key={path} type="button" role="tab" aria-selected={path === p.shown} tabIndex={path === p.shown ? 0 : -1} onClick={() => p.show(path)}>
          {name(path)}
        </button>
      ))}
    </div>
  );
}

function NameFile(p: { title: string; start: string; taken: string[]; onClose: () => void; onName: (path: string) => void }) {
  const [path, setPath] = useState(p.start);
  const [wrong, setWrong] = useState("");
  const name = () => {
    const found = wrongPath(path.trim()) || (path.trim() !== p.start && p.taken.includes(path.trim()) ? "There is a file of this name." : "");
    if (found) return setWrong(found);
    p.onName(path.trim());
  };
  return (
    <Dialog title={p.title} action="Keep" onClose={p.onClose} onSubmit={name}>
      <label class="field">
        <span>Path in the folder</span>
        <input value={path} placeholder="apis/shop.yaml" autocomplete="off" spellcheck={false} onInput={(e) => (setPath(e.currentTarget.value), setWrong(""))} />
      </label>
      {wrong && (
        <p class="field-error" role="alert">
          {wrong}
        </p>
      )}
    </Dialog>
  );
}

/** What is wrong with the path of a file in a bundle. */
function wrongPath(path: string): string {
  if (!path) return "Give it a name.";
  if (path.startsWith("/") || path.endsWith("/") || path.includes("\\") || path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    return "Write it relative to the folder, with / and without . and ..: apis/shop.yaml";
  }
  return "";
}
