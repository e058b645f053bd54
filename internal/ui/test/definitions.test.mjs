import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPage, shot, startServer } from "./harness.mjs";

let server;
before(async () => (server = await startServer({ examples: ["hello.yaml", "retry.yaml", "jobs/kanban.yaml", "v08/order.yaml", "v08/invoices.yaml"] })));
after(() => server.stop());

test("a definition with errors shows them at their lines", async (t) => {
  const page = await openPage(t, server, "/definitions");
  await page.getByRole("link", { name: "Deploy a definition" }).click();
  const text = page.getByLabel("Definition (YAML or JSON)");
  await text.fill("id: broken\nversion: '1.0'\nname: Broken\nstates:\n- name: A\n  type: injct\n  start: {kind: default}\n  end: {kind: default}\n- name: B\n  type: delay\n  timeDelay: PT1S\n  transition: {nextState: C}\n");
  const places = page.locator(".places li");
  await places.filter({ hasText: "injct" }).waitFor();
  assert.match(await places.filter({ hasText: "injct" }).innerText(), /6:\d+[\s\S]*did you mean "inject"/);
  assert.match(await places.filter({ hasText: '"C"' }).innerText(), /12:\d+/);
  await page.locator(".gutter .wrong").nth(1).waitFor();
  assert.deepEqual(await page.locator(".gutter .wrong").allInnerTexts(), ["✕ 6", "✕ 12"]);
  await shot(page, "definition-errors");

  // A remark leads to its place, and pressing Deploy anyway loses nothing.
  await page.getByRole("button", { name: "Go to line 12" }).first().click();
  const line = await text.evaluate((e) => e.value.slice(0, e.selectionStart).split("\n").length);
  assert.equal(line, 12);
  const refused = page.waitForResponse((r) => r.url().endsWith("/api/v1/definitions") && r.request().method() === "POST");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  assert.equal((await refused).status(), 422);
  await places.filter({ hasText: "injct" }).waitFor();
  assert.match(await text.inputValue(), /type: injct/);

  // What was written is there after a reload, and can be repaired and deployed.
  await page.reload();
  assert.match(await text.inputValue(), /type: injct/);
  await text.fill("id: repaired\nversion: '1.0'\nname: Repaired\nstates:\n- name: A\n  type: inject\n  start: {kind: default}\n  data: {a: 1}\n  end: {kind: default}\n");
  await page.getByText("This is correct: repaired version 1.0.").waitFor();
  await text.press("Control+Enter");
  await page.waitForURL("**/definitions/repaired");
  await page.getByRole("button", { name: "A", exact: true }).waitFor();
});

test("start from the definition, with what is wrong in the input at its place", async (t) => {
  const page = await openPage(t, server, "/definitions/hello?tab=start");
  const input = page.getByLabel("Input (a JSON object)");
  await input.fill('{\n  "name": "Ada",\n}');
  await page.locator(".gutter .wrong").waitFor();
  assert.equal(await page.locator(".gutter .wrong").innerText(), "✕ 3");
  await input.fill("[1]");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await input.inputValue(), "[1]");
  await input.fill('{"name": "Ada"}');
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL("**/instances/*");
  const id = page.url().split("/").pop();
  assert.equal((await server.reach(id, "completed")).definition.id, "hello");
});

test("versions, what differs, and where instances are", async (t) => {
  const text = (await server.api("GET", "/api/v1/definitions/hello/source")).body;
  await server.deploy(text.replace('version: "1.0"', 'version: "1.1"').replace("Hello, ", "Good morning, "));
  const page = await openPage(t, server, "/definitions/hello?tab=versions");
  await page.getByLabel("What differs from 1.0 to 1.1").waitFor();
  assert.match(await page.locator(".diff .plus").first().innerText(), /^\+version: "1.1"/);
  assert.match(await page.locator(".diff .minus").first().innerText(), /^-version: "1.0"/);
  await page.getByLabel("From", { exact: true }).selectOption("1.1");
  await page.getByText("The documents are identical.").waitFor();
  await page.waitForURL(/from=1\.1/);
  await shot(page, "definition-versions");

  const heat = await openPage(t, server, "/definitions/retry");
  await heat.getByText("No instance is in any state now").waitFor();
  const { id } = await server.begin("retry", { card: 1 });
  const { state } = await server.reach(id, "waiting");
  await heat.getByRole("button", { name: `${state}, 1 now, 0 failed` }).waitFor(); // by itself
  await heat.getByRole("button", { name: `${state}, 1 now, 0 failed` }).press("Enter");
  await heat.waitForURL("**state=" + state);
  await shot(heat, "definition-heat");
});

test("an event is sent, and it is told what became of it", async (t) => {
  const page = await openPage(t, server, "/events?send=1");
  const form = page.getByRole("form", { name: "Send an event" });
  await form.getByLabel("Type").fill("nobody.wants.this");
  await form.getByLabel("Id").fill("e-1");
  await form.getByLabel("Data (JSON)").fill("{oops");
  await form.locator(".gutter .wrong").waitFor();
  await form.getByLabel("Data (JSON)").fill('{"amount": 3}');
  await form.getByLabel("Attributes").fill("orderid=42");
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText("Accepted. Unmatched: it is kept.").waitFor();
  const row = page.getByRole("row", { name: /nobody\.wants\.this/ });
  await row.getByText("unmatched").first().waitFor();
  assert.match(await row.innerText(), /no instance waits/);
  await form.getByLabel("Id").fill("e-1");
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText("Duplicate").waitFor();
  await shot(page, "events");

  await page.getByRole("search").getByLabel("Type").fill("other");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("No event matches the filter.").waitFor();
  await page.waitForURL(/type=other/);
});

test("definitions of Serverless Workflow 0.8 and 0.9 are listed and drawn like others", async (t) => {
  const page = await openPage(t, server, "/definitions");
  await page.getByRole("row", { name: /order/ }).getByText("Serverless Workflow 0.8").waitFor();
  await page.getByRole("row", { name: /invoices/ }).getByText("Serverless Workflow 0.9").waitFor();
  await page.goto(`${server.url}/definitions/web-order`);
  for (const state of ["Reserve", "Charge", "Ship", "Refund", "Release", "Apologise"]) await page.getByRole("button", { name: new RegExp(`^${state}\\b`) }).waitFor();
  await page.getByText("Serverless Workflow 0.8").waitFor();
});
