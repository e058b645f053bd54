// Completion from a JSON Schema: which keys and values can stand at a place.
import type { Level, Spot } from "./path";

export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema | boolean>;
  additionalProperties?: Schema | boolean;
  items?: Schema | boolean;
  required?: string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
  definitions?: Record<string, Schema>;
  $defs?: Record<string, Schema>;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  prefixItems?: unknown[];
  patternProperties?: unknown;
}

export interface Offer {
  label: string;
  info: string;
  required: boolean;
  /** What kind of value follows a key. */
  holds: "object" | "array" | "scalar";
}

const deepest = 40; // references that are followed

/** What can be written at a place: keys that are not there yet, or values. */
export function offersAt(root: Schema, spot: Spot): Offer[] {
  let here: Schema[] = [root];
  spot.levels.forEach((level, i) => {
    here = here.flatMap((s) => spread(root, s, level));
    if (i < spot.levels.length - 1 && level.step !== undefined) here = stepInto(here, level.step);
  });
  const last = spot.levels[spot.levels.length - 1]!;
  if (spot.at === "key") return keys(root, here, last);
  return values(root, stepInto(here, spot.key));
}

/** A schema with everything that it consists of, where the siblings say what applies. */
function spread(root: Schema, s: Schema | boolean | undefined, level: Level, depth = 0): Schema[] {
  if (!s || s === true || depth > deepest) return [];
  const out: Schema[] = [s];
  const add = (other?: Schema | boolean) => out.push(...spread(root, other, level, depth + 1));
  if (s.$ref) add(follow(root, s.$ref));
  for (const list of [s.allOf, s.anyOf, s.oneOf]) list?.forEach(add);
  if (s.if) add(holds(s.if, level.siblings) ? s.then : s.else);
  return out;
}

export function follow(root: Schema, ref: string): Schema | undefined {
  if (ref === "#") return root;
  const m = /^#\/(definitions|\$defs)\/([^/]+)$/.exec(ref);
  return m ? root[m[1] as "definitions" | "$defs"]?.[decodeURIComponent(m[2]!).replace(/~1/g, "/").replace(/~0/g, "~")] : undefined;
}

/** Whether what is written fits a condition, as far as conditions on siblings go. */
function holds(condition: Schema, siblings: Record<string, string>): boolean {
  if (condition.required?.some((key) => !(key in siblings))) return false;
  if (condition.not && holds(condition.not, siblings)) return false;
  if (condition.anyOf && !condition.anyOf.some((c) => holds(c, siblings))) return false;
  return Object.entries(condition.properties ?? {}).every(([key, s]) => {
    if (typeof s === "boolean" || !(key in siblings)) return true;
    if (s.const !== undefined) return String(s.const) === siblings[key];
    return s.enum === undefined || s.enum.some((v) => String(v) === siblings[key]);
  });
}

function stepInto(here: Schema[], step: string): Schema[] {
  return here.flatMap((s) => {
    const next = step === "[]" ? s.items : (s.properties?.[step] ?? s.additionalProperties);
    return next && next !== true ? [next] : [];
  });
}

function keys(root: Schema, here: Schema[], level: Level): Offer[] {
  const required = new Set(here.flatMap((s) => s.required ?? []));
  const found = new Map<string, Offer>();
  for (const s of here) {
    for (const [label, of] of Object.entries(s.properties ?? {})) {
      if (of === false || label in level.siblings) continue;
      const whole = spread(root, of, { siblings: {} });
      const info = whole.find((w) => w.description)?.description ?? found.get(label)?.info ?? "";
      found.set(label, { label, info, required: required.has(label), holds: kindOf(whole) });
    }
  }
  return [...found.values()];
}

function kindOf(whole: Schema[]): Offer["holds"] {
  const types = whole.flatMap((w) => w.type ?? []).filter((t) => t !== "null");
  if (types[0] === "array") return "array";
  return types[0] === "object" ? "object" : "scalar";
}

function values(root: Schema, here: Schema[]): Offer[] {
  const found = new Map<string, Offer>();
  for (const s of here.flatMap((s) => spread(root, s, { siblings: {} }))) {
    const said = s.enum ?? (s.const !== undefined ? [s.const] : (s.type === "boolean" || s.type?.includes("boolean")) ? [true, false] : []);
    for (const v of said) {
      if (v === null || typeof v === "object") continue;
      found.set(String(v), { label: String(v), info: s.description ?? "", required: false, holds: "scalar" });
    }
  }
  return [...found.values()];
}
