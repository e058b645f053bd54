import { useState } from "preact/hooks";

const few = 60; // lines that are shown at once

/** A JSON value as text that can be read and copied; never as markup. */
export function Json(p: { value: unknown; label: string }) {
  const [all, setAll] = useState(false);
  if (p.value === undefined) return <p class="quiet">none</p>;
  const text = JSON.stringify(p.value, null, 2);
  const lines = text.split("\n");
  const long = lines.length > few || text.length > 20_000;
  const shown = all || !long ? text : lines.slice(0, few).join("\n").slice(0, 20_000) + "\n…";
  return (
    <div class="json">
      <pre tabIndex={0} role="region" aria-label={p.label}>
        {shown}
      </pre>
      {long && (
        <button type="button" onClick={() => setAll(!all)}>
          {all ? "Show less" : "Show all " + (lines.length > few ? `${lines.length.toLocaleString()} lines` : sizeOf(text))}
        </button>
      )}
    </div>
  );
}

/** How large a text is, in the unit that people know from files. */
function sizeOf(text: string): string {
  const kilobytes = new Blob([text]).size / 1000;
  return kilobytes < 1000 ? `${Math.ceil(kilobytes)} KB` : `${(kilobytes / 1000).toFixed(1)} MB`;
}

/** Reads what someone typed; the error says where it stops being JSON. */
export function parseJson(text: string): { value?: unknown; error?: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (e) {
    const message = (e as Error).message.replace(/^JSON\.parse: /, "");
    return { error: `This is not JSON: ${message}` };
  }
}
