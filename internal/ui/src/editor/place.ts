// Where things stand in the text of a JSON document.

export interface Place {
  line: number;
  column: number;
}

/** The value that a JSON pointer means, or of what is not there the innermost value around it. */
export function placeOf(text: string, pointer: string): Place | undefined {
  const wanted = pointer
    .split("/")
    .slice(1)
    .map((t) => t.replace(/~1/g, "/").replace(/~0/g, "~"));
  let i = 0;
  let best: number | undefined;
  const blank = () => {
    while (i < text.length && /\s/.test(text[i]!)) i++;
  };
  const string = () => {
    const from = i++;
    while (i < text.length && text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
    i++;
    try {
      return JSON.parse(text.slice(from, i)) as string;
    } catch {
      return text.slice(from + 1, i - 1);
    }
  };
  // Reads one value; depth is how many steps of the pointer lead to it, -1: it is elsewhere.
  const value = (depth: number) => {
    blank();
    const here = i;
    if (depth >= 0) best = here;
    const step = depth >= 0 ? wanted[depth] : undefined;
    const open = text[i];
    if (open === "{" || open === "[") {
      i++;
      for (let n = 0; i < text.length; n++) {
        blank();
        if (text[i] === "}" || text[i] === "]") break;
        let key = String(n);
        if (open === "{") {
          if (text[i] !== '"') return void (i = text.length); // not JSON from here on
          key = string();
          blank();
          i++; // the colon
        }
        value(step !== undefined && key === step ? depth + 1 : -1);
        blank();
        if (text[i] === ",") i++;
        else if (text[i] !== "}" && text[i] !== "]") return void (i = text.length);
      }
      i++;
      return;
    }
    if (open === '"') return void string();
    while (i < text.length && !/[\s,\]}]/.test(text[i]!)) i++;
    if (i === here) i++;
  };
  value(0);
  return best === undefined ? undefined : placeAt(text, best);
}

/** The line and the column of an offset. */
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: before[before.length - 1]!.length + 1 };
}
