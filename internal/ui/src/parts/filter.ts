// The filter grammar, as far as the page changes filters that people wrote: words of
// key:value, quoted where the value has spaces.

/** The words of a filter, each as it was written. */
export function words(q: string): string[] {
  return q.match(/(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g) ?? [];
}

/** The value that a key has in a filter, if it is there once and simple. */
export function valueOf(q: string, key: string): string | undefined {
  const hits = words(q).filter((w) => w.startsWith(key + ":"));
  return hits.length === 1 ? unquote(hits[0]!.slice(key.length + 1)) : undefined;
}

/** The filter with another value for a key, or without it. */
export function withValue(q: string, key: string, value?: string): string {
  const rest = words(q).filter((w) => !w.startsWith(key + ":"));
  return (value === undefined || value === "" ? rest : [...rest, `${key}:${quote(value)}`]).join(" ");
}

/** A value as a filter has it. */
export function quote(value: string): string {
  return /^[^\s",\\]+$/.test(value) ? value : `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

function unquote(text: string): string {
  return text.startsWith('"') ? text.replace(/^"|"$/g, "").replace(/\\(.)/g, "$1") : text;
}

/** The place of the list of instances with a filter. */
export function listOf(q: string): string {
  return q ? "/instances?" + new URLSearchParams({ q }) : "/instances";
}
