import { api, get, Problem, type Definition, type Schedule } from "../api";
import { Decide, Decided, definitionVerbs } from "../parts/decide";
import { useLive } from "../parts/live";
import { useLoad, type Loaded } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Expression, FireOutcome, FireTime, ScheduleActions, ScheduleState } from "../parts/schedule";
import { Rules } from "../parts/schedule-change";
import { Next } from "../parts/when";
import { useNowAndThen } from "./definitions";

/** What the pause or the retirement of a definition means, and who decided it. */
export function Standing(p: { definition: Definition }) {
  const { paused, retired } = p.definition;
  return (
    <>
      {paused && (
        <div class="told none">
          <b>Paused</b> <Decided decision={paused} />
          <div class="quiet">Until it is resumed, no instances start and running ones are held.</div>
        </div>
      )}
      {retired && (
        <div class="told none">
          <b>Retired</b> <Decided decision={retired} />
          <div class="quiet">No new instances start. Running instances continue to their end.</div>
        </div>
      )}
    </>
  );
}

/** What can be decided about a definition as a whole. */
export function StandingActions(p: { definition: Definition; again: () => void }) {
  const { id, paused, retired } = p.definition;
  const { pause, resume, retire, unretire } = definitionVerbs;
  return <Decide label="Actions on the definition" verbs={[paused ? resume(id) : pause(id), retired ? unretire(id) : retire(id)]} again={p.again} />;
}

/** The schedule of a definition's current version; null: it has none. */
export function useSchedule(id: string, current: Definition | undefined): Loaded<Schedule | null> {
  const has = current?.scheduled === true;
  const loaded = useLoad((signal) => (has ? scheduleOf(id, signal) : Promise.resolve(null)), [id, has, current?.digest]);
  const again = () => has && loaded.again();
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

/** A definition's schedule: when it fires next, its rules, and what became of the last times. */
export function ScheduleSection(p: { loaded: Loaded<Schedule | null>; again: () => void }) {
  const { data, error, again } = p.loaded;
  if (!data && !error) return null;
  return (
    <section aria-label="Schedule">
      <h2>Schedule</h2>
      <ProblemBox error={error} again={again} />
      {data && (
        <>
          <p>
            <Expression schedule={data} />
          </p>
          <p>
            <ScheduleState schedule={data} />
          </p>
          <ScheduleActions schedule={data} again={p.again} />
          <h3>Next</h3>
          {data.next.length === 0 && <p class="quiet">{data.state === "active" ? "An instance must end first." : "No fire time is ahead."}</p>}
          <ol class="fires">
            {data.next.map((at) => (
              <li key={at}>
                <Next time={at} />
              </li>
            ))}
          </ol>
          <h3>Last</h3>
          {data.fires.length === 0 && <p class="quiet">It has not fired yet.</p>}
          <ul class="fires">
            {data.fires.map((f) => (
              <li key={f.at + f.outcome + (f.instance ?? "")}>
                <FireTime fire={f} />: <FireOutcome fire={f} />
              </li>
            ))}
          </ul>
          <h3>Rules</h3>
          <p class="quiet">
            <Rules schedule={data} />
          </p>
        </>
      )}
    </section>
  );
}
