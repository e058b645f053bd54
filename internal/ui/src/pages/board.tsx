import { useEffect, useRef, useState } from "preact/hooks";
import { api, get, Problem } from "../api";
import { useTitle } from "../app";
import { announce } from "../parts/announcer";
import { useLive } from "../parts/live";
import { useLoad } from "../parts/load";
import { ProblemBox } from "../parts/problem";
import { hold, laneStep, Meanwhile, moved, moveJob, readBoard, type BoardData, type Card } from "./board-data";
import { LaneView, type Deeds } from "./board-lane";
import { Counts, type Stats } from "./definitions";
import "./board.css";

export function Board(p: { workflow?: string }) {
  return p.workflow ? <OneBoard key={p.workflow} name={p.workflow} /> : <Boards />;
}

function Boards() {
  useTitle("Board");
  const list = useLoad((signal) => get<{ content: { name: string; description?: string }[] }>("/api/wfx/v1/workflows?limit=200", signal), []);
  const stats = useLoad((signal) => get<Stats>(api("stats"), signal), []);
  useLive(2000, () => true, stats.again);
  return (
    <>
      <h1>Board</h1>
      <ProblemBox error={list.error} again={list.again} />
      {list.data?.content.length === 0 && (
        <div class="panel">
          <p>
            A board shows jobs: work that devices and operators advance together, state by state. There is no job workflow here yet.{" "}
            <a href="/definitions?deploy=1">Deploy one</a>, such as <code>examples/jobs/kanban.yaml</code>.
          </p>
        </div>
      )}
      {list.data && list.data.content.length > 0 && (
        <div class="scroll-x">
          <table>
            <thead>
              <tr>
                <th scope="col">Workflow</th>
                <th scope="col">Jobs</th>
              </tr>
            </thead>
            <tbody>
              {list.data.content.map((w) => (
                <tr key={w.name}>
                  <td>
                    <a href={"/board/" + encodeURIComponent(w.name)}>{w.name}</a>
                    <div class="quiet">{w.description}</div>
                  </td>
                  <td>
                    <Counts id={w.name} statuses={stats.data?.definitions.find((d) => d.id === w.name)?.statuses} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function OneBoard(p: { name: string }) {
  useTitle("Board " + p.name);
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
      announce(`${card.client} is in ${state} now`);
      focus.current = card.id;
      setShown((s) => s && { ...s, data: moved(s.data, card, state) });
      board.again();
    } catch (error) {
      setRefused({ error, card });
      announce(`${card.client} was not moved`);
    }
  };
  const data = shown?.data;
  if (!data && board.error instanceof Problem && board.error.status === 404) return <NoBoard name={p.name} />;
  const cards = data?.groups.flatMap((g) => g.lanes).flatMap((l) => l.cards) ?? [];
  const deeds: Deeds | undefined = data && {
    workflow: data.workflow,
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
      <h1>{p.name}</h1>
      {data?.workflow.description && <p class="subtitle">{data.workflow.description}</p>}
      <div class="bar">
        <a href={"/definitions/" + encodeURIComponent(p.name)}>Definition</a>
        <a href={"/definitions/" + encodeURIComponent(p.name) + "?tab=start"}>New job</a>
        <span class="grow" />
        <span class="quiet">Drag a card, or: arrow keys go from card to card, M moves one, Enter opens it.</span>
      </div>
      <ProblemBox error={board.error} again={again} />
      {refused && <Refused {...refused} look={again} dismiss={() => setRefused(undefined)} />}
      {shown && shown.changes > 0 && (
        <div class="fresh">
          {shown.changes} changed
          <button type="button" onClick={again}>
            Show
          </button>
        </div>
      )}
      {!data && !board.error && <p class="quiet">Loading…</p>}
      {data && deeds && (
        <div class="board" ref={box} role="region" aria-label="Board">
          {data.groups.map((g) => (
            <section class="group" style={{ flexGrow: g.lanes.length }} aria-label={g.name ? `Group ${g.name}` : "Without a group"}>
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
      )}
      {data && data.left > 0 && <p class="quiet">{data.left} empty lanes are not shown.</p>}
    </>
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
        <b>{p.card.client} was not moved.</b> {p.error instanceof Error ? p.error.message : String(p.error)}
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
