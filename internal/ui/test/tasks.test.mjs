// Open Workflow 1.0: tasks inside of tasks, on diagrams, in histories and in the playground.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { binary, openPage, shot, startServer, until } from "./harness.mjs";

const loop = `document: {dsl: 1.0.3, namespace: default, name: loop, version: 1.0.0}
do:
- each:
    for: {each: n, in: "[range(1000)]"}
    do:
    - add: {set: "\${ . + {sum: ((.sum // 0) + $n)} }"}
- inner:
    do:
    - add: {set: "\${ . + {a: 1} }"}
    - inner:
        do:
        - add: {set: "\${ . + {b: 1} }"}
        - nap: {wait: PT1H}
`;
const pay = `document: {dsl: 1.0.3, namespace: default, name: pay, version: 1.0.0}
do:
- pay:
    try:
    - charge: {call: charge, with: {card: "\${ .card }"}, output: {as: "$input + {paid: true}"}}
    catch:
      do:
      - release: {call: release, output: {as: "$input + {paid: false}"}}
- both:
    fork:
      branches:
      - one: {call: one, output: {as: "1"}}
      - two: {call: two, output: {as: "2"}}
`;

let server;
before(async () => (server = await startServer({ files: { "loop.yaml": loop, "pay.yaml": pay } })));
after(() => server.stop());

async function answer(id, name, body) {
  const call = await until(`a call of ${name}`, async () => {
    const r = await server.api("GET", `/api/v1/calls?instance=${encodeURIComponent(id)}&parked=true`);
    return r.body.items.find((c) => c.function === name);
  });
  const r = await server.api("POST", `/api/v1/instances/${encodeURIComponent(id)}/calls/${call.ticket}`, body);
  assert.equal(r.status, 200, JSON.stringify(r.body));
}

/** Waits until a task of the diagram says this of itself. */
const task = (page, says) => page.getByRole("button", { name: says, exact: true }).waitFor();

test("tasks of the same name are told apart, and a long loop does not bury the rest", async (t) => {
  const { id } = await server.begin("loop");
  await server.reach(id, "waiting");
  const page = await openPage(t, server, "/instances/" + id);
  await task(page, "each/add, done, ×1000");
  await task(page, "inner/add, done");
  await task(page, "inner/inner/add, done");
  for (const open of ["inner", "inner/inner", "inner/inner/nap"]) await task(page, open + ", waiting");

  await page.getByRole("button", { name: /^add ×1,000/ }).waitFor();
  await page.getByRole("link", { name: "History" }).click();
  const visits = page.locator(".log details");
  await visits.nth(1).waitFor();
  assert.deepEqual(await visits.locator("summary b").allInnerTexts(), ["each", "inner"]);
  await shot(page, "tasks-loop");
  await accessible(page, "tasks inside of tasks");
  await page.getByLabel("Nested tasks").check();
  await visits.filter({ hasText: "inner/inner/nap" }).waitFor();
  await page.getByRole("button", { name: /^Earlier: / }).waitFor();

  // A task inside is chosen by itself, not the one around it.
  await page.getByRole("button", { name: "inner/inner/add, done", exact: true }).click();
  await page.getByRole("region", { name: "inner/inner/add" }).getByRole("region", { name: "Output" }).getByRole("treeitem", { name: "b: 1" }).waitFor();
});

test("the path goes on in the catch, and what failed there is not shown as running", async (t) => {
  const { id } = await server.begin("pay", { card: "c-1" });
  const page = await openPage(t, server, "/instances/" + id);
  await task(page, "pay/charge, waiting");
  await task(page, "pay, waiting");
  await answer(id, "charge", { error: { name: "Refused", status: "402" } });
  await task(page, "pay/catch/release, waiting");
  await task(page, "pay/charge, caught");
  await answer(id, "release", { result: {} });
  await task(page, "both/one, waiting");
  await task(page, "both/two, waiting");
  await task(page, "pay, done");
  await answer(id, "one", { result: {} });
  await task(page, "both/one, done");
  await task(page, "both/two, waiting");
  await answer(id, "two", { result: {} });
  await page.locator("header.instance").getByText("completed").waitFor();

  const dir = mkdtempSync(join(tmpdir(), "lockstep-scenario-"));
  t.after(() => rmSync(dir, { recursive: true }));
  await page.getByRole("button", { name: "More actions" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Save as scenario" }).click()]);
  const file = join(dir, download.suggestedFilename());
  await download.saveAs(file);
  writeFileSync(join(dir, "pay.yaml"), pay);
  let out;
  try {
    out = execFileSync(binary(), ["test", file], { encoding: "utf8" });
  } catch (e) {
    assert.fail(`${e.stdout}${e.stderr}\n${readFileSync(file, "utf8")}`);
  }
  assert.match(out, /1 passed/, out);
});

test("a run of tasks in the playground", async (t) => {
  const page = await openPage(t, server, "/playground?example=pay");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await task(page, "pay/charge, caught, attempt 2");
  await task(page, "pay/catch/release, done");
  await shot(page, "playground-tasks");
  await accessible(page, "a run of tasks");
});

test("mistakes in 1.0 are marked where they are, and keys are completed", async (t) => {
  const page = await openPage(t, server, "/playground?example=empty");
  const text = page.getByRole("textbox", { name: "Definition" });
  await page.getByText("No mistakes.").waitFor();
  await text.click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type("- second:\n");
  await page.keyboard.type("lis");
  await page.locator(".cm-tooltip-autocomplete li").getByText("listen").waitFor();
  await page.keyboard.press("Escape");
  for (let i = 0; i < 3; i++) await page.keyboard.press("Backspace");
  await page.keyboard.type("set: ${ .a + }\nthen: nowhere");
  const places = page.locator(".play-mistakes li");
  await places.filter({ hasText: "nowhere" }).waitFor();
  const lines = (await text.evaluate((e) => e.innerText)).split("\n");
  const line = (part) => "Line " + (lines.findIndex((l) => l.includes(part)) + 1);
  assert.match(await places.filter({ hasText: "nowhere" }).innerText(), new RegExp(line("nowhere")));
  assert.match(await places.filter({ hasText: "malformed expression" }).innerText(), new RegExp(line(".a +")));
  await shot(page, "playground-tasks-mistakes");
});

test("a loop over a thousand items runs in the playground", async (t) => {
  const page = await openPage(t, server, "/playground?definition=loop");
  await page.getByText("No mistakes.").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".play-verdict").getByText("Completed after 1h").waitFor();
  await page.getByRole("region", { name: "Output" }).getByText("499500").waitFor();
});
