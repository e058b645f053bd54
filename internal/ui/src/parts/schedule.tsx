// What the list of schedules and a definition's own schedule have in common.
import { useState } from "preact/hooks";
import type { Fire, Schedule } from "../api";
import { Decide, Decided, scheduleVerbs, type Verb } from "./decide";
import { StatusMark } from "./status";
import { Ago } from "./when";

const marks: Record<Schedule["state"], [mark: string, text: string, colour: string]> = {
  active: ["▶", "active", "running"],
  paused: ["‖", "paused", "paused"],
  "definition-paused": ["‖", "definition paused", "paused"],
  retired: ["■", "definition retired", ""],
  over: ["✓", "over", ""],
};

/** Whether a schedule fires, and who decided that it does not. */
export function ScheduleState(p: { schedule: Schedule }) {
  const [mark, text, colour] = marks[p.schedule.state];
  return (
    <>
      <span class={"status " + colour}>
        <span aria-hidden="true">{mark}</span> {text}
      </span>
      {p.schedule.paused && (
        <div class="quiet">
          <Decided decision={p.schedule.paused} />
        </div>
      )}
    </>
  );
}

/** When a schedule fires, as its definition says it. */
export function Expression(p: { schedule: Schedule }) {
  const { cron, every, after, from, until, zone } = p.schedule;
  return (
    <>
      {cron && <code class="nowrap">{cron}</code>}
      {every && (
        <>
          every <code>{every}</code>
        </>
      )}
      {after && (
        <>
          <code>{after}</code> after the end of the one before
        </>
      )}
      <div class="quiet">
        {zone}
        {from && `, from ${from}`}
        {until && `, until ${until}`}
      </div>
    </>
  );
}

const outcomes: Record<Fire["outcome"], string> = {
  started: "started",
  triggered: "triggered",
  queued: "queued: it waits for the end of the instance before",
  skipped: "skipped: the instance before was not over",
  missed: "missed: no server ran",
  paused: "left out: it was paused",
};

/** What became of a fire time. */
export function FireOutcome(p: { fire: Fire }) {
  const { outcome, instance, status } = p.fire;
  return (
    <>
      {instance ? <a href={"/instances/" + encodeURIComponent(instance)}>{outcomes[outcome]}</a> : outcomes[outcome]} {status && <StatusMark status={status} />}
    </>
  );
}

/** A fire time that was; one can stand for several. */
export function FireTime(p: { fire: Fire }) {
  return (
    <>
      <Ago time={p.fire.at} />
      {p.fire.until && (
        <>
          {" until "}
          <Ago time={p.fire.until} />
        </>
      )}
    </>
  );
}

/** What can be decided about a schedule. While its definition stands still, that is to be decided first. */
export function ScheduleActions(p: { schedule: Schedule; again: () => void }) {
  const { definition: id, state } = p.schedule;
  const [made, setMade] = useState<{ instance?: string }>();
  const { pause, resume, trigger } = scheduleVerbs;
  const verbs: Record<Schedule["state"], Verb[]> = {
    active: [pause(id), trigger(id)],
    paused: [resume(id), trigger(id)],
    over: [trigger(id)],
    "definition-paused": [],
    retired: [],
  };
  const done = (answer: unknown) => setMade("state" in (answer as object) ? undefined : (answer as { instance?: string }));
  return (
    <>
      {verbs[state].length > 0 && <Decide label={"Actions on the schedule of " + id} verbs={verbs[state]} again={p.again} onDone={done} />}
      {made && (
        <div role="status">
          {made.instance ? (
            <>
              Started: <a href={"/instances/" + encodeURIComponent(made.instance)}>{made.instance}</a>
            </>
          ) : (
            "Its events are sent."
          )}
        </div>
      )}
    </>
  );
}
