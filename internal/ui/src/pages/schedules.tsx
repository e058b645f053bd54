import { useEffect } from "preact/hooks";
import { api, get, type Page, type Schedule } from "../api";
import { useTitle } from "../app";
import { place, restoreScroll } from "../router";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Expression, FireOutcome, FireTime, ScheduleActions, ScheduleState } from "../parts/schedule";
import { Next } from "../parts/when";
import { useNowAndThen } from "./definitions";

export function Schedules() {
  useTitle("Schedules");
  const after = place.value.query.get("after") ?? "";
  const list = useLoad((signal) => get<Page<Schedule>>(api("schedules") + "?limit=200" + (after ? "&after=" + encodeURIComponent(after) : ""), signal), [after]);
  const rows = list.data?.items ?? [];
  useLive(2000, (c) => rows.some((s) => s.definition === c.definition), list.again);
  useNowAndThen(5000, list.again);
  useEffect(() => {
    if (list.data) restoreScroll();
  }, [!list.data]);
  return (
    <>
      <h1>Schedules</h1>
      <ProblemBox error={list.error} again={list.again} />
      {!list.data && !list.error && <p class="quiet">Loading…</p>}
      {list.data && rows.length === 0 && !after && (
        <div class="panel">
          <p>
            A schedule starts instances by cron, every so often, or some time after the end of the one before. No definition here has one yet: write{" "}
            <code>schedule</code> into a definition, as <a href="/playground?example=invoices">this example</a> does, and <a href="/definitions?deploy=1">deploy it</a>.
          </p>
        </div>
      )}
      {rows.length > 0 && <Table rows={rows} again={list.again} />}
      {list.data?.next && (
        <p>
          <a href={"/schedules?after=" + encodeURIComponent(String(list.data.next))}>More schedules</a>
        </p>
      )}
    </>
  );
}

function Table(p: { rows: Schedule[]; again: () => void }) {
  return (
    <div class="scroll-x" role="region" aria-label="Table of schedules" tabIndex={0}>
      <table class="schedules">
        <thead>
          <tr>
            <th scope="col">Definition</th>
            <th scope="col">Fires</th>
            <th scope="col">State</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {p.rows.map((s) => (
            <tr key={s.definition}>
              <td>
                <a href={"/definitions/" + encodeURIComponent(s.definition) + "?tab=schedule"}>{s.definition}</a>
                {s.version && <div class="quiet">{s.version}</div>}
              </td>
              <td>
                <Expression schedule={s} />
              </td>
              <td>
                <ScheduleState schedule={s} />
              </td>
              <td>
                <Next time={s.next[0]} />
              </td>
              <td>{s.fires[0] ? <Last fire={s.fires[0]} /> : <span class="quiet">none yet</span>}</td>
              <td>
                <ScheduleActions schedule={s} again={p.again} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Last(p: { fire: Schedule["fires"][number] }) {
  return (
    <>
      <FireOutcome fire={p.fire} />
      <div class="quiet">
        <FireTime fire={p.fire} />
      </div>
    </>
  );
}
