import { useEffect } from "preact/hooks";
import { api, get, type Page, type Schedule } from "../api";
import { useTitle } from "../app";
import { place, restoreScroll } from "../router";
import { may } from "../parts/access";
import { instant } from "../parts/format";
import { Empty, Loading, PageHead } from "../parts/head";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { Expression, FireOutcome, FireTime, ScheduleActions, ScheduleState } from "../parts/schedule";
import { Rules } from "../parts/schedule-change";
import { Due } from "../parts/when";
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
      <PageHead title="Schedules">Definitions that start by themselves: by cron, at an interval, or some time after the previous run ended.</PageHead>
      <ProblemBox error={list.error} again={list.again} />
      {!list.data && !list.error && <Loading />}
      {list.data && rows.length === 0 && !after && (
        <Empty icon="schedules" title="No definition here has one yet">
          A definition has one in its <code>schedule</code>
          {may("start") && (
            <>
              , as in <a href="/playground?example=invoices">this example</a>
            </>
          )}
          . {may("deploy") && <a href="/definitions?deploy=1">Deploy a definition</a>}
        </Empty>
      )}
      {rows.length > 0 && <Table rows={rows} again={list.again} />}
      {list.data?.next && (
        <nav class="pages" aria-label="Pages">
          <a class="button" href={"/schedules?after=" + encodeURIComponent(String(list.data.next))}>
            More schedules
          </a>
        </nav>
      )}
    </>
  );
}

function Table(p: { rows: Schedule[]; again: () => void }) {
  return (
    <table class="schedules stack">
      <thead>
        <tr>
          <th scope="col">Definition</th>
          <th scope="col">State</th>
          <th scope="col">Fires</th>
          <th scope="col">Next</th>
          <th scope="col">Last</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {p.rows.map((s) => (
          <tr key={s.definition}>
            <td class="what">
              <a class="name" href={"/definitions/" + encodeURIComponent(s.definition)}>
                {s.definition}
              </a>
              {s.version && <span class="quiet"> {s.version}</span>}
            </td>
            <td>
              <ScheduleState schedule={s} />
            </td>
            <td class="wide">
              <Expression schedule={s} />
              <div class="quiet">
                <Rules schedule={s} />
              </div>
            </td>
            <td data-label="Next">{s.next[0] ? <NextFire time={s.next[0]} /> : <span class="quiet">none</span>}</td>
            <td data-label="Last">{s.fires[0] ? <Last fire={s.fires[0]} /> : <span class="quiet nowrap">none yet</span>}</td>
            <td class="act wide">
              <ScheduleActions schedule={s} small again={p.again} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function NextFire(p: { time: string }) {
  return (
    <>
      <Due time={p.time} />
      <div class="quiet nowrap">{instant(p.time)}</div>
    </>
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
