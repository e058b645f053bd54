// Deploying files: they are checked while someone writes, what would change is shown, and all of
// them are deployed or none.
import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, Problem, type Bundle } from "../api";
import type { Files } from "../editor/files";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { DiffText } from "../parts/diff";
import { ProblemBox, remarksOf } from "../parts/problem";
import { Places, type Remark } from "../parts/source";
import { bundleOf } from "./deploy-files";
import "./deploy.css";

const wait = 400; // ms after the last key, until the text is checked

export interface Checked {
  bundle?: Bundle;
  remarks: Remark[];
  error?: unknown; // other than remarks
  busy: boolean;
}

async function deploy(files: Files, definitions: string[] | undefined, options: Record<string, string>, signal?: AbortSignal): Promise<Bundle> {
  return (await ask<Bundle>(api("bundles") + "?" + new URLSearchParams(options), { body: bundleOf(files, definitions), signal })).data;
}

/** What is said of a bundle: its warnings, each with its file. */
function warningsOf(bundle: Bundle): Remark[] {
  return bundle.definitions.flatMap(({ definition: d }) => (d.diagnostics ?? []).map((r) => ({ ...r, file: r.file || d.path })));
}

/** Checks files a moment after they changed. */
export function useChecked(files: Files, definitions?: string[]): Checked {
  const [state, set] = useState<Checked>({ remarks: [], busy: true });
  const allowed = may("deploy");
  const empty = !Object.values(files).some((c) => typeof c !== "string" || c.trim());
  useEffect(() => {
    if (empty || !allowed) return set({ remarks: [], busy: false });
    const mine = new AbortController();
    set((old) => ({ ...old, busy: true }));
    const timer = setTimeout(() => {
      deploy(files, definitions, { "dry-run": "true", "allow-unreachable": "true" }, mine.signal).then(
        (bundle) => set({ bundle, remarks: warningsOf(bundle), busy: false }),
        (e: unknown) => {
          if (mine.signal.aborted) return;
          const remarks = remarksOf(e);
          set({ remarks, error: remarks.length ? undefined : e, busy: false });
        },
      );
    }, wait);
    return () => {
      clearTimeout(timer);
      mine.abort();
    };
  }, [files, allowed]);
  return state;
}

/** What the check says, in a line. */
export function verdict(c: Checked, id?: string): string {
  const errors = c.remarks.filter((d) => d.severity !== "warning").length;
  if (errors > 0) return errors === 1 ? "There is 1 error." : `There are ${errors} errors.`;
  if (c.error || !c.bundle) return "";
  const all = c.bundle.definitions;
  if (all.length > 1) return `Valid: ${all.length} definitions.`;
  const d = all[0]!.definition;
  const what = `${d.id}${d.version ? " version " + d.version : ""}`;
  return id && d.id !== id ? `This is correct. It is another definition than ${id}: ${what}.` : `Valid: ${what}${all[0]!.change === "unchanged" ? ", which is deployed already" : ""}.`;
}

const changes: Record<Bundle["definitions"][number]["change"], string> = {
  created: "new",
  "new-version": "new version",
  replaced: "replaced",
  restored: "current again",
  unchanged: "unchanged",
};

/** Shows what would change, and deploys it when that is confirmed. */
export function Review(p: { files: Files; definitions?: string[]; onClose: () => void; onDone: (b: Bundle) => void; onRemark?: (d: Remark) => void }) {
  const [state, set] = useState<{ bundle?: Bundle; error?: unknown }>({});
  const [busy, setBusy] = useState(false);
  const [anyway, setAnyway] = useState(false);
  const [offered, setOffered] = useState(false);
  const running = useRef<AbortController | null>(null);
  const options: Record<string, string> = anyway ? { "allow-unreachable": "true" } : {};
  const failed = (error: unknown) => {
    set({ error });
    if (remarksOf(error).some((d) => /allow-unreachable/.test(`${d.message} ${d.hint}`))) setOffered(true);
  };
  useEffect(() => {
    const mine = new AbortController();
    running.current = mine;
    set({});
    deploy(p.files, p.definitions, { ...options, "dry-run": "true" }, mine.signal).then(
      (bundle) => set({ bundle }),
      (e: unknown) => mine.signal.aborted || failed(e),
    );
    return () => mine.abort();
  }, [anyway]);
  const { bundle, error } = state;
  const go = async () => {
    setBusy(true);
    try {
      const done = await deploy(p.files, p.definitions, options);
      const [first] = done.definitions;
      announce(done.definitions.length === 1 ? `${first!.definition.id} ${first!.definition.version} is deployed` : `${done.definitions.length} definitions are deployed`);
      p.onDone(done);
    } catch (e) {
      announce("Nothing is deployed");
      failed(e);
    }
    setBusy(false);
  };
  const nothing = bundle?.definitions.every((d) => d.change === "unchanged");
  return (
    <Dialog title="Deploy" wide action="Deploy" leave={bundle && !nothing ? "Cancel" : "Close"} busy={busy} onClose={p.onClose} onSubmit={bundle && !nothing ? go : undefined}>
      {!bundle && !error && <p class="quiet">Checking…</p>}
      {error !== undefined && <Refused error={error} go={p.onRemark && ((d) => (p.onClose(), p.onRemark!(d)))} />}
      {offered && (
        <p>
          <label>
            <input type="checkbox" checked={anyway} onChange={(e) => setAnyway(e.currentTarget.checked)} /> Deploy even though a document on the network cannot be fetched; calls that need
            it fail
          </label>
        </p>
      )}
      {bundle && (
        <>
          <Deployed bundle={bundle} />
          {nothing && <p>All of this is deployed already.</p>}
          {warningsOf(bundle).length > 0 && (
            <>
              <h3>Warnings</h3>
              <Places remarks={warningsOf(bundle)} />
            </>
          )}
          {bundle.diff && (
            <>
              <h3>Changes</h3>
              <DiffText text={bundle.diff} label="What would change" />
            </>
          )}
        </>
      )}
    </Dialog>
  );
}

function Refused(p: { error: unknown; go?: (d: Remark) => void }) {
  const remarks = remarksOf(p.error);
  const conflict = p.error instanceof Problem && p.error.code === "version-conflict";
  if (!remarks.length) return <ProblemBox error={p.error} />;
  return (
    <>
      <div class="problem" role="alert">
        <p>{conflict ? (p.error as Error).message : "Nothing can be deployed until this is corrected."}</p>
        {conflict && <p class="quiet">A version never changes. Change the version in the document and deploy it again.</p>}
      </div>
      <Places remarks={remarks} go={p.go} />
    </>
  );
}

/** What becomes of each definition. */
export function Deployed(p: { bundle: Bundle; links?: boolean }) {
  return (
    <>
      <div class="scroll-x">
        <table class="deploy-changes">
          <thead>
            <tr>
              <th scope="col">Definition</th>
              <th scope="col">Version</th>
              <th scope="col">Change</th>
              <th scope="col">File</th>
            </tr>
          </thead>
          <tbody>
            {p.bundle.definitions.map(({ definition: d, change }) => (
              <tr key={d.id}>
                <td>{p.links ? <a href={"/definitions/" + encodeURIComponent(d.id)}>{d.id}</a> : d.id}</td>
                <td>{d.version || <span class="quiet">none</span>}</td>
                <td class={change === "unchanged" ? "quiet" : undefined}>{changes[change]}</td>
                <td class="mono">{d.path}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!!p.bundle.unused?.length && <p class="quiet deploy-unused">Not used by any definition: {some(p.bundle.unused)}.</p>}
    </>
  );
}

function some(names: string[]): string {
  return names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : names.join(", ");
}
