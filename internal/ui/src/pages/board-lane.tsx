import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { go } from "../router";
import { may } from "../parts/access";
import { listOf, quote } from "../parts/filter";
import { number } from "../parts/format";
import { Icon } from "../parts/icon";
import { StatusMark } from "../parts/status";
import { Ago } from "../parts/when";
import { laneMost, movesFrom, says, titleOf, type Card, type Lane, type Workflow } from "./board-data";

export interface Deeds {
  workflow: Workflow;
  find: string; // a text that the cards shown have, in lower case
  dragged: Card | null;
  drag: (card: Card | null) => void;
  move: (card: Card, to: string) => void;
  more: (state: string) => void;
  menu: string; // of which card it is open
  openMenu: (id: string) => void;
  at: string; // the card that Tab leads to
  setAt: (id: string) => void;
}

export function LaneView(p: { lane: Lane; deeds: Deeds }) {
  const { lane, deeds } = p;
  const [over, setOver] = useState(false);
  const dragged = deeds.dragged;
  const legal = !!dragged && movesFrom(deeds.workflow, dragged.state).some((m) => m.legal && m.to === lane.state);
  const kind = dragged && dragged.state !== lane.state ? (legal ? " may" : " maynot") : "";
  const hidden = lane.count - lane.cards.length;
  const cards = deeds.find ? lane.cards.filter((c) => says(c, deeds.find)) : lane.cards;
  return (
    <section
      class={"lane" + kind + (over ? " over" : "") + (lane.failed ? " failed" : "")}
      aria-label={`${lane.state}, ${lane.count} jobs`}
      data-lane={lane.state}
      onDragOver={(e) => {
        if (!dragged || dragged.state === lane.state) return;
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        if (dragged && dragged.state !== lane.state) deeds.move(dragged, lane.state);
        deeds.drag(null);
      }}
    >
      <h3 title={lane.description}>
        {lane.state} <span class="pill">{deeds.find ? `${cards.length} of ${number(lane.count)}` : number(lane.count)}</span>
      </h3>
      <p class="devices" title={lane.devices ? "Only devices move jobs here" : undefined}>
        {lane.devices && "By devices only"}
      </p>
      <ul class="cards">
        {cards.map((card) => (
          <CardView key={card.id} card={card} failed={lane.failed} deeds={deeds} />
        ))}
      </ul>
      {hidden > 0 && lane.cards.length < laneMost && (
        <button type="button" class="ghost small" onClick={() => deeds.more(lane.state)}>
          {number(hidden)} more
        </button>
      )}
      {hidden > 0 && lane.cards.length >= laneMost && (
        <a href={listOf(`def:${quote(deeds.workflow.name)} state:${quote(lane.state)}`)}>All {number(lane.count)} as a list</a>
      )}
    </section>
  );
}

function CardView(p: { card: Card; failed: boolean; deeds: Deeds }) {
  const { card, deeds } = p;
  const item = useRef<HTMLLIElement>(null);
  const open = deeds.menu === card.id;
  const path = "/instances/" + encodeURIComponent(card.id);
  const title = titleOf(card);
  const label = [title, title === card.client ? "" : card.client, p.failed ? "failed" : "", `in ${card.state}`, card.progress === null ? "" : `${card.progress} %`, card.message ?? ""].filter(Boolean).join(", ");
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.target !== item.current || e.ctrlKey || e.metaKey || e.altKey) return;
    if ((e.key === "m" || e.key === "M") && may("operate")) deeds.openMenu(card.id);
    else if (e.key === "Enter") go(path);
    else if (!step(item.current!, e.key)) return;
    e.preventDefault();
  };
  return (
    <li
      ref={item}
      class={"card" + (deeds.dragged?.id === card.id ? " dragged" : "")}
      data-card={card.id}
      tabIndex={deeds.at === card.id ? 0 : -1}
      aria-label={label}
      aria-keyshortcuts="m"
      draggable={may("operate")}
      onFocus={() => deeds.setAt(card.id)}
      onKeyDown={onKeyDown}
      onDragStart={(e) => {
        e.dataTransfer?.setData("text/plain", card.id);
        deeds.openMenu("");
        deeds.drag(card);
      }}
      onDragEnd={() => deeds.drag(null)}
    >
      <div class="cardtop">
        <a class="name" href={path} tabIndex={-1} draggable={false} title={title}>
          {title}
        </a>
        {may("operate") && (
          <button
            type="button"
            class="icon small ghost"
            tabIndex={-1}
            aria-haspopup="menu"
            aria-expanded={open}
            aria-label={`Move ${title}`}
            title="Move"
            onClick={() => deeds.openMenu(open ? "" : card.id)}
          >
            <Icon name="more" />
          </button>
        )}
      </div>
      {title !== card.client && (
        <div class="client" title={card.client}>
          {card.client}
        </div>
      )}
      {card.tags && card.tags.length > 0 && (
        <div class="tags">
          {card.tags.slice(0, 6).map((t) => (
            <span class="pill" title={t}>
              {t}
            </span>
          ))}
        </div>
      )}
      {card.progress !== null && (
        <div class="progress">
          <progress max={100} value={card.progress} aria-label="Progress" /> {card.progress} %
        </div>
      )}
      {card.message && (
        <div class="message" title={card.message}>
          {card.message}
        </div>
      )}
      <div class="age">
        {p.failed && <StatusMark status="failed" />}{" "}
        <span>
          changed <Ago time={card.mtime} />
        </span>
      </div>
      {open && (
        <Menu
          card={card}
          deeds={deeds}
          close={(refocus) => {
            deeds.openMenu("");
            if (refocus) item.current?.focus();
          }}
        />
      )}
    </li>
  );
}

/** Goes to the next card in a direction. */
function step(from: HTMLElement, key: string): boolean {
  const cards = (lane: Element) => [...lane.querySelectorAll<HTMLElement>("[data-card]")];
  const lane = from.closest("[data-lane]")!;
  const lanes = [...document.querySelectorAll("[data-lane]")];
  const row = cards(lane).indexOf(from);
  const beside = (d: number) => {
    for (let i = lanes.indexOf(lane) + d; lanes[i]; i += d) {
      const there = cards(lanes[i]!);
      if (there.length > 0) return there[Math.min(row, there.length - 1)];
    }
    return undefined;
  };
  const to = { ArrowDown: () => cards(lane)[row + 1], ArrowUp: () => cards(lane)[row - 1], ArrowRight: () => beside(1), ArrowLeft: () => beside(-1) }[key];
  if (!to) return false;
  to()?.focus();
  return true;
}

function Menu(p: { card: Card; deeds: Deeds; close: (refocus: boolean) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const moves = movesFrom(p.deeds.workflow, p.card.state);
  const items = () => [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  useLayoutEffect(() => (items()[0] ?? box.current)?.focus(), []);
  const onKeyDown = (e: KeyboardEvent) => {
    const all = items();
    const i = all.indexOf(document.activeElement as HTMLElement);
    if (e.key === "Escape" || e.key === "Tab") p.close(true);
    else if (e.key === "ArrowDown") all[(i + 1) % all.length]?.focus();
    else if (e.key === "ArrowUp") all[(i - 1 + all.length) % all.length]?.focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div
      ref={box}
      class="menu"
      role="menu"
      tabIndex={-1}
      aria-label={`Move ${titleOf(p.card)} to`}
      onKeyDown={onKeyDown}
      onFocusOut={(e) => {
        if (e.relatedTarget && !box.current?.contains(e.relatedTarget as Node)) p.close(false);
      }}
    >
      {moves.map((m) => (
        <button
          type="button"
          role="menuitem"
          aria-disabled={!m.legal}
          title={m.description}
          onClick={() => {
            if (!m.legal) return;
            p.close(true);
            p.deeds.move(p.card, m.to);
          }}
        >
          {m.to}
          {!m.legal && <span class="quiet"> – only the device may</span>}
        </button>
      ))}
      {moves.length === 0 && (
        <button type="button" role="menuitem" aria-disabled onClick={() => p.close(true)}>
          Nowhere: {p.card.state} has no way out
        </button>
      )}
    </div>
  );
}
