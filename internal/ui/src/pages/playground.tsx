import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, ask, get, type Definition, type DefinitionFile, type Diagnostic, type Page } from "../api";
import { useTitle } from "../app";
import { FilesEditor } from "../editor/files";
import { Editor } from "../editor/lazy";
import { connection } from "../live";
import { barred } from "../parts/access";
import { announce } from "../parts/announcer";
import { virtual } from "../parts/format";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import type { Remark } from "../parts/source";
import { amend, go, place } from "../router";
import { dialectName } from "./definitions";
import { Review } from "./deploy-review";
import { instanceOf, PlayDiagram } from "./playground-diagram";
import { Share, SaveScenario } from "./playground-dialogs";
import { keepDraft, readDraft } from "./playground-draft";
import { beginWith, examples, nothing, type Texts } from "./playground-examples";
import { fromFragment, isLink, keepLink, readLink } from "./playground-link";
import { Result, type Played, type PlayRun } from "./playground-result";
import "./playground.css";

/** Where a playground begins: an example, or the source of a definition that is deployed. */
export default function Playground() {
  useTitle("Playground");
  const { query } = place.value;
  const definition = query.get("definition");
  const link = query.get("link");
  const arriving = useArrivingLink();
  const base = definition ? `definition:${definition}` : link ? `link:${link}` : `example:${query.get("example") ?? beginWith}`;
  const original = useLoad(async (signal) => ({ base, texts: await beginning({ definition, link, example: query.get("example") }, signal) }), [base]);
  const ready = original.data?.base === base && !arriving.busy ? original.data.texts : undefined;
  return (
    <>
      <h1>Playground</h1>
      <p class="quiet">
        Write a definition and run it here. Time is virtual, functions answer from mocks, and nothing is kept on the server.
      </p>
      <ProblemBox error={arriving.error} />
      <ProblemBox error={ready ? undefined : original.error} again={original.again} />
      {ready ? <Bench key={base} base={base} original={ready} chooser={<Chooser base={base} />} /> : !original.error && <p class="quiet">Loading…</p>}
    </>
  );
}

/** Takes what the address carries into the browser, and shortens the address. */
function useArrivingLink(): { busy: boolean; error?: unknown } {
  const [state, set] = useState<{ busy: boolean; error?: unknown }>({ busy: isLink(location.hash) });
  useEffect(() => {
    const take = async () => {
      if (!isLink(location.hash)) return;
      const { hash } = location;
      set({ busy: true });
      try {
        amend({ link: await keepLink(hash, await fromFragment(hash)), definition: null, example: null, state: null });
        set({ busy: false });
      } catch (error) {
        set({ busy: false, error });
      }
    };
    void take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return state;
}

async function beginning(of: { definition: string | null; link: string | null; example: string | null }, signal: AbortSignal): Promise<Texts> {
  if (of.definition) return deployed(of.definition, signal);
  if (of.link) {
    const kept = readLink(of.link);
    if (!kept) throw new Error("What this link carried is not in this browser. Open the whole link again.");
    return kept;
  }
  const found = examples.find((e) => e.name === (of.example ?? beginWith));
  if (!found) throw new Error(`There is no example “${of.example}”. Choose another.`);
  return found.texts;
}

/** A definition that is deployed, with the files beside it. */
async function deployed(id: string, signal: AbortSignal): Promise<Texts> {
  const source = async (file?: string) => (await ask<string>(api("definitions", id, "source") + (file ? "?file=" + encodeURIComponent(file) : ""), { signal, text: true })).data;
  const listed = await get<Page<DefinitionFile>>(api("definitions", id, "files"), signal);
  const own = listed.items.find((f) => f.document)?.path ?? "";
  const folder = own.slice(0, own.lastIndexOf("/") + 1); // what a definition refers to is relative to it
  const files: Record<string, string> = {};
  for (const f of listed.items) {
    if (f.document || f.remote || !f.path.startsWith(folder)) continue;
    const text = await source(f.path);
    if (!text.includes("\0")) files[f.path.slice(folder.length)] = text;
  }
  return { ...nothing, definition: await source(), files };
}

function Chooser(p: { base: string }) {
  const list = useLoad((signal) => get<Page<Definition>>("/api/v1/definitions?limit=100", signal), []);
  const choose = (value: string) => {
    const [kind, name] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
    go(`/playground?${kind}=${encodeURIComponent(name)}`);
  };
  return (
    <label>
      Begin with{" "}
      <select value={p.base} onChange={(e) => choose(e.currentTarget.value)}>
        {p.base.startsWith("link:") && <option value={p.base}>A link that was opened</option>}
        {[...new Set(examples.map((e) => e.language))].map((language) => (
          <optgroup label={language}>
            {examples
              .filter((e) => e.language === language)
              .map((e) => (
                <option value={`example:${e.name}`}>{e.title}</option>
              ))}
          </optgroup>
        ))}
        {!!list.data?.items.length && (
          <optgroup label="Deployed here">
            {list.data.items.map((d) => (
              <option value={`definition:${d.id}`}>{d.id}</option>
            ))}
          </optgroup>
        )}
      </select>
    </label>
  );
}

const panes = [
  ["input", "Input", "The workflow input, as YAML or JSON"],
  ["mocks", "Mocks", "How functions answer, such as\ncharge: {result: {ok: true}}"],
  ["events", "Events", "Events that arrive, such as\n- at: PT1M\n  event: {type: paid, source: shop}"],
  ["takes", "Moves", "Of a job: what its actors send, such as\n- {actor: CLIENT, state: DONE}"],
] as const;

type Pane = (typeof panes)[number][0];

const start = "2026-03-01T00:00:00Z"; // of virtual time, as in scenarios

function Bench(p: { base: string; original: Texts; chooser: preact.ComponentChildren }) {
  const [texts, setTexts] = useState<Texts>(() => readDraft(p.base) ?? p.original);
  const [unkept, setUnkept] = useState(false);
  const [shown, show] = useState(main);
  const [asking, setAsking] = useState<"deploy" | "share" | "scenario">();
  const write = (name: Pane | "definition", text: string) => change((old) => ({ ...old, [name]: text }));
  const change = (to: (old: Texts) => Texts) =>
    setTexts((old) => {
      const next = to(old);
      setUnkept(!keepDraft(p.base, same(next, p.original) ? null : next));
      return next;
    });
  const startOver = () => {
    keepDraft(p.base, null);
    setTexts(p.original);
    show(main);
  };
  const checked = useChecked(texts);
  const runner = useRunner(texts);
  const skip = place.value.query.get("time") !== "stop";
  const pane = (panes.find(([name]) => name === place.value.query.get("pane"))?.[0] ?? "input") as Pane;
  const selected = place.value.query.get("state") ?? "";
  const jump = useRef<((line: number, column?: number) => void) | null>(null);
  const keys = useKeys({ "Mod-Enter": () => runner.run(skip), "Mod-Shift-Enter": () => runner.step(skip) });
  const all = checked.data?.diagnostics ?? none;
  const of = useMemo(() => byFile(all), [all]);
  const run = runner.done?.run;
  const sub = checked.data?.files?.find((f) => f.path === shown && f.graph); // the sub-workflow that is looked at
  const graph = sub?.graph ?? checked.data?.graph ?? checked.graph ?? runner.done?.graph;
  const outdated = !sub && !!checked.data && !checked.data.graph; // what is drawn is of an earlier text
  const dialect = shown === main ? checked.data?.dialect : sub?.dialect;
  const toPlace = (d: Remark) => {
    if (d.file && panes.some(([name]) => name === d.file)) return amend({ pane: d.file });
    const file = d.file || main;
    if (file === shown) return jump.current?.(d.line ?? 1, d.column);
    next.current = d;
    show(file);
  };
  const next = useRef<Remark | undefined>(undefined);
  useEffect(() => {
    if (next.current?.line) jump.current?.(next.current.line, next.current.column);
    next.current = undefined;
  }, [shown]);
  const document = documentName(texts, checked.data?.id);

  return (
    <div class="play">
      <div class="play-bar" role="toolbar" aria-label="Playground">
        {p.chooser}
        <button type="button" class="main" aria-keyshortcuts="Control+Enter" title="Ctrl+Enter" onClick={() => runner.run(skip)}>
          Run
        </button>
        <button type="button" aria-keyshortcuts="Control+Shift+Enter" title="Ctrl+Shift+Enter" onClick={() => runner.step(skip)}>
          Step
        </button>
        <button type="button" disabled={!run?.next || runner.stale} onClick={() => runner.pass()}>
          {run?.next && !runner.stale ? `Let time pass until ${virtual(run.next)}` : "Let time pass"}
        </button>
        <label>
          <input type="checkbox" checked={skip} onChange={(e) => amend({ time: e.currentTarget.checked ? null : "stop" })} /> Skip time
        </label>
        {!same(texts, p.original) && (
          <button type="button" onClick={startOver}>
            Start over
          </button>
        )}
        <button type="button" onClick={() => setAsking("deploy")} {...barred("deploy")}>
          Deploy…
        </button>
        <button type="button" onClick={() => setAsking("scenario")}>
          Save as scenario…
        </button>
        <button type="button" onClick={() => setAsking("share")}>
          Share…
        </button>
        {runner.busy && <span class="quiet">running…</span>}
      </div>
      {unkept && <p class="quiet">This browser cannot store drafts: copy your text before you leave.</p>}
      <div class="play-columns">
        <div>
          <h2 class="first">
            Definition {dialect && <span class="play-dialect">{dialectName(dialect)}</span>}
          </h2>
          <div class="play-definition">
            <FilesEditor
              files={{ [main]: texts.definition, ...texts.files }}
              main={main}
              label="Definition"
              shown={shown}
              show={show}
              remarks={all}
              keys={keys}
              jump={jump}
              change={{
                write: (path, text) => (path === main ? write("definition", text) : change((old) => ({ ...old, files: { ...old.files, [path]: text } }))),
                add: (path) => change((old) => ({ ...old, files: { ...old.files, [path]: "" } })),
                rename: (from, to) => change((old) => ({ ...old, files: Object.fromEntries(Object.entries(old.files).map(([path, text]) => [path === from ? to : path, text])) })),
                remove: (path) => change((old) => ({ ...old, files: Object.fromEntries(Object.entries(old.files).filter(([name]) => name !== path)) })),
              }}
            />
          </div>
          {checked.data && <Mistakes list={all} jump={toPlace} />}
          <Panes texts={texts} pane={pane} of={of} keys={keys} write={write} />
        </div>
        <div>
          <h2 class="first">Diagram</h2>
          {outdated && graph && <p class="warn">▲ The definition has errors: this is the diagram from before them.</p>}
          {graph ? (
            <PlayDiagram
              graph={graph}
              label="Diagram of the definition"
              run={run}
              instance={instanceOf(run, sub?.id)}
              files={checked.data?.files ?? runner.done?.files ?? noFiles}
              selected={selected}
              onSelect={(s) => amend({ state: s === selected ? null : s })}
            />
          ) : (
            <p class="quiet">It is drawn once the definition has no errors.</p>
          )}
          <h2>Run</h2>
          <ProblemBox error={runner.error ?? checked.error} />
          {run ? (
            <Result run={run} stale={runner.stale} state={selected} onAll={() => amend({ state: null })} onLine={(line, column) => toPlace({ message: "", line, column })} />
          ) : (
            <p class="quiet">
              {runner.done ? "It cannot run: fix the errors first." : "Run it, or step from state to state."} Ctrl+Enter runs, Ctrl+Shift+Enter steps.
            </p>
          )}
        </div>
      </div>
      {asking === "share" && <Share texts={texts} onClose={() => setAsking(undefined)} />}
      {asking === "scenario" && <SaveScenario texts={texts} onClose={() => setAsking(undefined)} />}
      {asking === "deploy" && (
        <Review
          files={{ [document]: texts.definition, ...texts.files }}
          onClose={() => setAsking(undefined)}
          onRemark={(d) => toPlace({ ...d, file: d.file === document ? undefined : d.file })}
          onDone={(b) => go("/definitions/" + encodeURIComponent(b.definitions.find((d) => d.definition.path === document)?.definition.id ?? b.definitions[0]!.definition.id))}
        />
      )}
    </div>
  );
}

const main = "definition"; // stands for the definition among the files

/** The name of the definition's file when it is deployed. */
function documentName(texts: Texts, id: string | undefined): string {
  const name = (id || "definition").replace(/[^\w.-]+/g, "_") + (texts.definition.trimStart().startsWith("{") ? ".json" : ".yaml");
  return name in texts.files ? "main-" + name : name;
}

const none: Diagnostic[] = [];
const noFiles: NonNullable<Played["files"]> = [];
const same = (a: Texts, b: Texts) => JSON.stringify({ ...nothing, ...a }) === JSON.stringify({ ...nothing, ...b });

function byFile(all: Diagnostic[]): Record<string, Diagnostic[]> {
  const out: Record<string, Diagnostic[]> = {};
  for (const d of all) (out[d.file || "definition"] ??= []).push(d);
  return out;
}

function Mistakes(p: { list: Diagnostic[]; jump: (d: Remark) => void }) {
  const errors = p.list.filter((d) => d.severity === "error").length;
  const warnings = p.list.length - errors;
  if (!p.list.length) return <p class="quiet">No mistakes.</p>;
  const most = 20;
  return (
    <details class="play-mistakes" open={errors > 0}>
      <summary>{[errors && `${errors} error${errors > 1 ? "s" : ""}`, warnings && `${warnings} warning${warnings > 1 ? "s" : ""}`].filter(Boolean).join(", ")}</summary>
      <ul>
        {p.list.slice(0, most).map((d) => (
          <li>
            <button type="button" class="link" onClick={() => p.jump(d)}>
              {d.file ? `${d.file}, line ${d.line}` : `Line ${d.line}`}
            </button>{" "}
            <span class={d.severity === "error" ? "bad" : "warn"}>
              {d.severity} {d.code}
            </span>{" "}
            {d.message}
            {d.hint && !d.hint.includes("--dialect") && <span class="quiet"> {d.hint}</span>}
          </li>
        ))}
        {p.list.length > most && <li class="quiet">and {p.list.length - most} more</li>}
      </ul>
    </details>
  );
}

function Panes(p: { texts: Texts; pane: Pane; of: Record<string, Diagnostic[]>; keys: Record<string, () => void>; write: (name: Pane, text: string) => void }) {
  const tabs = useRef<HTMLDivElement>(null);
  const move = (e: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const i = panes.findIndex(([name]) => name === p.pane);
    const to = (i + by + panes.length) % panes.length;
    amend({ pane: panes[to]![0] });
    (tabs.current?.children[to] as HTMLElement | undefined)?.focus();
  };
  const [, title, hint] = panes.find(([name]) => name === p.pane)!;
  return (
    <>
      <div class="play-tabs" role="tablist" aria-label="What the run gets" ref={tabs} onKeyDown={move}>
        {panes.map(([name, title]) => {
          const wrong = p.of[name]?.length;
          return (
            <button
              type="button"
              role="tab"
              id={"tab-" + name}
              aria-selected={name === p.pane}
              aria-controls="play-pane"
              tabIndex={name === p.pane ? 0 : -1}
              onClick={() => amend({ pane: name })}
            >
              {title}
              {wrong ? ` (${wrong} wrong)` : p.texts[name].trim() ? " •" : ""}
            </button>
          );
        })}
      </div>
      <div class="play-pane" role="tabpanel" id="play-pane" aria-labelledby={"tab-" + p.pane}>
        <Editor key={p.pane} label={title} hint={hint} value={p.texts[p.pane]} onChange={(t) => p.write(p.pane, t)} remarks={p.of[p.pane] ?? none} keys={p.keys} />
      </div>
    </>
  );
}

/** Has the text checked and drawn a moment after it changed. */
function useChecked(texts: Texts) {
  const [state, set] = useState<{ data?: Played; graph?: string; error?: unknown }>({});
  const first = useRef(true);
  const live = connection.value === "live";
  const failed = !!state.error;
  useEffect(() => {
    const mine = new AbortController();
    const timer = window.setTimeout(
      () => {
        ask<Played>("/api/v1/playground", { body: { ...texts, run: false }, signal: mine.signal }).then(
          ({ data }) => set((old) => ({ data, graph: data.graph ?? old.graph })),
          (error) => mine.signal.aborted || set((old) => ({ ...old, error })),
        );
      },
      first.current || failed ? 0 : 350,
    );
    first.current = false;
    return () => {
      window.clearTimeout(timer);
      mine.abort();
    };
  }, [texts, live && failed]); // once more when the server is back
  return state;
}

/** Runs what is written. Each run begins anew, so a step is a run with one step more. */
function useRunner(texts: Texts) {
  const [state, set] = useState<{ done?: Played; of?: Texts; asked?: { steps?: number; until?: string }; error?: unknown; busy: boolean }>({ busy: false });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const stale = !!state.done && state.of !== texts;
  const send = (asked: { steps?: number; until?: string }) => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    set((old) => ({ ...old, busy: true }));
    ask<Played>("/api/v1/playground", { body: { ...texts, ...asked }, signal: mine.signal }).then(
      ({ data }) => {
        set({ done: data, of: texts, asked, busy: false });
        announce(data.run?.message ?? "It cannot run: there are errors.");
      },
      (error) => mine.signal.aborted || set((old) => ({ ...old, error, busy: false })),
    );
  };
  const last: PlayRun | undefined = stale ? undefined : state.done?.run;
  const limit = (skip: boolean) => (skip ? undefined : (last?.clock ?? start));
  return {
    ...state,
    stale,
    run: (skip: boolean) => send({ until: skip ? undefined : start }),
    step: (skip: boolean) => send({ steps: last?.status === "stopped" ? last.steps + 1 : last?.status === "later" ? (state.asked?.steps ?? 0) : 0, until: limit(skip) }),
    pass: () => last?.next && send({ ...state.asked, until: last.next }),
  };
}

/** Shortcuts that also work outside of the editors. */
function useKeys(keys: Record<string, () => void>): Record<string, () => void> {
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.defaultPrevented || e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      now.current[e.shiftKey ? "Mod-Shift-Enter" : "Mod-Enter"]?.();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return keys;
}
