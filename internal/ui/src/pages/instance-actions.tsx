// Interventions. Each says which revision it means, so that the second of two people who
// act at the same time is told instead of undoing what the first one did.
import { useRef, useState } from "preact/hooks";
import { api, ask, get, Problem, type Definition, type Instance, type Page } from "../api";
import { JsonEditor } from "../editor/json";
import { go } from "../router";
import { barred } from "../parts/access";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { useLoad } from "../parts/load";
import { Menu } from "../parts/menu";
import { ProblemBox } from "../parts/problem";
import { jsonRemark } from "../parts/source";
import { canSave, saveScenario } from "./instance-scenario";

type Asking = "retry" | "skip" | "cancel" | "terminate" | "restart";

export function Actions(p: { instance: Instance; input: unknown; again: () => void }) {
  const { instance } = p;
  const [asking, setAsking] = useState<Asking>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [note, setNote] = useState("");
  const may = (verb: string) => instance.allowed?.includes(verb) ?? false;
  const now = async (verb: "retry" | "pause" | "resume", body: unknown = {}) => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await act(instance, verb, body);
      p.again();
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  const items = (instance.progress?.length ?? 0) > 0;
  const failed = instance.status === "failed";
  const press: [string, string, () => void][] = []; // verb, label
  const offer = (verb: string, label: string, does: () => void) => void (may(verb) && !barred("operate").hidden && press.push([verb, label, does]));
  const dialog = (verb: Asking) => () => setAsking(verb);
  if (items) offer("retry", "Retry failed items", () => now("retry", { failedItems: true }));
  offer("retry", items ? "Retry all items" : "Retry", () => now("retry"));
  offer("resume", "Resume", () => now("resume"));
  offer("retry", "Retry with other data…", dialog("retry"));
  offer("skip", "Skip…", dialog("skip"));
  offer("pause", "Pause", () => now("pause"));
  offer("cancel", "Cancel…", dialog("cancel"));
  offer("restart", "Restart…", dialog("restart"));
  offer("terminate", "Terminate…", dialog("terminate"));
  const first = failed ? 2 : instance.status === "paused" || instance.ended ? 1 : 2; // so many are buttons, the rest is in the menu
  const save = async () => {
    setError(undefined);
    try {
      setNote(await saveScenario(instance));
    } catch (e) {
      setError(e);
    }
  };
  const rest = press.slice(first).map(([, label, does]) => ({ label, press: does, disabled: false, title: undefined as string | undefined }));
  const savable = canSave(instance);
  rest.push({ label: "Save as scenario", press: save, disabled: !savable, title: savable ? undefined : "Possible once it has completed or failed" });
  return (
    <>
      <div class="actions" role="group" aria-label="Actions">
        {press.slice(0, first).map(([verb, label, does], i) => (
          <button key={label} type="button" class={i === 0 && (verb === "retry" || verb === "resume") ? "main" : ""} onClick={does}>
            {label}
          </button>
        ))}
        <Menu name="More actions" label="More ▾" items={rest} />
      </div>
      {note && <p class="quiet note">{note}</p>}
      {error !== undefined && <Refused error={error} again={() => (setError(undefined), p.again())} />}
      {asking && <Ask key={asking} verb={asking} instance={instance} input={p.input} again={p.again} onClose={() => setAsking(undefined)} />}
    </>
  );
}

/** Why something was not done; that somebody else was faster is nothing to be shown as a fault. */
function Refused(p: { error: unknown; again: () => void }) {
  const faster = isFaster(p.error);
  if (!faster) return <ProblemBox error={p.error} again={p.again} />;
  return (
    <div class="problem" role="alert">
      <p>
        <b>Nothing was done: the instance has changed in the meantime.</b> {(p.error as Problem).status === 409 && (p.error as Problem).message}
      </p>
      <button type="button" onClick={p.again}>
        Look again
      </button>
    </div>
  );
}

function isFaster(e: unknown): boolean {
  return e instanceof Problem && (e.status === 412 || e.status === 409);
}

async function act(instance: Instance, verb: string, body: unknown): Promise<Instance> {
  const { data } = await ask<Instance>(api("instances", instance.id, verb), { body, headers: { "If-Match": `"${instance.rev}"` } });
  announce(`${verb}: ${data.status}`);
  return data;
}

const texts: Record<Asking, { title: string; says: string; action: string; danger?: boolean }> = {
  retry: { title: "Retry with other data", says: "The failed state runs again, with this as its input.", action: "Retry" },
  skip: { title: "Skip the failed state", says: "The instance continues as if the failed state had this output.", action: "Skip" },
  cancel: { title: "Cancel this instance?", says: "It stops, along with everything it waits for.", action: "Cancel it", danger: true },
  terminate: { title: "Terminate this instance?", says: "It stops now, without compensation.", action: "Terminate it", danger: true },
  restart: { title: "Restart", says: "A new instance starts with this version and input. This one does not change.", action: "Start a new one" },
};

/** What must be said before something is done. It means the instance as it was when it was opened. */
function Ask(p: { verb: Asking; instance: Instance; input: unknown; again: () => void; onClose: () => void }) {
  const text = texts[p.verb];
  const seen = useRef(p.instance); // what whoever decides looks at
  const [data, setData] = useState(() => startText(p.verb, p.instance, p.input));
  const [reason, setReason] = useState("");
  const [compensate, setCompensate] = useState(false);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const withData = p.verb === "retry" || p.verb === "skip" || p.verb === "restart";
  const stale = isFaster(error);
  const possible = p.instance.allowed?.includes(p.verb) ?? false;
  const versions = useVersions(p.verb === "restart" ? p.instance.definition.id : "");
  const [chosen, setChosen] = useState<string>();
  const own = p.instance.definition.version;
  const version = chosen ?? versions.data?.items.find((d) => d.current)?.version ?? own;
  const loading = p.verb === "restart" && !versions.data && !versions.error; // which version it would be is not known

  const send = async () => {
    if (busy || loading || stale) return;
    if (withData && jsonRemark(data)) return announce("This is not JSON");
    setBusy(true);
    setError(undefined);
    try {
      const after = await act(seen.current, p.verb, bodyOf(p.verb, withData ? JSON.parse(data) : undefined, reason, compensate, version === own ? undefined : version));
      p.again();
      p.onClose();
      if (p.verb === "restart") go("/instances/" + encodeURIComponent(after.id));
    } catch (e) {
      setError(e);
      p.again();
    }
    setBusy(false);
  };
  const look = () => {
    seen.current = p.instance;
    setError(undefined);
  };
  return (
    <Dialog title={text.title} action={text.action} leave={p.verb === "cancel" ? "Keep it running" : undefined} danger={text.danger} busy={busy || loading} onClose={p.onClose} onSubmit={stale ? undefined : send}>
      <p>{text.says}</p>
      {p.verb === "restart" && (
        <label class="field">
          <span>Version</span>
          <select value={version} onChange={(e) => setChosen(e.currentTarget.value)}>
            {(versions.data?.items ?? [{ version: own, current: false }]).map((d) => (
              <option key={d.version} value={d.version}>
                {(d.version || "none") + roles(d.current, d.version === own)}
              </option>
            ))}
          </select>
        </label>
      )}
      <ProblemBox error={versions.error} again={versions.again} />
      {withData && <JsonEditor label={p.verb === "skip" ? "Output" : "Input"} value={data} onChange={setData} onSubmit={send} />}
      {p.verb === "cancel" && (
        <p>
          <label>
            <input type="checkbox" checked={compensate} onChange={(e) => setCompensate(e.currentTarget.checked)} /> Undo completed states first (compensate)
          </label>
        </p>
      )}
      {p.verb !== "restart" && (
        <label class="field">
          <span>Reason, for the history (optional)</span>
          <input value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={4000} />
        </label>
      )}
      {stale ? (
        <div class="problem" role="alert">
          <p>
            <b>Nothing was done: another change came first.</b> {(error as Problem).status === 409 && (error as Problem).message}
          </p>
          <p>
            The instance is {p.instance.status} now{p.instance.state && ` in ${p.instance.state}`}. {!possible && `It is no longer possible to ${p.verb} it.`}
          </p>
          {possible && (
            <button type="button" onClick={look}>
              Decide again
            </button>
          )}
        </div>
      ) : (
        <ProblemBox error={error} />
      )}
    </Dialog>
  );
}

function useVersions(definition: string) {
  return useLoad((signal) => (definition ? get<Page<Definition>>(api("definitions", definition, "versions"), signal) : Promise.resolve(undefined)), [definition]);
}

/** What a version is, beside its name. */
function roles(current = false, own: boolean): string {
  const all = [current && "current", own && "of this instance"].filter(Boolean);
  return all.length ? ` (${all.join(", ")})` : "";
}

function startText(verb: Asking, instance: Instance, input: unknown): string {
  const value = verb === "restart" ? input : (instance.error?.state ?? {});
  return JSON.stringify(value ?? {}, null, 2);
}

function bodyOf(verb: Asking, data: unknown, reason: string, compensate: boolean, version?: string): unknown {
  const why = reason ? { reason } : {};
  switch (verb) {
    case "retry":
      return { data, ...why };
    case "skip":
      return { output: data, ...why };
    case "cancel":
      return { compensate, ...why };
    case "restart":
      return { input: data, ...(version !== undefined && { version }) };
  }
  return why;
}
