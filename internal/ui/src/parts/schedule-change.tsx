// What is asked before a schedule's past is made up for, and before its rules change.
import { useState } from "preact/hooks";
import { api, ask, type Schedule } from "../api";
import { announce } from "./announcer";
import { Dialog } from "./dialog";
import { inWords, instant, number } from "./format";
import { ProblemBox } from "./problem";

interface Backfill {
  started: number;
  existing: number;
  fires: { at: string; instance?: string }[];
}

const samples = 5;

/** Starts the instances of fire times that have passed, once it is known how many they are. */
export function BackfillDialog(p: { schedule: Schedule; onClose: () => void; done: () => void }) {
  const { definition } = p.schedule;
  const [from, setFrom] = useState(() => local(new Date(Date.now() - 24 * 3600_000)));
  const [to, setTo] = useState(() => local(new Date()));
  const [reason, setReason] = useState("");
  const [counted, setCounted] = useState<Backfill>();
  const [made, setMade] = useState<Backfill>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const range = (set: (text: string) => void) => (e: { currentTarget: HTMLInputElement }) => {
    set(e.currentTarget.value);
    setCounted(undefined);
  };
  const send = async (dryRun: boolean) => {
    const [begin, end] = [new Date(from), new Date(to)];
    if (isNaN(+begin) || isNaN(+end)) return setError("Give both times.");
    setBusy(true);
    setError(undefined);
    try {
      const body = { from: begin.toISOString(), to: end.toISOString(), dryRun, ...(reason && !dryRun ? { reason } : {}) };
      const { data } = await ask<Backfill>(api("schedules", definition, "backfill"), { body });
      if (dryRun) setCounted(data);
      else {
        setMade(data);
        announce(`${data.started} started`);
        p.done();
      }
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  const n = counted?.started ?? 0;
  return (
    <Dialog
      title={`Backfill ${definition}`}
      action={busy ? "Working…" : counted ? `Start ${number(n)}` : "Count the fire times"}
      busy={busy}
      onClose={p.onClose}
      onSubmit={made || (counted && n === 0) ? undefined : () => void send(!counted)}
    >
      {made ? (
        <p role="status">
          <b>{number(made.started)} started</b>
          {made.existing > 0 && `, ${number(made.existing)} already existed`}.
        </p>
      ) : (
        <>
          <p>Starts an instance for each past fire time in a range, whatever the overlap rule. Fire times that already have an instance are left alone.</p>
          <div class="three">
            <label class="field">
              <span>From</span>
              <input type="datetime-local" required value={from} onInput={range(setFrom)} />
            </label>
            <label class="field">
              <span>To (exclusive)</span>
              <input type="datetime-local" required value={to} onInput={range(setTo)} />
            </label>
          </div>
          <p class="quiet">In the time zone of this browser, {Intl.DateTimeFormat().resolvedOptions().timeZone}.</p>
          {counted && (
            <div class="told none" role="status">
              <b>
                {number(n)} {n === 1 ? "fire time starts" : "fire times start"} an instance
              </b>
              {counted.existing > 0 && `; ${number(counted.existing)} ${counted.existing === 1 ? "has" : "have"} one already`}.
              <ul class="fires">
                {counted.fires
                  .filter((f) => !f.instance)
                  .slice(0, samples)
                  .map((f) => (
                    <li key={f.at}>{instant(f.at)}</li>
                  ))}
                {n > samples && <li class="quiet">and {number(n - samples)} more</li>}
              </ul>
            </div>
          )}
          {counted && n > 0 && (
            <label class="field">
              <span>Reason (optional)</span>
              <input value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={4000} />
            </label>
          )}
        </>
      )}
      <ProblemBox error={error} />
    </Dialog>
  );
}

/** An instant as an input for local times has it. */
function local(t: Date): string {
  return new Date(t.getTime() - t.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const overlaps = { allow: "Start another", skip: "Skip the fire time", queue: "Queue one fire time" };
const catchUps = { latest: "The latest", all: "All", none: "None" };
const units = { M: "minutes", H: "hours", D: "days" };

/** What can be decided about how a schedule fires; what is not decided is the server's. */
export function RulesDialog(p: { schedule: Schedule; onClose: () => void; done: () => void }) {
  const { definition, set } = p.schedule;
  const before = windowOf(set.catchUpWindow);
  const [overlap, setOverlap] = useState(set.overlap ?? "");
  const [catchUp, setCatchUp] = useState(set.catchUp ?? "");
  const [amount, setAmount] = useState(before?.amount ?? "");
  const [unit, setUnit] = useState(before?.unit ?? "H");
  const [reason, setReason] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    setError(undefined);
    const whole = amount.trim();
    // A duration of several units is kept as it is, unless another is given.
    const catchUpWindow = whole === "" ? (set.catchUpWindow && !before ? undefined : "") : unit === "D" ? `P${whole}D` : `PT${whole}${unit}`;
    try {
      await ask(api("schedules", definition), { method: "PATCH", body: { overlap, catchUp, ...(catchUpWindow !== undefined && { catchUpWindow }), ...(reason && { reason }) } });
      announce("The rules are changed");
      p.done();
      p.onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Rules of ${definition}`} action="Save" busy={busy} onClose={p.onClose} onSubmit={() => void send()}>
      <p>They apply to new versions of the definition, too.</p>
      <label class="field">
        <span>If an instance is still running at a fire time</span>
        <select value={overlap} onChange={(e) => setOverlap(e.currentTarget.value)}>
          <option value="">Server default{set.overlap ? "" : `: ${overlaps[p.schedule.overlap].toLowerCase()}`}</option>
          {Object.entries(overlaps).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Catch up on missed fire times</span>
        <select value={catchUp} onChange={(e) => setCatchUp(e.currentTarget.value)}>
          <option value="">Server default{set.catchUp ? "" : `: ${catchUps[p.schedule.catchUp].toLowerCase()}`}</option>
          {Object.entries(catchUps).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <fieldset class="field window">
        <legend>Only those of the last</legend>
        <input type="number" min="1" aria-label="How many" placeholder={set.catchUpWindow && !before ? set.catchUpWindow : "server default"} value={amount} onInput={(e) => setAmount(e.currentTarget.value)} />
        <select aria-label="Unit" value={unit} onChange={(e) => setUnit(e.currentTarget.value as keyof typeof units)}>
          {Object.entries(units).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </fieldset>
      <label class="field">
        <span>Reason (optional)</span>
        <input value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={4000} />
      </label>
      <ProblemBox error={error} />
    </Dialog>
  );
}

/** A duration of one unit, as a number and that. */
function windowOf(iso?: string): { amount: string; unit: keyof typeof units } | undefined {
  const m = /^P(?:(\d+)D|T(\d+)([HM]))$/.exec(iso ?? "");
  if (!m) return undefined;
  return m[1] ? { amount: m[1], unit: "D" } : { amount: m[2]!, unit: m[3] as "H" | "M" };
}

/** The rules in words, for where they are looked at. */
export function Rules(p: { schedule: Schedule }) {
  const { overlap, catchUp, catchUpWindow } = p.schedule;
  return (
    <>
      {{ allow: "Runs may overlap", skip: "Skips while one is running", queue: "Queues one while another is running" }[overlap]}, {{ latest: "catches up on the latest missed run", all: "catches up on all missed runs", none: "does not catch up" }[catchUp]}
      {catchUpWindow && catchUp !== "none" && ` of the last ${inWords(catchUpWindow)}`}
    </>
  );
}
