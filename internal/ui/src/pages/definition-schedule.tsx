import { api, get, Problem, type Definition, type Schedule } from "../api";
import { Decide, Decided, definitionVerbs } from "../parts/decide";
import { useLive } from "../parts/live";
import { useLoad, type Loaded } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Expression, FireOutcome, FireTime, ScheduleActions, ScheduleState } from "../parts/schedule";
import { Next } from "../parts/when";
import { useNowAndThen } from "./definitions";

/** Whether a definition is paused or retired, and what can be decided about that. */
export function Standing(p: { definition: Definition; again: () => void }) {
  const { id, paused, retired } = p.definition;
  const { pause, resume, retire, unretire } = definitionVerbs;
  return (
    <>
      {paused && (
        <div class="told none">
          <b>Paused</b> <Decided decision={paused} />
          <div class="quiet">Nothing of it starts, and instances that run are held, until it is resumed.</div>
        </div>
      )}
      {retired && (
        <div class="told none">
          <b>Retired</b> <Decided decision={retired} />
          <div class="quiet">No instance of it is started any more. Instances that run go on to their end.</div>
        </div>
      )}
      <Decide label="Actions on the definition" verbs={[paused ? resume(id) : pause(id), retired ? unretire(id) : retire(id)]} again={p.again} />
    </>
  );
}

/** The schedule of a definition's current version; null: it has none. */
export function useSchedule(id: string, current: Definition | undefined): Loaded<Schedule | null> {
  const known = current !== undefined;
  const possible = known && current.dialect !== "wfx"; // jobs are created
  const loaded = useLoad((signal) => (possible ? scheduleOf(id, signal) : Promise.resolve(null)), [id, possible, current?.digest]);
  const again = () => loaded.data !== null && loaded.again(); // a new version may have one, and has another digest
  useLive(2000, (c) => c.definition === id, again);
  useNowAndThen(5000, again);
  return loaded;
}

async function scheduleOf(id: string, signal: AbortSignal): Promise<Schedule | null> {
  try {
    return await get<Schedule>(api("schedules", id), signal);
  } catch (e) {
    if (e instanceof Problem && e.code === "no-schedule") return null;
    throw e;
  }
}

/** A definition's schedule: when it fires next, and what became of the last times. */
export function ScheduleTab(p: { loaded: Loaded<Schedule | null>; again: () => void }) {
  const { data, error, again } = p.loaded;
  if (error) return <ProblemBox error={error} again={again} />;
  if (data === undefined) return <p class="quiet">Loading…</p>;
  if (!data) return <p class="quiet">The current version has no schedule that starts instances.</p>;
  return (
    <>
      <dl class="def-facts">
        <div>
          <dt>Fires</dt>
          <dd>
            <Expression schedule={data} />
          </dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>
            <ScheduleState schedule={data} />
          </dd>
        </div>
        <div>
          <dt>While an instance is not over</dt>
          <dd>{{ allow: "another starts", skip: "fire times are skipped", queue: "one fire time waits" }[data.overlap]}</dd>
        </div>
      </dl>
      <ScheduleActions schedule={data} again={p.again} />
      <h2>Next</h2>
      {data.next.length === 0 && <p class="quiet">{data.state === "active" ? "An instance must end first." : "Nothing fires."}</p>}
      <ol class="fires">
        {data.next.map((at) => (
          <li key={at}>
            <Next time={at} />
          </li>
        ))}
      </ol>
      <h2>Last</h2>
      {data.fires.length === 0 && <p class="quiet">It has not fired yet.</p>}
      <ul class="fires">
        {data.fires.map((f) => (
          <li key={f.at + f.outcome + (f.instance ?? "")}>
            <FireTime fire={f} />: <FireOutcome fire={f} />
          </li>
        ))}
      </ul>
    </>
  );
}
