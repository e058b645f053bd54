// A form made from a JSON Schema. The value is the only state: what it cannot show is kept.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Remark } from "../parts/source";
import { below, isObject, longest, membersOf, optionFor, partOf, startValue, type Json, type JsonObject, type Part } from "./form-model";
import { Editor } from "./lazy";
import type { Schema } from "./schema";
import "./form.css";

interface FieldProps {
  root: Schema;
  of: Schema | boolean | undefined;
  name: string; // what it is called
  pointer: string;
  depth: number;
  required: boolean;
  value: Json | undefined;
  errors: Remark[];
  onChange: (value: Json | undefined) => void;
  /** Of an item of a list: removes it. */
  remove?: () => void;
}

/** The whole form. Errors of the server stand at the fields that their pointers mean. */
export function SchemaForm(p: { schema: Schema; value: Json | undefined; errors: Remark[]; label: string; onChange: (value: Json) => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (p.errors.length) box.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [p.errors]);
  return (
    <div class="schema-form" role="group" aria-label={p.label} ref={box}>
      <Field root={p.schema} of={p.schema} name="" pointer="" depth={0} required value={p.value} errors={p.errors} onChange={(v) => p.onChange(v ?? {})} />
    </div>
  );
}

function Field(p: FieldProps) {
  const part = partOf(p.root, p.of, p.depth);
  switch (part.kind) {
    case "object":
      return <ObjectField {...p} part={part} />;
    case "array":
      return <ArrayField {...p} part={part} />;
    case "oneOf":
      return <OneOfField {...p} part={part} />;
    case "raw":
      return <RawField {...p} part={part} />;
  }
  return <ScalarField {...p} part={part} />;
}

type Of = FieldProps & { part: Part };

/** What a field of an object is called by people. */
const titleOf = (p: { name: string }, schema: Schema) => schema.title || p.name;

function Errors(p: { id: string; list: Remark[] }) {
  return (
    <div id={p.id}>
      {p.list.map((e) => (
        <p class="field-error">
          <span aria-hidden="true">✕</span> {e.message}
        </p>
      ))}
    </div>
  );
}

function Label(p: { id?: string; text: string; required: boolean; remove?: () => void }) {
  const text = (
    <>
      {p.text}
      {p.required && (
        <span class="needed" title="required">
          {" "}
          *<span class="unseen"> required</span>
        </span>
      )}
    </>
  );
  return p.id ? <label for={p.id}>{text}</label> : <>{text}</>;
}

function Remove(p: { of: string; remove?: () => void }) {
  if (!p.remove) return null;
  return (
    <button type="button" class="small" aria-label={`Remove ${p.of}`} onClick={p.remove}>
      Remove
    </button>
  );
}

/** Errors at a place itself, without those that say which members are missing. */
function own(p: Of, members: string[] = []): Remark[] {
  return p.errors.filter((e) => e.pointer === p.pointer && !members.some((m) => lacks(e, m)));
}

const lacks = (e: Remark, member: string) => e.message.includes(JSON.stringify(member)) && /\b(lack|miss|must have|need)/i.test(e.message);

/** The errors that belong to a member: at it, below it, or that it is not there. */
function errorsOf(p: Of, member: string | number): Remark[] {
  const at = below(p.pointer, member);
  return p.errors.flatMap((e) => {
    if (e.pointer === at || e.pointer?.startsWith(at + "/")) return [e];
    if (e.pointer === p.pointer && typeof member === "string" && lacks(e, member)) return [{ ...e, pointer: at, message: "is required" }];
    return [];
  });
}

function ObjectField(p: Of) {
  const { schema } = p.part;
  const properties = membersOf(p.root, schema, p.depth);
  const value = isObject(p.value) ? p.value : {};
  const id = useId();
  const change = (key: string, v: Json | undefined) => {
    const next: JsonObject = { ...value };
    if (v === undefined) delete next[key];
    else next[key] = v;
    p.onChange(!p.required && Object.keys(next).length === 0 ? undefined : next);
  };
  const wrong = own(p, Object.keys(schema.properties!));
  const others = Object.keys(value).filter((key) => !(key in schema.properties!));
  const inside = (
    <>
      {p.value !== undefined && !isObject(p.value) && <p class="field-error">This is {JSON.stringify(p.value).slice(0, 60)}, not an object; a change here replaces it.</p>}
      <Errors id={id} list={wrong} />
      {properties.map(([key, of]) => (
        <Field
          key={key}
          root={p.root}
          of={of}
          name={key}
          pointer={below(p.pointer, key)}
          depth={p.depth + 1}
          required={schema.required?.includes(key) ?? false}
          value={Object.hasOwn(value, key) ? value[key] : undefined}
          errors={errorsOf(p, key)}
          onChange={(v) => change(key, v)}
        />
      ))}
      {others.length > 0 && (
        <p class="field-help">
          Also: {others.slice(0, 8).map((key, i) => (
            <>
              {i > 0 && ", "}
              <code>{key}</code>
            </>
          ))}
          {others.length > 8 && ` and ${others.length - 8} more`}. The schema does not name {others.length === 1 ? "it" : "them"}: edit {others.length === 1 ? "it" : "them"} as JSON.
        </p>
      )}
    </>
  );
  if (!p.name) return inside;
  return (
    <fieldset>
      <legend>
        <Label text={titleOf(p, schema)} required={p.required} /> <Remove of={titleOf(p, schema)} remove={p.remove} />
      </legend>
      {schema.description && <p class="field-help">{schema.description}</p>}
      {inside}
    </fieldset>
  );
}

function ArrayField(p: Of) {
  const { schema } = p.part;
  const id = useId();
  if (p.value !== undefined && (!Array.isArray(p.value) || p.value.length > longest)) return <RawField {...p} part={{ kind: "raw", schema }} />;
  const items = (p.value as Json[] | undefined) ?? [];
  const title = titleOf(p, schema);
  const set = (next: Json[]) => p.onChange(next.length === 0 && !p.required ? undefined : next);
  const item = partOf(p.root, schema.items, p.depth + 1);
  const empty = (): Json => startValue(p.root, schema.items, true, p.depth + 1) ?? (item.kind === "choice" ? item.values![0]!.value : item.kind === "string" ? "" : item.kind === "boolean" ? false : null);
  return (
    <fieldset>
      <legend>
        <Label text={title} required={p.required} /> <Remove of={title} remove={p.remove} />
      </legend>
      {schema.description && <p class="field-help">{schema.description}</p>}
      <Errors id={id} list={own(p)} />
      {items.map((v, i) => (
        <Field
          key={i}
          root={p.root}
          of={schema.items}
          name={`${title} ${i + 1}`}
          pointer={below(p.pointer, i)}
          depth={p.depth + 1}
          required
          value={v}
          errors={errorsOf(p, i)}
          onChange={(next) => set(items.map((old, j) => (j === i ? (next ?? (item.kind === "string" ? "" : null)) : old)))}
          remove={() => set(items.filter((_, j) => j !== i))}
        />
      ))}
      <button type="button" class="small" disabled={items.length >= (schema.maxItems ?? longest)} onClick={() => set([...items, empty()])}>
        Add to {title}
      </button>
    </fieldset>
  );
}

function OneOfField(p: Of) {
  const options = p.part.options!;
  const id = useId();
  const [chosen, choose] = useState(() => (p.value === undefined && !p.required ? -1 : optionFor(p.root, options, p.value)));
  const title = titleOf(p, p.part.schema) || "Kind";
  const pick = (i: number) => {
    choose(i);
    p.onChange(i < 0 ? undefined : keep(p, options[i]!.schema));
  };
  return (
    <fieldset>
      {p.name && (
        <legend>
          <Label text={title} required={p.required} /> <Remove of={title} remove={p.remove} />
        </legend>
      )}
      {p.part.schema.description && <p class="field-help">{p.part.schema.description}</p>}
      <label for={id}>{p.name ? `Kind of ${title}` : title}</label>
      <select id={id} value={String(chosen)} onChange={(e) => pick(Number(e.currentTarget.value))}>
        {!p.required && <option value="-1">not set</option>}
        {options.map((o, i) => (
          <option value={String(i)}>{o.label}</option>
        ))}
      </select>
      {chosen >= 0 && <Field {...p} key={chosen} of={options[chosen]!.schema} name={p.name && partOf(p.root, options[chosen]!.schema, p.depth).kind === "object" ? "" : title} depth={p.depth + 1} required remove={undefined} />}
    </fieldset>
  );
}

/** What another alternative begins with: members of the same name stay. */
function keep(p: Of, next: Schema): Json | undefined {
  const start = startValue(p.root, next, true, p.depth + 1);
  if (!isObject(start) || !isObject(p.value)) return start;
  const out = { ...start };
  for (const [key, of] of Object.entries(next.properties ?? {})) {
    const part = partOf(p.root, of, p.depth);
    if (key in p.value && part.kind !== "choice") out[key] = p.value[key]!;
  }
  return out;
}

/** A part that no field fits: as JSON. What is not JSON counts as a text. */
function RawField(p: Of) {
  const show = (v: Json | undefined) => (v === undefined ? "" : JSON.stringify(v, null, 2));
  const [text, setText] = useState(() => show(p.value));
  const last = useRef(p.value);
  const id = useId();
  useEffect(() => {
    if (JSON.stringify(last.current) === JSON.stringify(p.value)) return;
    last.current = p.value; // it was changed elsewhere
    setText(show(p.value));
  }, [p.value]);
  const [asText, setAsText] = useState(false);
  const title = titleOf(p, p.part.schema) || "Value";
  return (
    <div class="field">
      <div class="field-head">
        <span class="field-label">
          <Label text={title} required={p.required} />
        </span>
        <Remove of={title} remove={p.remove} />
      </div>
      {p.part.schema.description && <p class="field-help">{p.part.schema.description}</p>}
      <Editor
        label={`${title} (JSON)`}
        value={text}
        json
        onChange={(next) => {
          setText(next);
          let v: Json | undefined;
          let readable = true;
          try {
            v = next.trim() ? (JSON.parse(next) as Json) : undefined;
          } catch {
            v = next;
            readable = false;
          }
          setAsText(!readable);
          last.current = v;
          p.onChange(v);
        }}
      />
      {asText && <p class="field-help">This is not JSON yet, and counts as a text.</p>}
      <Errors id={id} list={p.errors} />
    </div>
  );
}

function ScalarField(p: Of) {
  const { schema, kind } = p.part;
  const id = useId();
  const title = titleOf(p, schema) || "Value";
  const described = `${id}-help ${id}-errors`;
  const common = { id, "aria-describedby": described, "aria-invalid": p.errors.length > 0, "aria-required": p.required };
  const checkbox = kind === "boolean" && (p.required || schema.default !== undefined) && (p.value === undefined || typeof p.value === "boolean");
  const input = checkbox ? (
    <span>
      <input {...common} aria-required={undefined} type="checkbox" checked={p.value === true} onChange={(e) => p.onChange(e.currentTarget.checked)} />
    </span>
  ) : kind === "choice" || kind === "boolean" ? (
    <Choice {...p} common={common} />
  ) : (
    <Text {...p} common={common} />
  );
  return (
    <div class={checkbox ? "field check" : "field"}>
      <div class="field-head">
        <span class="field-label">
          <Label id={id} text={title} required={p.required} />
        </span>
        <Remove of={title} remove={p.remove} />
      </div>
      {input}
      <div id={`${id}-help`}>{helpOf(schema) && <p class="field-help">{helpOf(schema)}</p>}</div>
      <Errors id={`${id}-errors`} list={p.errors} />
    </div>
  );
}

function helpOf(s: Schema): string {
  const range = s.minimum !== undefined && s.maximum !== undefined ? `From ${s.minimum} to ${s.maximum}.` : s.minimum !== undefined ? `At least ${s.minimum}.` : s.maximum !== undefined ? `At most ${s.maximum}.` : "";
  const about = s.format === "date-time" ? "In UTC." : "";
  return [s.description, range, about].filter(Boolean).join(" ");
}

function Choice(p: Of & { common: object }) {
  const values = p.part.values ?? [true, false].map((value) => ({ value: value as Json, label: value ? "yes" : "no" }));
  const at = values.findIndex((v) => JSON.stringify(v.value) === JSON.stringify(p.value));
  const other = at < 0 && p.value !== undefined;
  return (
    <select {...p.common} value={other ? "other" : String(at)} onChange={(e) => p.onChange(values[Number(e.currentTarget.value)]?.value)}>
      {(!p.required || at < 0) && <option value="-1">not set</option>}
      {other && <option value="other">{JSON.stringify(p.value)}</option>}
      {values.map((v, i) => (
        <option value={String(i)}>{v.label}</option>
      ))}
    </select>
  );
}

const places: Record<string, string> = { time: "09:30:00Z", duration: "PT1H", uuid: "123e4567-e89b-12d3-a456-426614174000", uri: "https://…", email: "ada@example.com" };
const modes: Record<string, "email" | "url"> = { email: "email", uri: "url", url: "url" };
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/;

function Text(p: Of & { common: object }) {
  const { schema, kind } = p.part;
  const shown = p.value === undefined || p.value === null ? "" : typeof p.value === "string" ? p.value : JSON.stringify(p.value);
  // A number that is half written is not one yet: it stays as it was typed.
  const [typed, setTyped] = useState<{ text: string; value: Json | undefined }>();
  const text = typed && typed.value === p.value ? typed.text : shown;
  const example = schema.examples?.[0];
  const hint = example !== undefined ? String(typeof example === "object" ? JSON.stringify(example) : example) : (places[schema.format ?? ""] ?? "");
  const write = (next: string) => {
    const value = kind === "string" ? (next === "" && !p.remove ? undefined : next) : numberOf(next);
    setTyped({ text: next, value });
    p.onChange(value);
  };
  if (kind !== "string") return <input {...p.common} inputMode={kind === "integer" ? "numeric" : "decimal"} autocomplete="off" value={text} placeholder={hint} onInput={(e) => write(e.currentTarget.value)} />;
  if (schema.format === "date-time" && (text === "" || instant.test(text))) {
    return (
      <input
        {...p.common}
        type="datetime-local"
        step="1"
        value={text.replace(/Z$/, "")}
        onInput={(e) => write(e.currentTarget.value && e.currentTarget.value.replace(/^(.*T\d\d:\d\d)$/, "$1:00") + "Z")}
      />
    );
  }
  if (text.includes("\n") || (schema.maxLength ?? 0) > 300) return <textarea {...p.common} rows={4} value={text} onInput={(e) => write(e.currentTarget.value)} />;
  const date = schema.format === "date" && (text === "" || /^\d{4}-\d\d-\d\d$/.test(text));
  if (date) return <input {...p.common} type="date" value={text} onInput={(e) => write(e.currentTarget.value)} />;
  return <input {...p.common} inputMode={modes[schema.format ?? ""]} autocomplete="off" value={text} placeholder={hint} onInput={(e) => write(e.currentTarget.value)} />;
}

/** The number that a text is; one that is none, or has more digits than a number keeps, stays a text, which the server refuses. */
function numberOf(text: string): Json | undefined {
  if (text.trim() === "") return undefined;
  const n = Number(text);
  const digits = text.replace(/[eE].*$/, "").replace(/\D/g, "").replace(/^0+/, "");
  return Number.isFinite(n) && /^\s*[+-]?[\d.]/.test(text) && !/^\s*0x/i.test(text) && (digits.length <= 15 || String(n) === text.trim()) ? n : text;
}
