// Where in a document the cursor stands, found from the text alone: while someone types,
// the document is seldom whole.

/** A collection around the cursor, and what is known of it. */
export interface Level {
  /** The key or "[]" under which the next level stands; of the last one, undefined. */
  step?: string;
  /** Scalars that the collection has beside, where it is a mapping. */
  siblings: Record<string, string>;
}

export interface Spot {
  levels: Level[];
  /** What is completed: a key of the last level, or the value of its key. */
  at: "key" | "value";
  /** At a value: its key, or "[]" for the item of a list. */
  key: string;
  /** Where the word begins. */
  from: number;
  /** It stands in JSON or between braces, where keys are separated by commas. */
  flow: boolean;
  quoted: boolean;
}

/** Finds the place of an offset; null where nothing can be completed, as in comments. */
export function spotAt(text: string, offset: number): Spot | null {
  const before = text.slice(0, offset);
  if (/^\s*[{[]/.test(text)) return flowSpot(before, 0, []);
  return blockSpot(text, before);
}

interface Line {
  indent: number; // of the key, behind the dashes
  dashes: number[]; // columns of the dashes before it
  key: string;
  value: string;
}

function parse(line: string): Line | null {
  const m = /^(\s*)((?:-(?:\s+|$))*)(.*)$/.exec(line);
  if (!m || (!m[2] && !m[3]) || m[3]!.startsWith("#")) return null;
  const dashes: number[] = [];
  for (let i = 0; i < m[2]!.length; i++) if (m[2]![i] === "-") dashes.push(m[1]!.length + i);
  const indent = m[1]!.length + m[2]!.length;
  const pair = /^("[^"]*"|'[^']*'|[^\s:#{}[\],][^:#{}[\]]*?)\s*:(?:\s+(.*))?$/.exec(m[3]!);
  return { indent, dashes, key: pair ? unquote(pair[1]!) : "", value: (pair ? (pair[2] ?? "") : m[3]!).trim() };
}

function unquote(word: string): string {
  return /^(["']).*\1$/.test(word) ? word.slice(1, -1) : word;
}

function blockSpot(text: string, before: string): Spot | null {
  const start = before.lastIndexOf("\n") + 1;
  const typed = before.slice(start);
  if (/(^|\s)#/.test(typed)) return null;
  const lines = text.split("\n");
  const number = before.split("\n").length - 1;
  const m = /^(\s*(?:-\s+)*)(.*)$/.exec(typed)!;
  const rest = m[2]!;
  const indent = m[1]!.length;
  const levels = levelsAt(lines, number, indent, typed);
  const last = levels[levels.length - 1]!;
  const pair = /^("[^"]*"|'[^']*'|[^\s:#{}[\],][^:#{}[\]]*?)\s*:(\s+)(.*)$/.exec(rest);
  if (!pair) {
    if (/[{[]/.test(rest[0] ?? "")) {
      levels.pop(); // what the braces hold stands in its place
      return flowSpot(typed, indent, levels, start);
    }
    return { levels, at: "key", key: "", from: start + indent, flow: false, quoted: false };
  }
  const key = unquote(pair[1]!);
  const value = pair[3]!;
  const valueAt = typed.length - value.length;
  if (/^[{[]/.test(value)) {
    last.step = key;
    return flowSpot(typed, valueAt, levels, start);
  }
  const quoted = /^["']/.test(value);
  return { levels, at: "value", key, from: start + valueAt + (quoted ? 1 : 0), flow: false, quoted };
}

/** The mappings and lists around a key that stands at a column of a line. */
function levelsAt(lines: string[], number: number, indent: number, typed: string): Level[] {
  const levels: Level[] = [{ siblings: siblingsOf(lines, number, indent) }];
  let column = indent;
  const up = (line: Line) => {
    for (const dash of [...line.dashes].reverse()) {
      if (dash < column) {
        levels.unshift({ step: "[]", siblings: {} });
        column = dash;
      }
    }
  };
  const own = parse(typed.padEnd(1));
  if (own) up(own);
  // A list may stand at the column of its key: only a dash says that it does.
  for (let i = number - 1; i >= 0; i--) {
    const line = parse(lines[i]!);
    if (!line) continue;
    const isList = levels[0]!.step === "[]";
    if (line.key && (line.indent < column || (isList && line.indent === column && line.dashes.every((d) => d < column) && line.value === ""))) {
      levels.unshift({ step: line.key, siblings: siblingsOf(lines, i, line.indent) });
      column = line.indent;
      up(line);
    } else if (line.dashes.some((d) => d < column) && line.indent === column) {
      up(line);
    }
  }
  return levels;
}

function siblingsOf(lines: string[], number: number, indent: number): Record<string, string> {
  const found: Record<string, string> = {};
  const take = (line: Line) => {
    if (line.key && line.indent === indent) found[line.key] = unquote(line.value.replace(/\s+#.*$/, ""));
  };
  const own = parse(lines[number] ?? "");
  if (own) take(own);
  for (let i = number - 1; i >= 0 && !own?.dashes.length; i--) {
    const line = parse(lines[i]!);
    if (!line) continue;
    if (line.indent < indent) break;
    take(line);
    if (line.indent === indent && line.dashes.length) break;
  }
  for (let i = number + 1; i < lines.length; i++) {
    const line = parse(lines[i]!);
    if (!line) continue;
    if (line.indent < indent || (line.indent === indent && line.dashes.length)) break;
    if (line.dashes.some((d) => d < indent)) break;
    take(line);
  }
  return found;
}

/** Reads JSON, or YAML between braces, up to its end; base is where the text begins. */
function flowSpot(text: string, from: number, outer: Level[], base = 0): Spot | null {
  interface Open {
    map: boolean;
    key: string;
    atValue: boolean;
    level: Level;
  }
  const stack: Open[] = [];
  const top = () => stack[stack.length - 1];
  let word = from;
  let quote = "";
  const end = (i: number) => {
    const open = top();
    const said = unquote(text.slice(word, i).trim());
    if (!open || !said) return;
    if (open.map && open.atValue) open.level.siblings[open.key] = said;
  };
  for (let i = from; i < text.length; i++) {
    const c = text[i]!;
    if (quote) {
      if (c === "\\" && quote === '"') i++;
      else if (c === quote) quote = "";
      continue;
    }
    if ((c === '"' || c === "'") && text.slice(word, i).trim() === "") {
      quote = c;
      word = i;
    } else if (c === "{" || c === "[") {
      const open = top();
      if (open) open.level.step = open.map ? open.key : "[]";
      stack.push({ map: c === "{", key: "", atValue: false, level: { siblings: {} } });
      word = i + 1;
    } else if (c === "}" || c === "]") {
      end(i);
      stack.pop();
      if (top()) delete top()!.level.step;
      word = i + 1;
    } else if (c === ",") {
      end(i);
      const open = top();
      if (open) open.atValue = false;
      word = i + 1;
    } else if (c === ":" && top()?.map && !top()!.atValue) {
      const open = top()!;
      open.key = unquote(text.slice(word, i).trim());
      open.atValue = true;
      word = i + 1;
    }
  }
  const open = top();
  if (!open) return null;
  while (word < text.length && /\s/.test(text[word]!)) word++;
  const quoted = /["']/.test(text[word] ?? "");
  const levels = [...outer, ...stack.map((s) => s.level)];
  const at = open.map && !open.atValue ? "key" : "value";
  return { levels, at, key: open.map ? open.key : "[]", from: base + word + (quoted ? 1 : 0), flow: true, quoted };
}
