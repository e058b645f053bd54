// One instance: start, watch, finish; look at any point; keep it as a test.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, editor, openPage, rewrite, root, shot, startServer, until } from "./harness.mjs";

let server;
before(async () => {
  const pause = `id: pause
version: "1.0"
name: Of the tests
states:
- name: Rest
  type: delay
  start: {kind: default}
  timeDelay: PT6S
  end: {kind: default}
`;
  const endless = `id: endless
version: "1.0"
name: Of the tests
states:
- {name: Ping, type: inject, start: {kind: default}, data: {ping: true}, transition: {nextState: Pong}}
- {name: Pong, type: inject, data: {pong: true}, transition: {nextState: Ping}}
`;
  const map = `id: map
version: "1.0"
name: Of the tests
functions: [{name: score}]
states:
- name: Score
  type: foreach
  start: {kind: default}
  inputCollection: "{{ $.items }}"
  iterationParam: item
  outputCollection: "{{ $.scores }}"
  actions: [{functionRef: {refName: score, parameters: {n: "{{ $.item.n }}"}}}]
  end: {kind: default}
`;
  server = await startServer({
    examples: ["approval.yaml", "onboarding.yaml", "account.yaml", "monitor.yaml", "jobs/kanban.yaml"],
    files: { "pause.yaml": pause, "endless.yaml": endless, "map.yaml": map },
  });
});
after(() => server.stop());

/** Answers the call of a function that waits for it. */
async function answer(id, name, body) {
  const call = await until(`a call of ${name}`, async () => {
    const r = await server.api("GET", `/api/v1/calls?instance=${encodeURIComponent(id)}&parked=true`);
    return r.body.items.find((c) => c.function === name);
  });
  const r = await server.api("POST", `/api/v1/instances/${encodeURIComponent(id)}/calls/${call.ticket}`, body);
  assert.equal(r.status, 200, JSON.stringify(r.body));
}

async function send(event) {
  const r = await server.api("POST", "/api/v1/events", { specversion: "1.0", ...event }, { "Content-Type": "application/cloudevents+json" });
  assert.equal(r.status, 202, JSON.stringify(r.body));
  return r.body;
}

/** Saves what a page shows as a scenario, and runs that. */
async function saveAndTest(t, page, definitions) {
  const dir = mkdtempSync(join(tmpdir(), "lockstep-scenario-"));
  t.after(() => rmSync(dir, { recursive: true }));
  await page.getByRole("button", { name: "More actions" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Save as scenario" }).click()]);
  const file = join(dir, download.suggestedFilename());
  await download.saveAs(file);
  for (const [name, from] of Object.entries(definitions)) cpSync(join(root, "examples", from), join(dir, name));
  try {
    return { text: readFileSync(file, "utf8"), out: execFileSync(binary(), ["test", file], { encoding: "utf8" }) };
  } catch (e) {
    throw new Error(`lockstep test: ${e.stdout}${e.stderr}\n${readFileSync(file, "utf8")}`);
  }
}

test("a foreach shows how far it is and what failed; only that is retried", async (t) => {
  const { id } = await server.begin("map", { items: Array.from({ length: 60 }, (_, n) => ({ n })) });
  const page = await openPage(t, server, "/instances/" + id);
  const items = page.getByRole("region", { name: "Items of Score" });
  await items.getByText("0 of 60 done · 60 in flight").waitFor();
  await page.getByText("60 calls of score that an operator must answer, 0 of 60 done").first().waitFor();
  const open = async () => (await server.api("GET", `/api/v1/calls?instance=${encodeURIComponent(id)}&limit=100`)).body.items;
  const answerOne = async (call, body) => {
    const r = await server.api("POST", `/api/v1/instances/${encodeURIComponent(id)}/calls/${call.ticket}`, body);
    assert.equal(r.status, 200, JSON.stringify(r.body));
  };
  await until("all calls wait", async () => (await open()).filter((c) => c.parked).length === 60);
  for (const call of await open()) {
    await answerOne(call, call.arguments.n === 17 ? { error: { name: "BadItem", code: "422", detail: "no such article" } } : { result: { s: call.arguments.n } });
  }
  await items.getByText("59 of 60 done · 1 failed").waitFor();
  await items.getByRole("row", { name: /^17 \{"n":17\} ✕ failed 1 BadItem \(422\): no such article/ }).waitFor();
  assert.equal(await items.getByRole("row").count(), 2, "the failed one alone is shown at first");
  await items.getByRole("button", { name: "Done 59" }).click();
  await items.getByRole("button", { name: "Next »" }).click();
  await items.getByRole("row", { name: /^59 / }).waitFor();
  assert.equal(await items.getByRole("row").count(), 10, "the second page of 59");
  await items.getByRole("button", { name: "Failed 1" }).click();
  await items.getByRole("button", { name: /^BadItem/ }).click();
  await page.getByRole("region", { name: "Call of score" }).getByText("no such article").waitFor();
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.getByRole("region", { name: "Error", exact: true }).getByText("item 17").waitFor();
  await shot(page, "instance-items");
  await page.getByRole("button", { name: "Retry failed items" }).click();
  const again = await until("the call of the failed item", async () => {
    const list = (await open()).filter((c) => c.parked);
    return list.length > 0 && list;
  });
  assert.deepEqual(again.map((c) => c.arguments), [{ n: 17 }]);
  await answerOne(again[0], { result: { s: 17 } });
  await page.locator("header.instance").getByText("completed").waitFor();
});

test("start, watch, finish; every point can be looked at", async (t) => {
  const { id } = await server.begin("approval", { request: "q-1" });
  const page = await openPage(t, server, "/instances/" + id);
  await page.getByText("Why is it waiting?").waitFor();
  await page.getByRole("button", { name: "Ask, waiting" }).waitFor();
  await page.getByRole("button", { name: "Answer…" }).click();
  const dialog = page.getByRole("dialog", { name: "Answer the call of askManager" });
  await rewrite(editor(page, "Result"), "{not json");
  await dialog.locator(".places li").getByText("1:2").waitFor();
  await dialog.getByRole("button", { name: "Answer", exact: true }).click(); // nothing is sent
  await rewrite(editor(page, "Result"), "{}");
  await shot(page, "instance-answer");
  await dialog.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByRole("button", { name: /^Call askManager: returned/ }).waitFor();
  await send({ id: "other", source: "back-office", type: "request.decided", requestid: "q-2", data: { verdict: "refused" } });
  await send({ id: "e1", source: "back-office", type: "request.decided", requestid: "q-1", data: { verdict: "approved", by: "Grace" } });
  await page.getByRole("button", { name: "Grant, waiting" }).waitFor();
  await answer(id, "grant", { error: { name: "Down", code: "503", detail: "out of order" } });
  await page.getByRole("region", { name: "Error", exact: true }).getByText("Down").waitFor();
  await page.getByRole("button", { name: "Retry", exact: true }).click();
  await answer(id, "grant", { result: {} });
  await page.locator("header.instance").getByText("completed").waitFor();
  await page.getByRole("button", { name: "Grant, done, attempt 2" }).press("Enter");
  const state = page.getByRole("region", { name: "Grant" });
  await state.getByText("✕ Down").waitFor();
  await state.getByText("✓ returned").waitFor();
  await state.getByRole("region", { name: "Output" }).getByText(`"approved"`).waitFor();

  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("button", { name: /Called askManager/ }).click();
  await page.getByRole("region", { name: "The workflow's data then" }).waitFor();
  assert.ok(!(await page.getByRole("region", { name: "The workflow's data then" }).textContent()).includes("verdict"), "it was not known then");
  await shot(page, "instance-finished");
  await page.reload();
  await page.getByRole("region", { name: "The workflow's data then" }).waitFor();
  await state.waitFor();

  await page.getByLabel("Failed only").check();
  await page.getByText("grant failed: Down").waitFor();
  assert.equal(await page.getByRole("button", { name: /Called askManager/ }).count(), 0);

  const { text, out } = await saveAndTest(t, page, { "approval.yaml": "approval.yaml" });
  assert.match(out, /1 passed/, out);
  assert.ok(!text.includes("Down"), "the failure that was retried by hand is left out");
});

test("a failed run, one started by an event, one with a child, and a job are kept as scenarios", async (t) => {
  const failed = (await server.begin("approval", { request: "q-3" })).id;
  await answer(failed, "askManager", { error: { name: "NoManager", code: "404" } });
  await server.reach(failed, "failed");
  const page = await openPage(t, server, "/instances/" + failed);
  assert.match((await saveAndTest(t, page, { "approval.yaml": "approval.yaml" })).text, /error: \{"name":"NoManager","code":"404"\}/);

  const sent = await send({ id: "f1", source: "ward-3", type: "ward.fever", patientid: "p-7", data: { bed: 12, celsius: 39.1 } });
  const monitored = sent.events[0].started[0];
  await answer(monitored, "bringIcePack", { result: {} });
  await until("it to watch", async () => (await server.api("GET", `/api/v1/instances/${monitored}`)).body.state === "Watch");
  await send({ id: "f2", source: "ward-3", type: "ward.settled", patientid: "p-7", data: { celsius: 37.2 } });
  await server.reach(monitored, "completed");
  await page.goto(server.url + "/instances/" + encodeURIComponent(monitored));
  await saveAndTest(t, page, { "monitor.yaml": "monitor.yaml" });

  const parent = (await server.begin("onboarding", { name: "Ada", login: "ada" })).id;
  const child = await until("a child", async () => (await server.api("GET", `/api/v1/instances?q=parent:${parent}`)).body.items[0]?.id);
  await answer(child, "reserveLogin", { result: { account: "a-1" } });
  await answer(child, "createMailbox", { result: { address: "ada@example.com" } });
  await answer(child, "orderBadge", { result: { badge: 77 } });
  await answer(parent, "sendWelcome", { result: {} });
  await server.reach(parent, "completed");
  await page.goto(server.url + "/instances/" + parent);
  await page.getByRole("link", { name: "account" }).waitFor();
  await shot(page, "instance-child");
  await saveAndTest(t, page, { "onboarding.yaml": "onboarding.yaml", "account.yaml": "account.yaml" });

  const job = (await server.api("POST", "/api/v1/jobs", { workflow: "team.board", clients: ["dev-1"] })).body.items[0].id;
  const move = await fetch(`${server.south}/api/wfx/v1/jobs/${job}/status`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ clientId: "dev-1", state: "DOING", progress: 10, message: "on it" }),
  });
  assert.equal(move.status, 200);
  await page.goto(server.url + "/instances/" + job);
  await page.getByText("The device may move it to REVIEW").waitFor();
  assert.equal(await page.getByRole("link", { name: "Board" }).last().getAttribute("href"), "/board/team.board");
  await shot(page, "instance-job");
  await saveAndTest(t, page, { "kanban.yaml": "jobs/kanban.yaml" });
});

test("time in which nothing happened is one line", async (t) => {
  const { id } = await server.begin("pause");
  const page = await openPage(t, server, "/instances/" + id);
  await page.locator("header.instance").getByText("completed").waitFor();
  await page.getByText(/^\d+[sm]( \d+s)? idle$/).waitFor(); // six seconds, and how late the timer was
});

test("pause, resume, cancel, restart", async (t) => {
  const version = (v) => `id: held\nversion: "${v}"\nspecVersion: "0.8"\nstart: Hold\nstates:\n- {name: Hold, type: delay, timeDelay: PT1H, end: true}\n`;
  await server.deploy(version("1.0"));
  const { id } = await server.begin("held", { request: "q-5" });
  await server.deploy(version("2.0"));
  const page = await openPage(t, server, "/instances/" + id);
  const status = (word) => page.locator("header.instance").getByText(word).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await status("paused");
  await page.getByRole("button", { name: "Resume" }).click();
  await status("waiting");
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Keep it running" }).waitFor();
  await page.getByLabel(/Reason/).fill("not needed any more");
  await shot(page, "instance-cancel");
  await page.getByRole("button", { name: "Cancel it" }).click();
  await status("cancelled");
  await page.getByText("not needed any more").waitFor();
  await page.getByRole("button", { name: "Restart…" }).click();
  const versions = page.getByRole("dialog").getByLabel("Version");
  await until("the versions", async () => (await versions.locator("option").allInnerTexts()).join() === "1.0 (of this instance),2.0 (current)");
  assert.equal(await versions.inputValue(), "2.0");
  await rewrite(editor(page, "Input"), `{"request": "q-6"}`);
  await shot(page, "instance-restart");
  await page.getByRole("button", { name: "Start a new one" }).click();
  await page.getByText("Restart of").waitFor();
  assert.ok(!page.url().includes(id));
  assert.equal((await server.api("GET", "/api/v1/instances/" + page.url().split("/").pop())).body.definition.version, "2.0");
  await page.getByRole("region", { name: "Input" }).getByText("q-6").waitFor();
  await page.getByRole("link", { name: id.slice(0, 8) }).click();
  await status("cancelled");
});

test("a long history is shown from both ends, and never said to be without fault", async (t) => {
  const { id } = await server.begin("endless");
  await server.reach(id, "failed");
  const newest = (await server.api("GET", `/api/v1/instances/${id}/history?order=newest&limit=1`)).body.items[0];
  assert.ok(newest.seq > 10_000, "the history is long");
  const page = await openPage(t, server, `/instances/${id}?tab=history&only=failed`);
  const timeline = page.getByRole("region", { name: "History" });
  await timeline.getByText(/^[\d,]+ records: the first 1,000 and the last 3,000 are read$/).waitFor();
  await timeline.getByText("StepLimit").first().waitFor();
  assert.equal(await timeline.getByText("No errors").count(), 0);
  await shot(page, "instance-long");

  // Whatever is looked at, the page stays small.
  await page.getByLabel("Failed only").uncheck();
  const earlier = timeline.getByRole("button", { name: /^Earlier/ });
  const small = async () => {
    const n = await page.locator("*").count();
    assert.ok(n < 6_000, `${n} elements`);
  };
  const started = timeline.getByRole("button", { name: /Started$/ });
  while ((await earlier.count()) > 0) {
    const before = await earlier.allTextContents();
    await earlier.click();
    await until("earlier ones", async () => String(await earlier.allTextContents()) !== String(before));
    await small();
    const more = timeline.getByRole("button", { name: "Load more" });
    if ((await more.count()) > 0 && (await timeline.getByText("the last 3,000 are").count()) > 0) {
      await more.click();
      await timeline.getByText(/and the last 6,000 are read$/).waitFor();
      await small();
    }
  }
  await started.waitFor();
  await timeline.getByRole("button", { name: "To the end" }).click();
  await timeline.getByText("StepLimit").first().waitFor();
  await small();
});
