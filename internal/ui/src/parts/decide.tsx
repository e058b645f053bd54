// Decisions about definitions and schedules: buttons, and what is asked before.
import { useState } from "preact/hooks";
import { api, ask, type Decision } from "../api";
import { may, type Deed } from "./access";
import { announce } from "./announcer";
import { Dialog } from "./dialog";
import { ProblemBox } from "./problem";
import { Ago } from "./when";

export interface Verb {
  path: string[]; // of the API
  label: string;
  deed: Deed;
  done: string; // what is announced after it
  asks?: { title: string; says: string; action: string; danger?: boolean };
}

export const definitionVerbs = {
  pause: (id: string): Verb => ({
    path: ["definitions", id, "pause"],
    label: "Pause…",
    deed: "operate",
    done: "The definition is paused",
    asks: {
      title: `Pause the definition ${id}?`,
      says: "Until it is resumed, no version starts an instance, and running instances are held: no timer fires and no call begins.",
      action: "Pause it",
    },
  }),
  resume: (id: string): Verb => ({ path: ["definitions", id, "resume"], label: "Resume", deed: "operate", done: "The definition is resumed" }),
  retire: (id: string): Verb => ({
    path: ["definitions", id, "retire"],
    label: "Retire…",
    deed: "retire",
    done: "The definition is retired",
    asks: {
      title: `Retire the definition ${id}?`,
      says: "No new instances start until this is undone or a new version is deployed. Running instances continue to their end.",
      action: "Retire it",
      danger: true,
    },
  }),
  unretire: (id: string): Verb => ({ path: ["definitions", id, "unretire"], label: "Undo the retirement", deed: "retire", done: "The definition is in use again" }),
};

export const scheduleVerbs = {
  pause: (id: string): Verb => ({
    path: ["schedules", id, "pause"],
    label: "Pause…",
    deed: "operate",
    done: "The schedule is paused",
    asks: {
      title: `Pause the schedule of ${id}?`,
      says: "It does not fire until it is resumed, even after a restart and in new versions. Running instances continue, and other starts remain possible.",
      action: "Pause it",
    },
  }),
  resume: (id: string): Verb => ({ path: ["schedules", id, "resume"], label: "Resume", deed: "operate", done: "The schedule is resumed" }),
  trigger: (id: string): Verb => ({
    path: ["schedules", id, "trigger"],
    label: "Trigger…",
    deed: "operate",
    done: "Triggered",
    asks: {
      title: `Trigger the schedule of ${id}?`,
      says: "An instance starts now, even if another is still running. The schedule's fire times do not change.",
      action: "Start one now",
    },
  }),
};

/** Buttons for decisions. One that asks opens a dialog, in which a reason can be given. */
export function Decide(p: { label: string; verbs: Verb[]; small?: boolean; again: () => void; onDone?: (answer: unknown) => void }) {
  const [asking, setAsking] = useState<Verb>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const send = async (verb: Verb, reason: string) => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const { data } = await ask(api(...verb.path), { body: reason ? { reason } : {} });
      announce(verb.done);
      setAsking(undefined);
      p.onDone?.(data);
    } catch (e) {
      setError(e);
    }
    setBusy(false);
    p.again();
  };
  const begin = (verb: Verb) => {
    if (!verb.asks) return void send(verb, "");
    setError(undefined);
    setAsking(verb);
  };
  const verbs = p.verbs.filter((verb) => may(verb.deed));
  if (verbs.length === 0) return null;
  return (
    <>
      <div class="bar" role="group" aria-label={p.label}>
        {verbs.map((verb) => (
          <button key={verb.path.join("/")} type="button" class={p.small ? "small" : undefined} aria-disabled={busy} onClick={() => begin(verb)}>
            {verb.label}
          </button>
        ))}
      </div>
      {!asking && <ProblemBox error={error} />}
      {asking && <Ask verb={asking} busy={busy} error={error} onSend={(reason) => send(asking, reason)} onClose={() => (setAsking(undefined), setError(undefined))} />}
    </>
  );
}

function Ask(p: { verb: Verb; busy: boolean; error: unknown; onSend: (reason: string) => void; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const text = p.verb.asks!;
  return (
    <Dialog title={text.title} action={text.action} danger={text.danger} busy={p.busy} onClose={p.onClose} onSubmit={() => p.onSend(reason)}>
      <p>{text.says}</p>
      <label class="field">
        <span>Reason (optional)</span>
        <input value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={1000} />
      </label>
      <ProblemBox error={p.error} />
    </Dialog>
  );
}

/** When something was decided, by whom and why. */
export function Decided(p: { decision: Decision }) {
  const { at, by, reason } = p.decision;
  return (
    <>
      <Ago time={at} />
      {by && ` by ${by}`}
      {reason && `: ${reason}`}
    </>
  );
}
