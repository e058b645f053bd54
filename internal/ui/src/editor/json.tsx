import { useMemo, useState } from "preact/hooks";
import { jsonRemark, Places, type Remark } from "../parts/source";
import { SchemaForm } from "./form";
import { exact, hasForm, startValue, type Json } from "./form-model";
import { Editor } from "./lazy";
import { placeOf } from "./place";
import type { Schema } from "./schema";

/**
 * JSON to write or to read. With a schema that a form can show there is a form beside the text;
 * both are of the same text, so nothing is lost between them.
 */
export function JsonEditor(p: {
  label: string;
  value: string;
  onChange?: (text: string) => void;
  schema?: Schema;
  readOnly?: boolean;
  /** Nothing at all is right too. */
  optional?: boolean;
  /** What the server refused, by JSON pointer. */
  errors?: Remark[];
  /** Ctrl+Enter. */
  onSubmit?: () => void;
}) {
  const possible = !p.readOnly && hasForm(p.schema);
  const [asText, setAsText] = useState(false);
  const wrong = useMemo(() => (p.readOnly || (p.optional && !p.value.trim()) ? null : jsonRemark(p.value)), [p.value, p.readOnly, p.optional]);
  const remarks = useMemo(
    () => (wrong ? [wrong] : (p.errors ?? []).map((e) => ({ severity: "error", ...e, ...(e.line === undefined && e.pointer !== undefined ? placeOf(p.value, e.pointer) : {}) }))),
    [wrong, p.errors, p.value],
  );
  const empty = !p.value.trim();
  const inexact = possible && !wrong && !empty && !exact(p.value);
  const form = possible && !asText && !wrong && !inexact && !empty;
  const keys = p.onSubmit && { "Mod-Enter": p.onSubmit };
  return (
    <div
      class="json-editor"
      onKeyDown={(e) => {
        if (!form || !p.onSubmit || e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || e.defaultPrevented) return;
        e.preventDefault();
        p.onSubmit();
      }}
    >
      <div class="json-editor-head">
        <span class="json-editor-label">{p.label}</span>
        {possible && (
          <span class="switch" role="group" aria-label={`${p.label}: how it is written`}>
            <button type="button" aria-pressed={form} disabled={!form && (!!wrong || inexact)} onClick={() => setAsText(false)}>
              Form
            </button>
            <button type="button" aria-pressed={!form} onClick={() => setAsText(true)}>
              JSON
            </button>
          </span>
        )}
      </div>
      {form ? (
        <SchemaForm schema={p.schema!} value={JSON.parse(p.value) as Json} errors={p.errors ?? noErrors} label={p.label} onChange={(v) => p.onChange?.(JSON.stringify(v, null, 2))} />
      ) : (
        <>
          <Editor
            label={p.label}
            value={p.value}
            onChange={p.onChange}
            readOnly={p.readOnly}
            json
            remarks={remarks}
            schema={p.schema && (() => Promise.resolve(p.schema!))}
            keys={keys}
          />
          {possible && wrong && <p class="field-help">The form shows it once it is JSON.</p>}
          {inexact && <p class="field-help">A number here has more digits than a form can keep: it is edited as JSON.</p>}
          {!p.readOnly && remarks.length > 0 && <Places remarks={remarks} />}
        </>
      )}
    </div>
  );
}

const noErrors: Remark[] = [];

/** The text that an input begins with: what its schema presets. */
export function startText(schema: Schema | undefined): string {
  return JSON.stringify((hasForm(schema) && startValue(schema, schema)) || {}, null, 2);
}
