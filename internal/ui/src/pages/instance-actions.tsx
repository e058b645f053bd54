// Interventions. Each says which revision it means, so that the second of two people who
// act at the same time is told instead of undoing what the first one did.
import { useRef, useState } from "preact/hooks";
import { api, ask, Problem, type Instance } from "../api";
import { go } from "../router";
import { barred } from "../parts/access";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { parseJson } from "../parts/json";
import { ProblemBox } from "../parts/problem";
import { SaveScenario } from "./instance-scenario-button";

type Asking = "retry" | "skip" | "cancel" | "terminate" | "restart";

export function Actions(p: { instance: Instance; input: unknown; again: () => void }) {
  const { instance } = p;
  const [asking, setAsking] = useState<Asking>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
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
  const title = { retry: "Retry with other data…", skip: "Skip…", cancel: "Cancel…", terminate: "Terminate…", restart: "Restart…" };
  return (
    <>
      <div class="actions" role="group" aria-label="Actions">
        {may("retry") && items && (
          <button type="button" class="main" onClick={() => now("retry", { failedItems: true })} {...barred("operate")}>
            Retry failed items
          </button>
        )}
        {may("retry") && (
          <button type="button" class={items ? "" : "main"} onClick={() => now("retry")} {...barred("operate")}>
            {items ? "Retry all items" : "Retry"}
          </button>
        )}
        {may("resume") && (
          <button type="button" class="main" onClick={() => now("resume")} {...barred("operate")}>
            Resume
          </button>
        )}
        {may("pause") && (
          <button type="button" onClick={() => now("pause")} {...barred("operate")}>
            Pause
          </button>
        )}
        {(Object.keys(title) as Asking[]).filter(may).map((verb) => (
          <button key={verb} type="button" onClick={() => setAsking(verb)} {...barred("operate")}>
            {title[verb]}
          </button>
        ))}
        <SaveScenario instance={instance} />
      </div>
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
        <b>Nothing was done: the instance changed meanwhile.</b> {(p.error as Problem).status === 409 && (p.error as Problem).message}
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
  cancel: { title: "Cancel this instance?", says: "It stops, and so does what it waits for.", action: "Cancel it", danger: true },
  terminate: { title: "Terminate this instance?", says: "It stops now, without compensation.", action: "Terminate it", danger: true },
  restart: { title: "Restart", says: "A new instance starts with this input. This one does not change.", action: "Start a new one" },
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

  const send = async () => {
    const parsed = withData ? parseJson(data) : {};
    if (parsed.error) return setError(new Error(parsed.error));
    setBusy(true);
    setError(undefined);
    try {
      const after = await act(seen.current, p.verb, bodyOf(p.verb, parsed.value, reason, compensate));
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
    <Dialog title={text.title} action={text.action} danger={text.danger} busy={busy} onClose={p.onClose} onSubmit={stale ? undefined : send}>
      <p>{text.says}</p>
      {withData && (
        <label class="field">
          <span>{p.verb === "skip" ? "Output" : "Input"} (JSON)</span>
          <textarea spellcheck={false} value={data} onInput={(e) => setData(e.currentTarget.value)} />
        </label>
      )}
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
            The instance is {p.instance.status} now{p.instance.state && ` in ${p.instance.state}`}. {!possible && `To ${p.verb} it is not possible any more.`}
          </p>
          {possible && (
            <button type="button" onClick={look}>
              I have seen it, decide again
            </button>
          )}
        </div>
      ) : (
        <ProblemBox error={error} />
      )}
    </Dialog>
  );
}

function startText(verb: Asking, instance: Instance, input: unknown): string {
  const value = verb === "restart" ? input : (instance.error?.state ?? {});
  return JSON.stringify(value ?? {}, null, 2);
}

function bodyOf(verb: Asking, data: unknown, reason: string, compensate: boolean): unknown {
  const why = reason ? { reason } : {};
  switch (verb) {
    case "retry":
      return { data, ...why };
    case "skip":
      return { output: data, ...why };
    case "cancel":
      return { compensate, ...why };
    case "restart":
      return { input: data };
  }
  return why;
}
