// Why nothing took an event, in words: the server tells it for each instance that waits; ten
// instances that differ in the same attribute are said in one sentence.
import { shortId } from "../parts/name";

/** What kept an event from an instance that waits, or from a definition that starts with one. */
export interface Miss {
  why: string; // the sentence
  instance?: string;
  definition?: string;
  name: string; // of the event that it waits for
  differs: string;
  attribute?: string;
  has?: string;
  wants?: string;
}

const shown = 3;

/** The reasons; brief: one line, which also says for which instance an event is kept. */
export function Reasons(p: { of: { why?: string[]; misses?: Miss[]; for?: string[] }; brief?: boolean }) {
  const groups = new Map<string, Miss[]>();
  const told = new Set<string>();
  for (const miss of p.of.misses ?? []) {
    if (!miss.instance) continue;
    told.add(miss.why);
    const key = `${miss.name}\n${miss.attribute ?? miss.differs}`;
    groups.set(key, [...(groups.get(key) ?? []), miss]);
  }
  const others = (p.of.why ?? []).filter((why) => !told.has(why));
  const list = [...groups.values()];
  return (
    <ul class="reasons">
      {list.slice(0, p.brief ? 1 : 10).map((g) => (
        <li key={g[0]!.why}>
          <Group misses={g} />
        </li>
      ))}
      {others.slice(0, p.brief ? Number(list.length === 0) : 10).map((text) => (
        <li key={text}>{text}</li>
      ))}
      {p.brief && list.length + others.length === 0 && p.of.for?.[0] && (
        <li>
          kept for <a href={"/instances/" + encodeURIComponent(p.of.for[0])}>{shortId(p.of.for[0])}</a>
        </li>
      )}
    </ul>
  );
}

function Group(p: { misses: Miss[] }) {
  const { misses } = p;
  const { name, attribute, has = "", differs } = misses[0]!;
  const n = misses.length;
  const wants = [...new Set(misses.map((m) => m.wants ?? ""))];
  const links = misses.slice(0, shown).map((m, i) => (
    <span key={m.instance}>
      {i > 0 && ", "}
      <a href={"/instances/" + encodeURIComponent(m.instance!)}>{m.wants || shortId(m.instance!)}</a>
    </span>
  ));
  if (!attribute) {
    return (
      <>
        {n === 1 ? "An instance waits" : `${n} instances wait`} for {name}: {differs} ({links}
        {n > shown && ` and ${n - shown} more`}).
      </>
    );
  }
  return (
    <>
      {n === 1 ? "An instance waits" : `${n} instances wait`} for {name} with another <code>{attribute}</code>: this event has <b>{has}</b>, {n === 1 ? "it wants " : "they want "}
      {wants.length === 1 && n > 1 ? <b>{wants[0]}</b> : links}
      {wants.length > 1 && n > shown && ` and ${n - shown} others`}.
    </>
  );
}
