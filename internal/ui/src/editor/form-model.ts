// What of a JSON Schema a form can show, and how values are changed.
import { follow, type Schema } from "./schema";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** How a part of a value is edited. */
export type Kind = "string" | "number" | "integer" | "boolean" | "choice" | "object" | "array" | "oneOf" | "raw";

export interface Part {
  kind: Kind;
  schema: Schema; // without references
  /** Of a choice: the values that are possible. */
  values?: { value: Json; label: string }[];
  /** Of oneOf: what can be chosen. */
  options?: { label: string; schema: Schema }[];
}

const deepest = 5; // levels of objects and lists that a form shows; recursive schemas have no end
export const longest = 50; // items of a list that a form shows

const mostSteps = 20_000; // parts of a schema that are looked at to decide whether it makes a form
const tooLarge = new Error("the schema is too large for a form");
let left = Infinity; // of them

/** A schema without references and with what allOf adds; undefined: a form cannot show it. */
function flat(root: Schema, s: Schema | boolean | undefined, depth = 0): Schema | undefined {
  if (left-- <= 0) throw tooLarge;
  if (s === undefined || s === true) return {};
  if (s === false || depth > 20) return undefined;
  let out: Schema = s;
  if (s.$ref !== undefined) {
    const target = flat(root, follow(root, s.$ref), depth + 1);
    if (!follow(root, s.$ref) || !target) return undefined;
    out = { ...target, ...s, $ref: undefined };
  }
  for (const more of out.allOf ?? []) {
    const other = flat(root, more, depth + 1);
    if (!other || other.if) return undefined;
    out = { ...other, ...out, properties: { ...other.properties, ...out.properties }, required: [...(other.required ?? []), ...(out.required ?? [])] };
    if (!Object.keys(out.properties!).length) delete out.properties;
  }
  return { ...out, allOf: undefined };
}

/** How a form shows a part of a value. */
export function partOf(root: Schema, of: Schema | boolean | undefined, depth: number): Part {
  const schema = flat(root, of);
  if (!schema) return { kind: "raw", schema: {} };
  if (schema.if || schema.not || schema.patternProperties) return { kind: "raw", schema };
  const values = valuesOf(root, schema);
  if (values) return { kind: "choice", schema, values };
  const list = schema.oneOf ?? schema.anyOf;
  if (list) {
    const options = optionsOf(root, schema, list, depth);
    return options ? { kind: "oneOf", schema, options } : { kind: "raw", schema };
  }
  const types = (Array.isArray(schema.type) ? schema.type : schema.type ? [schema.type] : schema.properties ? ["object"] : []).filter((t) => t !== "null");
  if (types.length !== 1) return { kind: "raw", schema };
  switch (types[0]) {
    case "object":
      return { kind: schema.properties && depth < deepest ? "object" : "raw", schema };
    case "array": {
      const items = depth < deepest && !schema.prefixItems && !Array.isArray(schema.items) ? partOf(root, schema.items, depth + 1) : undefined;
      return { kind: items && schema.items !== undefined && items.kind !== "raw" ? "array" : "raw", schema };
    }
    case "string":
    case "number":
    case "integer":
    case "boolean":
      return { kind: types[0], schema };
  }
  return { kind: "raw", schema };
}

/** The values of an enum, of a const, or of alternatives that are all constants. */
function valuesOf(root: Schema, s: Schema): Part["values"] {
  const label = (v: unknown) => (typeof v === "string" ? v : JSON.stringify(v));
  if (s.enum) return s.enum.map((v) => ({ value: v as Json, label: label(v) }));
  if (s.const !== undefined) return [{ value: s.const as Json, label: label(s.const) }];
  const list = (s.oneOf ?? s.anyOf)?.map((o) => flat(root, o));
  if (!list?.length || !list.every((o) => o && o.const !== undefined)) return undefined;
  return list.map((o) => ({ value: o!.const as Json, label: o!.title ?? label(o!.const) }));
}

function optionsOf(root: Schema, s: Schema, list: Schema[], depth: number): Part["options"] {
  if (list.length > 12 || depth >= deepest) return undefined;
  const options = list.map((o) => flat(root, o));
  if (!options.every((o) => o !== undefined && !o.oneOf && !o.anyOf)) return undefined;
  const whole = options.map((o) => {
    // What stands beside the alternatives holds for each of them.
    const one: Schema = { type: s.type, ...o!, oneOf: undefined, anyOf: undefined };
    if (s.properties || o!.properties) one.properties = { ...s.properties, ...o!.properties };
    if (s.required || o!.required) one.required = [...(s.required ?? []), ...(o!.required ?? [])];
    return one;
  });
  if (whole.some((o) => partOf(root, o, depth + 1).kind === "raw")) return undefined;
  return whole.map((schema, i) => ({ label: labelOf(root, schema, i), schema }));
}

/** What an alternative is called: its title, its constants, or its kind. */
function labelOf(root: Schema, s: Schema, i: number): string {
  if (s.title) return s.title;
  for (const of of Object.values(s.properties ?? {})) {
    const constant = flat(root, of)?.const;
    if (typeof constant === "string") return constant;
  }
  if (s.required?.length && s.properties) return s.required.join(", ");
  return typeof s.type === "string" && s.type !== "object" ? s.type : `alternative ${i + 1}`;
}

/** The alternative that a value looks like. */
export function optionFor(root: Schema, options: NonNullable<Part["options"]>, value: Json | undefined): number {
  const score = (s: Schema): number => {
    const part = partOf(root, s, 0);
    if (value === undefined) return 0;
    if (part.kind === "object") {
      if (!isObject(value)) return -1;
      let points = 0;
      for (const [key, of] of Object.entries(part.schema.properties ?? {})) {
        const constant = flat(root, of)?.const;
        if (constant !== undefined && key in value) points += constant === value[key] ? 100 : -100;
        else if (key in value) points += 2;
      }
      for (const key of part.schema.required ?? []) if (!(key in value)) points -= 3;
      return points;
    }
    const kind = Array.isArray(value) ? "array" : typeof value;
    return kind === part.kind || (kind === "number" && part.kind === "integer") ? 1 : -1;
  };
  const scores = options.map((o) => score(o.schema));
  return scores.indexOf(Math.max(...scores));
}

const decided = new WeakMap<Schema, boolean>();

/** Whether a schema makes a form at all. One whose parts refer to each other can have more of them than there is time for. */
export function hasForm(root: Schema | undefined): root is Schema {
  if (!root) return false;
  let yes = decided.get(root);
  if (yes === undefined) {
    left = mostSteps;
    try {
      const part = partOf(root, root, 0);
      yes = (part.kind === "object" && Object.keys(part.schema.properties!).length > 0) || part.kind === "oneOf";
      if (yes) startValue(root, root);
    } catch (e) {
      if (e !== tooLarge) throw e;
      yes = false;
    } finally {
      left = Infinity;
    }
    decided.set(root, yes);
  }
  return yes;
}

/** The value that a form begins with: defaults, and what is not for anyone to choose. */
export function startValue(root: Schema, of: Schema | boolean | undefined, required = true, depth = 0): Json | undefined {
  const { kind, schema, values, options } = partOf(root, of, depth);
  if (schema.default !== undefined) return schema.default as Json;
  if (kind === "choice" && required && values!.length === 1) return values![0]!.value;
  if (kind === "boolean" && required) return false;
  if (kind === "oneOf" && required) return startValue(root, options![0]!.schema, true, depth + 1);
  if (kind === "array" && required && depth > 0) return [];
  if (kind !== "object") return undefined;
  const out: JsonObject = {};
  for (const [key, s] of Object.entries(schema.properties!)) {
    const v = startValue(root, s, schema.required?.includes(key) ?? false, depth + 1);
    if (v !== undefined) out[key] = v;
  }
  return required || Object.keys(out).length ? out : undefined;
}

export function isObject(v: Json | undefined): v is JsonObject {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** Whether a text comes back from being read and written: large numbers may not. */
export function exact(text: string): boolean {
  for (const n of text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? []) {
    const digits = n.replace(/[eE].*$/, "").replace(/\D/g, "").replace(/^0+/, "");
    if (digits.length > 15 && String(Number(n)) !== n) return false;
  }
  return true;
}

/** The pointer of a member. */
export function below(pointer: string, key: string | number): string {
  return pointer + "/" + String(key).replace(/~/g, "~0").replace(/\//g, "~1");
}

/** The members of an object, the required ones first, in their order; what is edited as JSON last. */
export function membersOf(root: Schema, s: Schema, depth: number): [string, Schema | boolean][] {
  const rank = ([key, of]: [string, Schema | boolean]) => {
    const at = s.required?.indexOf(key) ?? -1;
    if (at >= 0) return at;
    return partOf(root, of, depth + 1).kind === "raw" ? 2000 : 1000;
  };
  return Object.entries(s.properties ?? {}).sort((a, b) => rank(a) - rank(b));
}

export interface Violation {
  pointer: string;
  message: string;
}

const mostViolations = 100;

/**
 * What of a value certainly violates a schema: kinds, required members, limits. Formats, patterns and
 * whatever a form does not know are left to the server.
 */
export function violations(root: Schema, of: Schema | boolean | undefined, value: Json | undefined, pointer = "", depth = 0): Violation[] {
  const part = partOf(root, of, depth);
  const { kind, schema } = part;
  const one = (message: string) => [{ pointer, message }];
  const nullable = Array.isArray(schema.type) && schema.type.includes("null");
  if (value === undefined || (value === null && nullable)) return [];
  switch (kind) {
    case "choice":
      return part.values!.some((v) => JSON.stringify(v.value) === JSON.stringify(value)) ? [] : one("must be one of " + part.values!.slice(0, 8).map((v) => JSON.stringify(v.value)).join(", "));
    case "oneOf": {
      const all = part.options!.map((o) => violations(root, o.schema, value, pointer, depth + 1));
      return all.some((list) => list.length === 0) ? [] : all[optionFor(root, part.options!, value)]!;
    }
    case "boolean":
      return typeof value === "boolean" ? [] : one("must be true or false");
    case "string": {
      if (typeof value !== "string") return one("must be a text");
      const length = [...value].length;
      if (length < (schema.minLength ?? 0)) return one(`must have at least ${schema.minLength} characters`);
      return length > (schema.maxLength ?? Infinity) ? one(`must have at most ${schema.maxLength} characters`) : [];
    }
    case "number":
    case "integer":
      if (typeof value !== "number" || (kind === "integer" && !Number.isInteger(value))) return one(kind === "integer" ? "must be a whole number" : "must be a number");
      if (value < (schema.minimum ?? -Infinity)) return one(`must be at least ${schema.minimum}`);
      return value > (schema.maximum ?? Infinity) ? one(`must be at most ${schema.maximum}`) : [];
    case "array": {
      if (!Array.isArray(value)) return one("must be a list");
      const count = value.length < (schema.minItems ?? 0) ? one(`must have at least ${schema.minItems} item${schema.minItems === 1 ? "" : "s"}`) : value.length > (schema.maxItems ?? Infinity) ? one(`must have at most ${schema.maxItems} items`) : [];
      return [...count, ...value.slice(0, mostViolations).flatMap((v, i) => violations(root, schema.items, v, below(pointer, i), depth + 1))];
    }
    case "object": {
      if (!isObject(value)) return one("must be an object");
      const missing = (schema.required ?? []).filter((key) => !(key in value)).map((key) => ({ pointer: below(pointer, key), message: "is required" }));
      return [...missing, ...Object.entries(schema.properties!).flatMap(([key, s]) => (key in value ? violations(root, s, value[key], below(pointer, key), depth + 1) : []))].slice(0, mostViolations);
    }
  }
  return [];
}
