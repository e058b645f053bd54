// Finds a state of a diagram by its name.
import { useId, useState } from "preact/hooks";
import type { Place } from "./diagram-drawing";

const most = 8;
const combobox = { role: "combobox" } as object; // the types know it only with a datalist

export function Find(p: { states: Map<string, Place>; onFind: (name: string) => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const found = text.trim() ? matches([...p.states.keys()], text.trim().toLowerCase()) : [];
  if (p.states.size < 6) return null;
  const take = (name: string | undefined) => {
    if (name === undefined) return;
    setText("");
    p.onFind(name);
  };
  return (
    <div class="find">
      <input
        type="search"
        {...combobox}
        aria-label="Find a state"
        placeholder="Find a state"
        autocomplete="off"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found.length > 0 ? `${list}-${at}` : undefined}
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "Enter") take(found[at]);
          else if (e.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
          else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
          else if (e.key === "Escape" && text) setText("");
          else return;
          e.preventDefault();
          e.stopPropagation();
        }}
        onBlur={() => setText("")}
      />
      <ul role="listbox" id={list} aria-label="States" hidden={found.length === 0}>
        {found.map((name, i) => (
          <li
            key={name}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === at}
            onPointerDown={(e) => {
              e.preventDefault(); // the field keeps the focus until it is taken
              take(name);
            }}
          >
            {name}
          </li>
        ))}
      </ul>
      {text.trim() && found.length === 0 && <span class="quiet">no state</span>}
    </div>
  );
}

/** Names that begin so come first, then those that have it inside. */
function matches(names: string[], text: string): string[] {
  const low = names.map((name) => [name, name.toLowerCase()] as const);
  const first = low.filter(([, l]) => l.startsWith(text));
  const rest = low.filter(([, l]) => !l.startsWith(text) && l.includes(text));
  return [...first, ...rest].slice(0, most).map(([name]) => name);
}
