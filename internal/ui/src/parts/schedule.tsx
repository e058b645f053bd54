// What the list of schedules and a definition's own schedule have in common.
import { useState } from "preact/hooks";
import type { Fire, Schedule } from "../api";
import { may } from "./access";
import { Decide, Decided, scheduleVerbs, type Verb } from "./decide";
import { inWords } from "./format";
import { Icon, type IconName } from "./icon";
import { Popover } from "./popover";
import { BackfillDialog, RulesDialog } from "./schedule-change";
import { StatusMark } from "./status";
import { Ago } from "./when";

const marks: Record<Schedule["state"], [mark: IconName, text: string, colour: string]> = {
  active: ["schedules", "active", "completed"],
  paused: ["paused", "paused", "paused"],
  "definition-paused": ["paused", "definition paused", "paused"],
  retired: ["terminated", "definition retired", ""],
  over: ["completed", "over", ""],
};

/** Whether a schedule fires, and who decided that it does not. */
export function ScheduleState(p: { schedule: Schedule }) {
  const [mark, text, colour] = marks[p.schedule.state];
  return (
    <>
      <span class={"status " + colour}>
        <Icon name={mark} size={12} /> {text}
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
          every <span title={every}>{inWords(every)}</span>
        </>
      )}
      {after && (
        <>
          <span title={after}>{inWords(after)}</span> after the previous run ended
        </>
      )}
      <span class="quiet">
        {" "}
        {zone === "Local" ? "server time" : zone}
        {from && `, from ${from}`}
        {until && `, until ${until}`}
      </span>
    </>
  );
}

const outcomes: Record<Fire["outcome"], string> = {
  started: "started",
  triggered: "triggered",
  queued: "queued until the previous instance ends",
  skipped: "skipped: the previous instance was still running",
  missed: "missed: no server was running",
  paused: "skipped: the schedule was paused",
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
export function ScheduleActions(p: { schedule: Schedule; small?: boolean; again: () => void }) {
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
  const [asking, ask] = useState<"backfill" | "rules">();
  const done = (answer: unknown) => setMade("state" in (answer as object) ? undefined : (answer as { instance?: string }));
  return (
    <>
      <div class="schedule-actions">
        {verbs[state].length > 0 && <Decide label={"Actions on the schedule of " + id} verbs={verbs[state]} small={p.small} again={p.again} onDone={done} />}
        {may("operate") && state !== "retired" && (
          <Popover label="More" class={p.small ? "small" : undefined} right={p.small}>
            {(close) => (
              <div class="menu-list">
                {(["backfill", "rules"] as const).map((what) => (
                  <button
                    key={what}
                    type="button"
                    class="ghost"
                    onClick={() => {
                      close();
                      ask(what);
                    }}
                  >
                    {{ backfill: "Backfill…", rules: "Rules…" }[what]}
                  </button>
                ))}
              </div>
            )}
          </Popover>
        )}
      </div>
      {asking === "backfill" && <BackfillDialog schedule={p.schedule} onClose={() => ask(undefined)} done={p.again} />}
      {asking === "rules" && <RulesDialog schedule={p.schedule} onClose={() => ask(undefined)} done={p.again} />}
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
