import { useEffect, useRef, useState } from "preact/hooks";
import { api, get, Problem } from "../api";
import { useTitle } from "../app";
import { amend, place } from "../router";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { listOf, quote } from "../parts/filter";
import { number } from "../parts/format";
import { Empty, Loading, PageHead } from "../parts/head";
import { Icon } from "../parts/icon";
import { failedJobs, useFailedJobs } from "../parts/jobs";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { hold, laneStep, Meanwhile, moved, moveJob, readBoard, titleOf, type BoardData, type Card } from "./board-data";
import { LaneView, type Deeds } from "./board-lane";
import type { Stats } from "./definitions";
import "./board.css";

export function Board(p: { workflow?: string }) {
  return p.workflow ? <OneBoard key={p.workflow} name={p.workflow} /> : <Boards />;
}

function Boards() {
  useTitle("Board");
  const list = useLoad((signal) => get<{ content: { name: string; description?: string; states: { name: string }[] }[] }>("/api/wfx/v1/workflows?limit=200", signal), []);
  const stats = useLoad((signal) => get<Stats>(api("stats"), signal), []);
  useLive(2000, () => true, stats.again);
  const failed = useFailedJobs(list.data?.content.map((w) => w.name) ?? []).data;
  return (
    <>
      <PageHead title="Board">Jobs that devices and operators advance together, state by state.</PageHead>
      <ProblemBox error={list.error} again={list.again} />
      {!list.data && !list.error && <Loading />}
      {list.data?.content.length === 0 && (
        <Empty icon="board" title="There is no job workflow here yet">
          {may("deploy") && (
            <>
              <a href="/definitions?deploy=1">Deploy one</a>, such as <code>examples/jobs/kanban.yaml</code>.
            </>
          )}
        </Empty>
      )}
      {list.data && list.data.content.length > 0 && (
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">Workflow</th>
              <th scope="col">States</th>
              <th scope="col">Open</th>
              <th scope="col">Failed</th>
              <th scope="col">Ended</th>
            </tr>
          </thead>
          <tbody>
            {list.data.content.map((w) => {
              const of = stats.data?.definitions.find((d) => d.id === w.name);
              const open = (of?.statuses.running ?? 0) + (of?.statuses.waiting ?? 0) + (of?.statuses.paused ?? 0);
              return (
                <tr key={w.name}>
                  <td>
                    <a class="name" href={"/board/" + encodeURIComponent(w.name)}>
                      {w.name}
                    </a>
                    <div class="quiet">{w.description}</div>
                  </td>
                  <td data-label="States">{w.states.length}</td>
                  <td data-label="Open">{stats.data ? number(open) : "…"}</td>
                  <td data-label="Failed">
                    {failed?.get(w.name) ? (
                      <a class="status failed" href={listOf(failedJobs(w.name))}>
                        {number(failed.get(w.name)!)}
                      </a>
                    ) : failed ? (
                      0
                    ) : (
                      "…"
                    )}
                  </td>
                  <td data-label="Ended">{stats.data ? number((of?.total ?? 0) - open) : "…"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </>
  );
}

function OneBoard(p: { name: string }) {
  useTitle("Board " + p.name);
  const find = place.value.query.get("find") ?? "";
  const [wanted, setWanted] = useState<Record<string, number>>({});
  const board = useLoad((signal) => readBoard(p.name, wanted, signal), [p.name, wanted]);
  useLive(1000, (c) => c.definition === p.name, board.again);

  const [shown, setShown] = useState<{ data: BoardData; changes: number }>();
  const [dragged, drag] = useState<Card | null>(null);
  const [menu, openMenu] = useState("");
  const [at, setAt] = useState("");
  const [refused, setRefused] = useState<{ error: unknown; card: Card }>();
  const box = useRef<HTMLDivElement>(null);
  const force = useRef(true); // show what comes next as it is
  const focus = useRef(""); // the card that gets the focus when it is drawn

  useEffect(() => {
    if (!board.data) return;
    const busy = !!dragged || !!menu || (box.current && (box.current.matches(":hover") || box.current.contains(document.activeElement)));
    if (!force.current && busy && shown) setShown(hold(shown.data, board.data));
    else setShown({ data: board.data, changes: 0 });
    force.current = false;
  }, [board.data]);
  useEffect(() => {
    if (!focus.current) return;
    const card = box.current?.querySelector<HTMLElement>(`[data-card="${CSS.escape(focus.current)}"]`);
    focus.current = "";
    card?.focus();
  }, [shown]);

  const again = () => {
    if (board.data) setShown({ data: board.data, changes: 0 });
    force.current = true;
    board.again();
  };
  const move = async (card: Card, to: string) => {
    setRefused(undefined);
    try {
      const state = await moveJob(card, to);
      announce(`${titleOf(card)} is in ${state} now`);
      focus.current = card.id;
      setShown((s) => s && { ...s, data: moved(s.data, card, state) });
      board.again();
    } catch (error) {
      setRefused({ error, card });
      announce(`${titleOf(card)} was not moved`);
    }
  };
  const data = shown?.data;
  if (!data && board.error instanceof Problem && board.error.status === 404) return <NoBoard name={p.name} />;
  const cards = data?.groups.flatMap((g) => g.lanes).flatMap((l) => l.cards) ?? [];
  const deeds: Deeds | undefined = data && {
    workflow: data.workflow,
    find: find.trim().toLowerCase(),
    dragged,
    drag,
    move: (card, to) => void move(card, to),
    more: (state) => {
      force.current = true;
      setWanted({ ...wanted, [state]: (wanted[state] ?? laneStep) + laneStep });
    },
    menu,
    openMenu,
    at: cards.some((c) => c.id === at) ? at : (cards[0]?.id ?? ""),
    setAt,
  };
  return (
    <>
      <PageHead
        kind="Board"
        kindHref="/board"
        title={p.name}
        actions={
          <>
            <a class="button" href={"/definitions/" + encodeURIComponent(p.name)}>
              Definition
            </a>
            {may("start") && (
              <a class="button main" href={"/definitions/" + encodeURIComponent(p.name) + "?tab=start"}>
                <Icon name="plus" /> New job
              </a>
            )}
          </>
        }
      >
        {data?.workflow.description}
      </PageHead>
      <div class="bar">
        <span class="search">
          <Icon name="search" />
          <input type="search" aria-label="Find" placeholder="Title, device, tag or message" value={find} onInput={(e) => amend({ find: e.currentTarget.value })} />
        </span>
        {find && (
          <a class="calm" href={listOf(`def:${quote(p.name)} text:${quote(find.trim())}`)}>
            Look in all jobs
          </a>
        )}
        {data && data.groups.length > 1 && <Groups groups={data.groups} />}
        <span class="grow" />
        {may("operate") && <span class="keys">Drag a card, or select it by arrow keys: M moves, Enter opens.</span>}
      </div>
      <ProblemBox error={board.error} again={again} />
      {refused && <Refused {...refused} look={again} dismiss={() => setRefused(undefined)} />}
      {shown && shown.changes > 0 && (
        <div class="fresh">
          {shown.changes} changed
          <button type="button" class="small" onClick={again}>
            Show
          </button>
        </div>
      )}
      {!data && !board.error && <Loading lines={6} />}
      {data && deeds && (
        <div class="board" ref={box} role="region" aria-label="Board">
          <div class="board-row">
            {data.groups.map((g) => (
              <section key={g.name} class="group" data-group={g.name} style={{ flexGrow: g.lanes.length }} aria-label={g.name ? `Group ${g.name}` : "Without a group"}>
                {g.name ? (
                  <h2 title={g.description}>
                    {g.name} {g.description && <span class="quiet">{g.description}</span>}
                  </h2>
                ) : (
                  <div class="nogroup" />
                )}
                <div class="lanes">
                  {g.lanes.map((l) => (
                    <LaneView key={l.state} lane={l} deeds={deeds} />
                  ))}
                </div>
              </section>
            ))}
          </div>
        </div>
      )}
      {data && data.left > 0 && <p class="quiet">{data.left} empty lanes are not shown.</p>}
    </>
  );
}

/** How many jobs each group has, and the way to those that are out of sight. */
function Groups(p: { groups: BoardData["groups"] }) {
  return (
    <span class="board-groups" role="group" aria-label="Groups">
      {p.groups.filter((g) => g.name).map((g) => {
        const count = g.lanes.reduce((n, l) => n + l.count, 0);
        return (
          <button
            key={g.name}
            type="button"
            class={"small" + (g.name === "FAILED" && count > 0 ? " danger" : "")}
            onClick={() => {
              const group = document.querySelector(`[data-group="${CSS.escape(g.name)}"]`);
              const lane = group?.querySelector("[data-lane]:has([data-card])") ?? group;
              lane?.scrollIntoView({ block: "nearest", inline: "start" });
              lane?.querySelector<HTMLElement>("[data-card]")?.focus({ preventScroll: true });
            }}
          >
            {g.name} <b>{number(count)}</b>
          </button>
        );
      })}
    </span>
  );
}

function NoBoard(p: { name: string }) {
  return (
    <>
      <h1>There is no such board</h1>
      <p>
        No job workflow is called <b>{p.name}</b>; other definitions have no board. Look among the <a href="/board">boards</a> or the{" "}
        <a href="/definitions">definitions</a>.
      </p>
    </>
  );
}

function Refused(p: { error: unknown; card: Card; look: () => void; dismiss: () => void }) {
  const meanwhile = p.error instanceof Meanwhile;
  return (
    <div class="problem" role="alert">
      <p>
        <b>{titleOf(p.card)} was not moved.</b> {p.error instanceof Error ? p.error.message : String(p.error)}
      </p>
      <div class="bar tight">
        {meanwhile && (
          <button
            type="button"
            onClick={() => {
              p.dismiss();
              p.look();
            }}
          >
            Look again
          </button>
        )}
        <button type="button" onClick={p.dismiss}>
          Dismiss
        </button>
      </div>
    </div>
  );
}
