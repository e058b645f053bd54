import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, get, type Bundle, type Definition, type DefinitionFile, type Page } from "../api";
import { FilesEditor, type Files } from "../editor/files";
import { useTitle } from "../app";
import { barred, may, NotAllowed } from "../parts/access";
import { PageHead } from "../parts/head";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Places, type Remark } from "../parts/source";
import { go } from "../router";
import { chosen, contentOf, dropped, filesOf } from "./deploy-files";
import { Deployed, Review, useChecked, verdict } from "./deploy-review";

const prefix = "lockstep-draft-";

/** What was written and is not deployed yet, kept in the browser. */
function readDraft(name: string): Files | null {
  try {
    const kept = JSON.parse(localStorage.getItem(prefix + name) ?? "null") as Files | null;
    return kept && typeof kept === "object" && Object.values(kept).every((c) => typeof c === "string") ? kept : null;
  } catch {
    return null;
  }
}

/** Keeps it; says whether it could. */
function keepDraft(name: string, files: Files | null): boolean {
  try {
    if (!files) localStorage.removeItem(prefix + name);
    else if (Object.values(files).every((c) => typeof c === "string")) localStorage.setItem(prefix + name, JSON.stringify(files));
    else return false;
    return true;
  } catch {
    return false; // it is too large, or this browser keeps nothing
  }
}

const same = (a: Files, b: Files) => Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([path, content]) => b[path] === content);

/** Files to write and deploy. They are checked while they are written. */
function Bench(p: { draft: string; start: Files; main?: string; definitions?: string[]; id?: string; adds?: boolean; onDone: (b: Bundle) => void }) {
  const [files, setFiles] = useState<Files>(() => readDraft(p.draft) ?? p.start);
  const [shown, setShown] = useState(() => p.main ?? Object.keys(files)[0] ?? "");
  const [kept, setKept] = useState(true);
  const [reviewing, setReviewing] = useState(false);
  const jump = useRef<((line: number, column?: number) => void) | null>(null);
  const next = useRef<Remark | undefined>(undefined);
  const edited = !same(files, p.start);
  const set = (change: (old: Files) => Files) =>
    setFiles((old) => {
      const now = change(old);
      setKept(keepDraft(p.draft, same(now, p.start) ? null : now));
      return now;
    });
  const checked = useChecked(files, p.definitions);
  const toRemark = (d: Remark) => {
    const path = d.file || p.main || shown;
    if (path === shown) return jump.current?.(d.line!, d.column);
    next.current = d;
    setShown(path);
  };
  useEffect(() => {
    const d = next.current;
    next.current = undefined;
    if (d?.line) jump.current?.(d.line, d.column);
  }, [shown]);
  const review = () => may("deploy") && Object.keys(files).length > 0 && setReviewing(true);
  const add = async (list: { path: string; file: File }[]) => {
    const more = await filesOf(list);
    if (!Object.keys(more).length) return;
    set((old) => (same(old, p.start) ? more : { ...old, ...more })); // the example gives way
    const documents = Object.keys(more).filter((path) => /\.(ya?ml|json)$/.test(path) && !/_test\.ya?ml$/.test(path));
    setShown(documents.find((path) => !path.includes("/")) ?? documents[0] ?? Object.keys(more)[0]!);
  };
  return (
    <div class="deploy tall">
      {p.adds && <Drop add={add} />}
      <FilesEditor
        files={files}
        main={p.main}
        shown={shown}
        show={setShown}
        label="Definition"
        remarks={checked.remarks}
        keys={{ "Mod-Enter": review }}
        jump={jump}
        change={{
          write: (path, text) => set((old) => ({ ...old, [path]: text })),
          ...(p.adds && {
            add: (path: string) => set((old) => ({ ...old, [path]: "" })),
            rename: (from: string, to: string) => set((old) => Object.fromEntries(Object.entries(old).map(([path, c]) => [path === from ? to : path, c]))),
            remove: (path: string) => set((old) => Object.fromEntries(Object.entries(old).filter(([name]) => name !== path))),
          }),
        }}
      />
      {checked.remarks.length > 0 && <Places remarks={checked.remarks} go={toRemark} />}
      <ProblemBox error={checked.error} />
      <p class="quiet" role="status">
        {verdict(checked, p.id)}
      </p>
      <div class="bar">
        <button class="main" type="button" aria-disabled={!Object.keys(files).length} onClick={review} {...barred("deploy")}>
          Review and deploy
        </button>
        {edited && (
          <button type="button" onClick={() => (set(() => p.start), setShown(p.main ?? Object.keys(p.start)[0] ?? ""))}>
            Discard the changes
          </button>
        )}
        <span class="quiet">{kept ? "Ctrl+Enter reviews. Your draft stays in this browser until it is deployed." : "This browser cannot keep these files: they are gone when you leave."}</span>
      </div>
      {reviewing && (
        <Review
          files={files}
          definitions={p.definitions}
          onClose={() => setReviewing(false)}
          onRemark={(d) => d.line && toRemark(d)}
          onDone={(b) => {
            keepDraft(p.draft, null);
            setReviewing(false);
            p.onDone(b);
          }}
        />
      )}
    </div>
  );
}

/** Takes a folder or files, by dropping or by choosing them. */
function Drop(p: { add: (list: { path: string; file: File }[]) => Promise<void> }) {
  const [over, setOver] = useState(false);
  const [error, setError] = useState<unknown>();
  const take = (list: { path: string; file: File }[] | Promise<{ path: string; file: File }[]>) => {
    setError(undefined);
    Promise.resolve(list)
      .then(p.add)
      .catch(setError);
  };
  return (
    <>
      <div
        class={over ? "drop over" : "drop"}
        onDragOver={(e) => {
          e.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => {
          e.preventDefault();
          setOver(false);
          if (e.dataTransfer) take(dropped(e.dataTransfer));
        }}
      >
        <p>
          <b>Drop a folder or files here</b>
          <br />
          <span class="quiet">Definitions, and what they refer to: OpenAPI and .proto files, schemas, scripts. All of them are deployed, or none.</span>
        </p>
        <span class="button">
          Choose a folder
          <input type="file" aria-label="Choose a folder" {...{ webkitdirectory: true }} onChange={(e) => (take(chosen(e.currentTarget.files)), (e.currentTarget.value = ""))} />
        </span>
        <span class="button">
          Choose files
          <input type="file" aria-label="Choose files" multiple onChange={(e) => (take(chosen(e.currentTarget.files)), (e.currentTarget.value = ""))} />
        </span>
      </div>
      <ProblemBox error={error} />
    </>
  );
}

/** Deploys definitions with their files, or one that is written here. */
export function DeployPage() {
  useTitle("Deploy a definition");
  const [done, setDone] = useState<Bundle>();
  if (!may("deploy")) {
    return (
      <>
        <PageHead kind="Definitions" kindHref="/definitions" title="Deploy" />
        <NotAllowed deed="deploy" what="deploy definitions" />
      </>
    );
  }
  if (done) {
    return (
      <>
        <PageHead kind="Definitions" kindHref="/definitions" title="Deployed" />
        <Deployed bundle={done} links />
        <div class="bar">
          <button type="button" onClick={() => setDone(undefined)}>
            Deploy something else
          </button>
        </div>
      </>
    );
  }
  return (
    <>
      <PageHead kind="Definitions" kindHref="/definitions" title="Deploy" />
      <Bench
        draft="files"
        start={{ "greet.yaml": example }}
        adds
        onDone={(b) => {
          if (b.definitions.length === 1) go("/definitions/" + encodeURIComponent(b.definitions[0]!.definition.id));
          else setDone(b);
        }}
      />
    </>
  );
}

/** A new version of a definition: it begins with the current one, and with the files that it uses. */
export function NewVersion(p: { definition: Definition; of: string; onDone: () => void }) {
  const { definition: d } = p;
  const main = d.path || d.id.replace(/[^\w.-]+/g, "_") + ".yaml";
  const start = useLoad((signal) => currentFiles(d, main, p.of, signal), [d.id, p.of, d.digest]);
  if (start.error) return <ProblemBox error={start.error} again={start.again} />;
  if (!start.data) return <p class="quiet">Loading…</p>;
  return <Bench key={d.digest} draft={`${d.id}@${d.version}`} start={start.data} main={main} definitions={[main]} id={d.id} onDone={p.onDone} />;
}

/** The document of a definition, and the files beside it. Documents from the network are fetched anew. */
async function currentFiles(d: Definition, main: string, of: string, signal: AbortSignal): Promise<Files> {
  const path = api("definitions", d.id, "source") + of;
  const out: Files = { [main]: (await ask<string>(path, { signal, text: true })).data };
  if (!d.path) return out;
  const files = await get<Page<DefinitionFile>>(api("definitions", d.id, "files") + of, signal);
  for (const f of files.items) {
    if (f.remote || f.document) continue;
    const { data } = await ask<ArrayBuffer>(path + (of ? "&" : "?") + "file=" + encodeURIComponent(f.path), { signal, bytes: true });
    out[f.path] = await contentOf(new Blob([data]));
  }
  return out;
}

const example = `document:
  dsl: 1.0.3
  namespace: default
  name: greet
  version: 1.0.0
do:
- greet:
    set:
      greeting: \${ "Hello, " + .name }
`;
