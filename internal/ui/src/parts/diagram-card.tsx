// What is told of a state or of a way when it is pointed at or has the focus.
import type { Drawing, EdgeMark, Fact, Link, NodeMark, Rect } from "./diagram-drawing";
import { useLayoutEffect, useRef } from "preact/hooks";

/** What a card is about: a state by its name, or a way by its key. */
export interface About {
  state?: string;
  line?: string;
  at: Rect; // in the frame
}

const waysShown = 6;
const linesShown = 8;
const words: Record<string, string> = { error: "on error", compensate: "undone by", default: "default", timeout: "timeout", event: "event", condition: "if", offer: "by" };

export function Card(p: { id: string; about: About; drawing: Drawing; marks: Map<string, NodeMark>; edges?: Map<string, EdgeMark>; facts?: (state: string) => Fact[]; room: { w: number; h: number } }) {
  const box = useRef<HTMLDivElement>(null);
  // Beside what it is about, where there is room.
  useLayoutEffect(() => {
    const card = box.current!;
    const { at } = p.about;
    const [w, h] = [card.offsetWidth, card.offsetHeight];
    const right = at.x + at.w + 12;
    let x = right;
    let y = at.y;
    if (right + w > p.room.w) x = at.x - w - 12;
    if (x < 4) {
      x = Math.max(4, Math.min(at.x, p.room.w - w - 4));
      y = at.y + at.h + 12 + h > p.room.h && at.y - h - 12 > 4 ? at.y - h - 12 : at.y + at.h + 12;
    }
    card.style.left = x + "px";
    card.style.top = Math.max(4, Math.min(y, p.room.h - h - 4)) + "px";
  });
  const link = p.about.line ? p.drawing.links.find((l) => l.key === p.about.line) : undefined;
  return (
    <div class="card" id={p.id} role="tooltip" ref={box}>
      {p.about.state !== undefined && <StateCard {...p} state={p.about.state} />}
      {link && <LineCard link={link} mark={p.edges?.get(link.key)} trail={!!p.edges} />}
    </div>
  );
}

function StateCard(p: { state: string; drawing: Drawing; marks: Map<string, NodeMark>; edges?: Map<string, EdgeMark>; facts?: (state: string) => Fact[] }) {
  const g = p.drawing.states.get(p.state)?.g;
  const mark = p.marks.get(p.state);
  const says = mark && (mark.says ?? [mark.kind === "none" ? "" : mark.kind, mark.note].filter(Boolean).join(", "));
  const does = g?.dataset.does?.split("\n") ?? [];
  const type = [g?.dataset.group, g?.dataset.type, g?.classList.contains("ls-compensates") && "compensates"].filter(Boolean).join(", ");
  const ways = p.drawing.links.filter((l) => l.from === p.state);
  return (
    <>
      <b>{p.state}</b>
      {type && <span class="quiet"> {type}</span>}
      {says && <p class={mark?.kind === "failed" ? "bad" : undefined}>{says}</p>}
      {does.length > 0 && (
        <ul>
          {does.slice(0, linesShown).map((line) => (
            <li>{line}</li>
          ))}
          {does.length > linesShown && <li class="quiet">and {does.length - linesShown} more</li>}
        </ul>
      )}
      <Facts list={p.facts?.(p.state)} />
      {ways.length > 0 && (
        <ul class="ways">
          {ways.slice(0, waysShown).map((l) => (
            <li class={l.kind === "error" ? "bad" : undefined}>
              → {l.to ?? "end"}
              <Labels link={l} />
              {p.edges?.has(l.key) && <span class="quiet"> · taken{timesText(p.edges.get(l.key)!.times)}</span>}
            </li>
          ))}
          {ways.length > waysShown && <li class="quiet">and {ways.length - waysShown} more</li>}
        </ul>
      )}
    </>
  );
}

function Facts(p: { list?: Fact[] }) {
  return (
    <>
      {p.list?.map((f) => (
        <p class="fact">
          <span class="quiet">{f.name}</span> <code>{f.text}</code>
        </p>
      ))}
    </>
  );
}

const timesText = (n: number) => (n > 1 ? ` ${n} times` : "");

function Labels(p: { link: Link }) {
  if (!p.link.label) return null;
  return <span class="quiet">: {p.link.label.split("\n").join(" or ")}</span>;
}

function LineCard(p: { link: Link; mark?: EdgeMark; trail: boolean }) {
  return (
    <>
      <b>
        {p.link.from ?? "start"} → {p.link.to ?? "end"}
      </b>
      {words[p.link.kind] && <span class="quiet"> {words[p.link.kind]}</span>}
      {p.link.label.split("\n").map((line) => line && <p>{line}</p>)}
      {p.trail && <p class="quiet">{p.mark ? `taken${timesText(p.mark.times) || " once"}` : "not taken"}</p>}
      <Facts list={p.mark?.over()} />
    </>
  );
}
