// Which keys and values the editor offers at a place, from the real schemas.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createServer } from "vite";
import { root } from "./harness.mjs";

let vite, spotAt, offersAt, hasForm, startValue;
const schema = (name) => JSON.parse(readFileSync(join(root, name, "schema.json"), "utf8"));
const sw05 = schema("internal/dialect/sw05");
const sw08 = schema("internal/dialect/sw08");
const sw10 = schema("internal/dialect/sw10");
const wfx = schema("internal/dialect/wfx");

before(async () => {
  vite = await createServer({ root: join(root, "internal", "ui"), configFile: false, logLevel: "error", server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", optimizeDeps: { noDiscovery: true } });
  ({ spotAt } = await vite.ssrLoadModule("/src/editor/path.ts"));
  ({ hasForm, startValue } = await vite.ssrLoadModule("/src/editor/form-model.ts"));
  ({ offersAt } = await vite.ssrLoadModule("/src/editor/schema.ts"));
});
after(() => vite.close());

/** What is offered where the text has a bar. */
function offered(text, from = sw05) {
  const at = text.indexOf("|");
  const spot = spotAt(text.slice(0, at) + text.slice(at + 1), at);
  return spot ? offersAt(from, spot).map((o) => o.label) : null;
}

const has = (text, wanted, from) => {
  const got = offered(text, from);
  for (const word of wanted) assert.ok(got?.includes(word), `${JSON.stringify(text)} offers ${JSON.stringify(got)}, not ${word}`);
};
const lacks = (text, unwanted, from) => {
  const got = offered(text, from) ?? [];
  for (const word of unwanted) assert.ok(!got.includes(word), `${JSON.stringify(text)} offers ${word}`);
};

test("keys of the document, without those that are there", () => {
  has("id: a\n|\n", ["name", "version", "states", "functions"]);
  lacks("id: a\n|\n", ["id", "timeDelay"]);
  has("|", ["id"]);
});

test("keys of a state depend on its type, above or below", () => {
  has("states:\n- name: A\n  type: delay\n  |", ["timeDelay", "transition"]);
  lacks("states:\n- name: A\n  type: delay\n  |", ["actions", "name", "type"]);
  has("states:\n- name: A\n  |\n  type: operation\n", ["actions", "onErrors"]);
  has("states:\n  - type: operation\n    |", ["name", "actions"]);
  has("states:\n- name: A\n  type: delay\n- name: B\n  type: operation\n  |", ["actions"]);
  lacks("states:\n- name: A\n  type: delay\n- name: B\n  type: operation\n  |", ["timeDelay"]);
  has("states:\n- |\n", ["name", "type"]);
});

test("deeper keys", () => {
  has("states:\n- name: A\n  type: operation\n  actions:\n  - functionRef:\n      |", ["refName", "parameters"]);
  has("states:\n- name: A\n  type: operation\n  actions:\n  - functionRef:\n      refName: f\n    |", ["actionDataFilter"]);
  has("states:\n- name: A\n  type: operation\n  transition:\n    |", ["nextState"]);
  has("functions:\n- name: a\n- |", ["name"]);
});

test("values", () => {
  has("states:\n- name: A\n  type: |", ["delay", "operation", "switch"]);
  has("states:\n- name: A\n  type: de|", ["delay"]);
  has("states:\n- name: A\n  usedForCompensation: |", ["true", "false"]);
  has("states:\n- name: A\n  type: inject\n  start:\n    kind: |", ["default"]);
});

test("between braces", () => {
  has("states:\n- name: A\n  type: inject\n  start: {|", ["kind"]);
  has("states:\n- name: A\n  type: inject\n  start: {kind: |", ["default", "scheduled"]);
  has("states:\n- {name: A, type: delay, |", ["timeDelay"]);
  lacks("states:\n- {name: A, type: delay, |", ["name", "actions"]);
});

test("JSON", () => {
  has('{"id": "a", "|', ["name", "states"]);
  lacks('{"id": "a", "|', ["id"]);
  has('{"states": [{"name": "A", "type": "|', ["delay", "inject"]);
  has('{"states": [{"name": "A", "type": "delay", |', ["timeDelay"]);
  has('{"states": [{"name": "A", "start": {"kind": "default"}, |', ["type"]);
});

test("workflows of jobs", () => {
  has("transitions:\n- from: A\n  |", ["to", "eligible", "action"], wfx);
  has("transitions:\n- from: A\n  eligible: |", ["CLIENT", "WFX"], wfx);
});

test("nothing in comments, and no offence at anything", () => {
  assert.equal(offered("id: a # |"), null);
  for (const odd of ["}|", "]|", "- - - |", "a: 'b|", '{"a|', "\t\t|", "a:\n\n\n      |", "[[[[{|", '{"a":{"b":[|', "? |", "--- |", ": |"]) offered(odd);
});

test("tasks of Open Workflow 1.0, at any depth", () => {
  const kinds = ["call", "do", "for", "fork", "listen", "set", "switch", "try", "wait", "then", "if"];
  has("document:\n  |\n", ["dsl", "namespace", "name", "version"], sw10);
  has("do:\n- a:\n    |\n", kinds, sw10);
  has("do:\n- a:\n    do:\n    - b:\n        |\n", kinds, sw10);
  has("do:\n- a:\n    try:\n    - b:\n        set: {x: 1}\n    catch:\n      |\n", ["errors", "retry", "do", "then"], sw10);
  has("do:\n- a:\n    try: []\n    catch:\n      do:\n      - b:\n          |\n", kinds, sw10);
  has("do:\n- a:\n    listen:\n      |\n", ["to"], sw10);
  has("do:\n- a:\n    listen: {to: {any: []}}\n    foreach:\n      |\n", ["item", "do"], sw10);
  has("do:\n- a:\n    call: http\n    with:\n      |\n", ["method", "endpoint"], sw10);
  has("use:\n  |\n", ["functions", "extensions", "secrets"], sw10);
  has("use:\n  functions:\n    f:\n      |\n", kinds.slice(0, 3), sw10);
  has("use:\n  extensions:\n  - x:\n      |\n", ["extend", "before", "after"], sw10);
  has("schedule:\n  |\n", ["every", "cron", "on"], sw10);
});

test("states, actions and error handlers of Serverless Workflow 0.6 to 0.9", () => {
  has("|\n", ["id", "specVersion", "start", "functions", "errors", "retries", "timeouts", "states"], sw08);
  has("states:\n- name: a\n  type: |\n", ["operation", "switch", "sleep", "event", "parallel", "foreach", "callback", "inject"], sw08);
  has("states:\n- name: a\n  type: operation\n  |\n", ["actions", "onErrors", "transition", "end", "stateDataFilter"], sw08);
  has("states:\n- name: a\n  type: operation\n  actions:\n  - |\n", ["functionRef", "subFlowRef", "eventRef", "retryRef", "condition"], sw08);
  has("states:\n- name: a\n  type: foreach\n  |\n", ["inputCollection", "iterationParam", "mode", "batchSize"], sw08);
  has("functions:\n- name: f\n  type: |\n", ["rest", "http", "graphql", "expression", "custom"], sw08);
  has("retries:\n- |\n", ["name", "delay", "maxAttempts", "increment", "multiplier"], sw08);
});

test("a schema whose parts multiply makes no form, and is found out at once", () => {
  const levels = {};
  for (let i = 0; i < 10; i++) levels["l" + i] = { allOf: Array.from({ length: 50 }, () => ({ $ref: "#/$defs/l" + (i + 1) })) };
  levels.l10 = { type: "object", properties: { a: { type: "string" } } };
  assert.equal(hasForm({ $ref: "#/$defs/l0", $defs: levels }), false);
  const properties = {};
  for (let i = 0; i < 50; i++) properties["p" + i] = { $ref: "#" };
  assert.equal(hasForm({ type: "object", properties }), false);
});

test("a recursive schema makes a form", () => {
  const tree = { type: "object", required: ["name"], properties: { name: { type: "string", default: "root" }, child: { $ref: "#" } } };
  assert.equal(hasForm(tree), true);
  assert.equal(startValue(tree, tree).name, "root");
});
