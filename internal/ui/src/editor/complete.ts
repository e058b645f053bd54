import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { spotAt } from "./path";
import { offersAt, type Schema } from "./schema";

const known = new Map<string, Promise<Schema | null>>();

/** The schema of a kind of documents; null where the server has none, which is no mistake. */
export function schemaOf(name: string): Promise<Schema | null> {
  let loading = known.get(name);
  if (!loading) {
    loading = fetch(`/schemas/${encodeURIComponent(name)}.json`)
      .then((r) => (r.ok ? (r.json() as Promise<Schema>) : null))
      .catch(() => {
        known.delete(name); // the server may be back later
        return null;
      });
    known.set(name, loading);
  }
  return loading;
}

/** Offers keys and values at the cursor. The schema may change while the editor is open. */
export function completeFrom(schema: () => Promise<Schema | null>) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const text = context.state.doc.toString();
    const spot = spotAt(text, context.pos);
    if (!spot) return null;
    const typed = text.slice(spot.from, context.pos);
    if (!context.explicit && typed === "" && spot.at === "key") return null;
    const root = await schema();
    if (!root || context.aborted) return null;
    const json = /^\s*[{[]/.test(text);
    const behind = text.slice(context.pos).match(/^[\w-]*"?\s*:/);
    const options = offersAt(root, spot).map((o): Completion => {
      const word = json && !spot.quoted && (spot.at === "key" || typeof o.label === "string") ? quote(o.label, spot.at === "key") : o.label;
      const colon = spot.at === "key" && !behind && !(json && spot.quoted) ? ":" + (spot.flow || o.holds === "scalar" ? " " : "") : "";
      return {
        label: o.label,
        apply: word + colon,
        type: spot.at === "key" ? "property" : "enum",
        detail: o.required ? "required" : undefined,
        info: o.info || undefined,
        boost: o.required ? 2 : 0,
      };
    });
    return options.length ? { from: spot.from, options, validFor: /^[\w-]*$/ } : null;
  };
}

/** A word as JSON has it: keys and texts in quotes, true, false and numbers without. */
function quote(word: string, isKey: boolean): string {
  return !isKey && /^(true|false|-?\d+(\.\d+)?)$/.test(word) ? word : JSON.stringify(word);
}
