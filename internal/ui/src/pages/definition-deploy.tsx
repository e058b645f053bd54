import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, Problem, type Definition } from "../api";
import { go } from "../router";
import { barred, may } from "../parts/access";
import { announce } from "../parts/announcer";
import { ProblemBox } from "../parts/problem";
import { Writing, type Remark } from "../parts/source";

const wait = 400; // after the last key, until the text is checked

/** The errors of a problem, where they stand in a document. */
export function remarksOf(e: unknown): Remark[] {
  const errors = e instanceof Problem ? e.body.errors : undefined;
  return Array.isArray(errors) ? (errors as Remark[]) : [];
}

/**
 * A document to write and deploy. It is checked while it is written, and a draft of it is
 * kept in the browser until it is deployed.
 */
export function Deploy(p: { draft: string; start: string; id?: string }) {
  const key = "lockstep-draft-" + p.draft;
  const [text, setText] = useState(() => localStorage.getItem(key) ?? p.start);
  const [found, setFound] = useState<{ remarks: Remark[]; definition?: Definition; error?: unknown }>({ remarks: [] });
  const [busy, setBusy] = useState(false);
  const checks = useRef(0);
  const edited = text !== p.start;

  const send = (dry: boolean) =>
    ask<Definition>(api("definitions") + (dry ? "?dry-run=true" : ""), {
      body: text,
      type: text.trimStart().startsWith("{") ? "application/json" : "application/yaml",
    });
  const judge = (e: unknown) => {
    const remarks = remarksOf(e);
    return { remarks, error: remarks.length > 0 ? undefined : e };
  };

  useEffect(() => {
    if (edited) localStorage.setItem(key, text);
    else localStorage.removeItem(key);
    const mine = ++checks.current;
    if (!text.trim() || !may("deploy")) return setFound({ remarks: [] });
    const timer = setTimeout(async () => {
      let result;
      try {
        const definition = (await send(true)).data;
        result = { remarks: definition.diagnostics ?? [], definition };
      } catch (e) {
        result = judge(e);
      }
      if (mine === checks.current) setFound(result);
    }, wait);
    return () => clearTimeout(timer);
  }, [text, may("deploy")]);

  const deploy = async () => {
    if (busy || !text.trim() || !may("deploy")) return;
    setBusy(true);
    checks.current++; // a check that is on its way does not count any more
    try {
      const d = (await send(false)).data;
      localStorage.removeItem(key);
      announce(`${d.id} ${d.version} is deployed`);
      go("/definitions/" + encodeURIComponent(d.id));
    } catch (e) {
      const result = judge(e);
      setFound(result);
      announce(result.error ? "It is not deployed" : `It is not deployed: ${result.remarks.length} errors`);
    }
    setBusy(false);
  };

  const errors = found.remarks.filter((d) => d.severity !== "warning").length;
  return (
    <form
      class="fields"
      onSubmit={(e) => {
        e.preventDefault();
        void deploy();
      }}
    >
      <Writing id="deploy-text" label="Definition (YAML or JSON)" rows={22} value={text} remarks={found.remarks} onInput={setText} onSubmit={deploy} />
      <ProblemBox error={found.error} />
      {conflict(found.error) && <p class="quiet">A version never changes. Change the version in the document and deploy it again.</p>}
      <p class="quiet" role="status">
        {verdict(errors, found.definition, p.id)}
      </p>
      <div class="bar">
        <button class="main" type="submit" aria-disabled={busy} {...barred("deploy")}>
          Deploy
        </button>
        {edited && (
          <button type="button" onClick={() => setText(p.start)}>
            Discard the changes
          </button>
        )}
        <span class="quiet">Ctrl+Enter deploys. What you write is kept in this browser.</span>
      </div>
    </form>
  );
}

function conflict(e: unknown): boolean {
  return e instanceof Problem && e.code === "version-conflict";
}

function verdict(errors: number, d: Definition | undefined, id: string | undefined): string {
  if (errors > 0) return errors === 1 ? "There is 1 error." : `There are ${errors} errors.`;
  if (!d) return "";
  const what = `${d.id}${d.version ? " version " + d.version : ""}`;
  return id && d.id !== id ? `This is correct. It is another definition than ${id}: ${what}.` : `This is correct: ${what}.`;
}
