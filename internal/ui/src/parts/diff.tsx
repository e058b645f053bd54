import "./diff.css";

const most = 2000; // lines that are shown

interface FileDiff {
  name: string;
  plus: number;
  minus: number;
  lines: string[];
}

/** A unified diff, file by file. */
export function DiffText(p: { text: string; label: string }) {
  const files = filesOf(p.text);
  let left = most;
  return (
    <div class="diffs" role="group" aria-label={p.label}>
      {files.map((f, i) => {
        const shown = f.lines.slice(0, Math.max(0, left));
        left -= shown.length;
        return (
          <details key={f.name + i} open={i < 20 && shown.length > 0}>
            <summary>
              <code>{f.name}</code>{" "}
              <span class="quiet nowrap">
                <span class="plus">+{f.plus}</span> <span class="minus">−{f.minus}</span>
              </span>
            </summary>
            <pre class="diff" tabIndex={0} role="region" aria-label={`Changes in ${f.name}`}>
              {shown.map((line) => (
                <span class={kindOf(line)}>{line || " "}</span>
              ))}
            </pre>
            {shown.length < f.lines.length && (
              <p class="quiet">
                {f.lines.length - shown.length} more lines: <code>lockstep def diff</code> shows all.
              </p>
            )}
          </details>
        );
      })}
    </div>
  );
}

/** The files of a diff, each with its lines behind the two that name it. */
function filesOf(text: string): FileDiff[] {
  const out: FileDiff[] = [];
  const lines = text.replace(/\n$/, "").split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (line.startsWith("--- ") && lines[i + 1]?.startsWith("+++ ")) {
      const [from, to] = [line.slice(4), lines[++i]!.slice(4)];
      out.push({ name: from === "/dev/null" ? `${to} (new)` : to === "/dev/null" ? `${from} (removed)` : from === to ? to : `${from} → ${to}`, plus: 0, minus: 0, lines: [] });
      continue;
    }
    if (!out.length) out.push({ name: "", plus: 0, minus: 0, lines: [] });
    const file = out[out.length - 1]!;
    file.lines.push(line);
    if (line.startsWith("+")) file.plus++;
    if (line.startsWith("-")) file.minus++;
  }
  return out;
}

function kindOf(line: string): string {
  return line.startsWith("@@") ? "where" : line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : "";
}
