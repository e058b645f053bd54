import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, ask, get, type Definition, type Diagnostic, type Page } from "../api";
import { useTitle } from "../app";
import { schemaOf } from "../editor/complete";
import { Editor } from "../editor/editor";
import { connection } from "../live";
import { barred, may } from "../parts/access";
import { announce } from "../parts/announcer";
import { Diagram } from "../parts/diagram";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { amend, go, place } from "../router";
import { keepDraft, readDraft } from "./playground-draft";
import { beginWith, examples, nothing, type Texts } from "./playground-examples";
import { Result, useMarks, type Played, type PlayRun } from "./playground-result";
import "./playground.css";

/** The dialect of a document that cannot be read at the moment. */
function likely(text: string): string {
  if (/^[\s{]*"?document"?\s*:/m.test(text)) return "sw10";
  if (/^\s*("?transitions"?\s*:)/m.test(text)) return "wfx";
  return /^[\s{]*"?specVersion"?\s*:|\$\{/m.test(text) ? "sw08" : "sw05";
}

/** Where a playground begins: an example, or the source of a definition that is deployed. */
export default function Playground() {
  useTitle("Playground");
  const { query } = place.value;
  const definition = query.get("definition");
  const base = definition ? `definition:${definition}` : `example:${query.get("example") ?? beginWith}`;
  const original = useLoad(async (signal) => ({ base, texts: await beginning(definition, query.get("example"), signal) }), [base]);
  const ready = original.data?.base === base ? original.data.texts : undefined;
  return (
    <>
      <h1>Playground</h1>
      <p class="quiet">
        Write a definition and run it here. Time is virtual, functions answer from mocks, and nothing is kept on the server.
      </p>
      <ProblemBox error={ready ? undefined : original.error} again={original.again} />
      {ready ? <Bench key={base} base={base} original={ready} chooser={<Chooser base={base} />} /> : !original.error && <p class="quiet">Loading…</p>}
    </>
  );
}

async function beginning(definition: string | null, example: string | null, signal: AbortSignal): Promise<Texts> {
  if (definition) return { ...nothing, definition: await get<string>(api("definitions", definition, "source"), signal).then(asText) };
  const found = examples.find((e) => e.name === (example ?? beginWith));
  if (!found) throw new Error(`There is no example “${example}”. Choose another.`);
  return found.texts;
}

const asText = (source: unknown) => (typeof source === "string" ? source : JSON.stringify(source, null, 2));

function Chooser(p: { base: string }) {
  const deployed = useLoad((signal) => get<Page<Definition>>("/api/v1/definitions?limit=100", signal), []);
  const choose = (value: string) => {
    const [kind, name] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
    go(`/playground?${kind}=${encodeURIComponent(name)}`);
  };
  return (
    <label>
      Begin with{" "}
      <select value={p.base} onChange={(e) => choose(e.currentTarget.value)}>
        {[...new Set(examples.map((e) => e.language))].map((language) => (
          <optgroup label={language}>
            {examples
              .filter((e) => e.language === language)
              .map((e) => (
                <option value={`example:${e.name}`}>{e.title}</option>
              ))}
          </optgroup>
        ))}
        {!!deployed.data?.items.length && (
          <optgroup label="Deployed here">
            {deployed.data.items.map((d) => (
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
  const [round, setRound] = useState(0); // counts fresh starts
  const write = (name: keyof Texts, text: string) =>
    setTexts((old) => {
      const next = { ...old, [name]: text };
      setUnkept(!keepDraft(p.base, same(next, p.original) ? null : next));
      return next;
    });
  const startOver = () => {
    keepDraft(p.base, null);
    setTexts(p.original);
    setRound(round + 1);
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
  const marks = useMarks(run);
  const graph = checked.data?.graph ?? checked.graph ?? runner.done?.graph;
  const outdated = !!checked.data && !checked.data.graph; // what is drawn is of an earlier text
  const schema = () => schemaOf(checked.data?.dialect || likely(texts.definition));

  return (
    <div class="play">
      <div class="play-bar" role="toolbar" aria-label="Playground">
        {p.chooser}
        <button type="button" class="main" aria-keyshortcuts="Control+Enter" title="Ctrl+Enter" onClick={() => runner.run(skip)} {...barred("start")}>
          Run
        </button>
        <button type="button" aria-keyshortcuts="Control+Shift+Enter" title="Ctrl+Shift+Enter" onClick={() => runner.step(skip)} {...barred("start")}>
          Step
        </button>
        <button type="button" disabled={!run?.next || runner.stale} onClick={() => runner.pass()}>
          {run?.next && !runner.stale ? `Let time pass until ${run.next.replace("T", " ").replace("Z", "")}` : "Let time pass"}
        </button>
        <label>
          <input type="checkbox" checked={skip} onChange={(e) => amend({ time: e.currentTarget.checked ? null : "stop" })} /> Skip time
        </label>
        {!same(texts, p.original) && (
          <button type="button" onClick={startOver}>
            Start over
          </button>
        )}
        {runner.busy && <span class="quiet">running…</span>}
      </div>
      {unkept && <p class="quiet">This browser cannot store drafts: copy your text before you leave.</p>}
      <div class="play-columns">
        <div>
          <h2 class="first">Definition</h2>
          <div class="play-definition">
            <Editor key={round} label="Definition" text={texts.definition} onText={(t) => write("definition", t)} diagnostics={of.definition ?? none} schema={schema} keys={keys} jump={jump} />
          </div>
          {checked.data && <Mistakes list={all} jump={(d) => (d.file ? amend({ pane: d.file }) : jump.current?.(d.line, d.column))} />}
          <Panes key={round} texts={texts} pane={pane} of={of} keys={keys} write={write} />
        </div>
        <div>
          <h2 class="first">Diagram</h2>
          {outdated && graph && <p class="warn">▲ The definition has errors: this is the diagram from before them.</p>}
          {graph ? (
            <Diagram svg={graph} label="Diagram of the definition" marks={marks} selected={selected} onSelect={(s) => amend({ state: s === selected ? null : s })} />
          ) : (
            <p class="quiet">It is drawn once the definition has no errors.</p>
          )}
          <h2>Run</h2>
          <ProblemBox error={runner.error ?? checked.error} />
          {run ? (
            <Result run={run} stale={runner.stale} state={selected} onAll={() => amend({ state: null })} onLine={(l, c) => jump.current?.(l, c)} />
          ) : (
            <p class="quiet">
              {runner.done ? "It cannot run: fix the errors first." : "Run it, or step from state to state."} Ctrl+Enter runs, Ctrl+Shift+Enter steps.
            </p>
          )}
        </div>
      </div>
    </div>
  );
}

const none: Diagnostic[] = [];
const same = (a: Texts, b: Texts) => (Object.keys(a) as (keyof Texts)[]).every((k) => a[k] === b[k]);

function byFile(all: Diagnostic[]): Record<string, Diagnostic[]> {
  const out: Record<string, Diagnostic[]> = {};
  for (const d of all) (out[d.file || "definition"] ??= []).push(d);
  return out;
}

function Mistakes(p: { list: Diagnostic[]; jump: (d: Diagnostic) => void }) {
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
        <Editor key={p.pane} label={title} hint={hint} text={p.texts[p.pane]} onText={(t) => p.write(p.pane, t)} diagnostics={p.of[p.pane] ?? none} keys={p.keys} />
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
  const allowed = may("start");
  useEffect(() => {
    if (!allowed) return set((old) => ({ ...old, error: undefined })); // refused before the role was known
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
  }, [texts, live && failed, allowed]); // once more when the server is back
  return state;
}

/** Runs what is written. Each run begins anew, so a step is a run with one step more. */
function useRunner(texts: Texts) {
  const [state, set] = useState<{ done?: Played; of?: Texts; asked?: { steps?: number; until?: string }; error?: unknown; busy: boolean }>({ busy: false });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const stale = !!state.done && state.of !== texts;
  const send = (asked: { steps?: number; until?: string }) => {
    if (!may("start")) return;
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
