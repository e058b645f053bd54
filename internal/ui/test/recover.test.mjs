import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { editor, newContext, openPage, rewrite, shot, startServer, until, written } from "./harness.mjs";

let server;
before(async () => (server = await startServer({ examples: ["hello.yaml", "jobs/kanban.yaml"] })));
after(() => server.stop());

/** What the page says of its connection. */
const says = (page, text) => page.locator("header .connection").getByText(text, { exact: true }).waitFor();
const lost = "server does not respond";

test("the server is killed and started again: the page recovers by itself, without a gap", async (t) => {
  const made = [];
  const create = async (client) => {
    const r = await server.api("POST", "/api/wfx/v1/jobs", { clientId: client, workflow: "team.board" });
    assert.equal(r.status, 201);
    made.push(client);
  };
  await create("before-1");
  const page = await openPage(t, server, "/board/team.board");
  const cards = page.locator('[data-lane="READY"] [data-card]');
  await until("the first card", async () => (await cards.count()) === 1);
  await says(page, "live");

  // Another page is being written on meanwhile.
  const other = await openPage(t, server, "/definitions/hello?tab=start", { context: page.context() });
  await rewrite(editor(other, "Input"), '{"name": "half wri');

  await server.kill();
  await says(page, lost);
  await says(other, lost);
  await shot(page, "recover-lost");
  assert.equal(await cards.count(), 1, "what was shown stays");
  assert.equal(await written(editor(other, "Input")), '{"name": "half wri');

  await server.start();
  // These come before the page is back: it must catch up with them from its position.
  for (let i = 0; i < 5; i++) await create(`away-${i}`);
  await says(page, "live");
  await says(other, "live");
  for (let i = 0; i < 5; i++) await create(`back-${i}`);
  await until("all cards", async () => (await cards.count()) === made.length);
  const names = await cards.locator("a").allInnerTexts();
  assert.deepEqual([...names].sort(), [...made].sort());
  assert.equal(await written(editor(other, "Input")), '{"name": "half wri');
  await shot(page, "recover-back");
});

test("a list and a timeline that were opened while the server was away fill once it is back", async (t) => {
  const { id } = await server.begin("hello", { name: "Ada" });
  await server.reach(id, "completed");
  const entry = (page) => page.locator(`a.name[href="/instances/${id}"]`);
  const list = await openPage(t, server, "/");
  const one = await openPage(t, server, "/instances", { context: list.context() });
  await entry(one).waitFor();
  for (const page of [list, one]) await says(page, "live");
  await server.kill();
  for (const page of [list, one]) await says(page, lost);
  await list.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Instances" }).click();
  await entry(one).click();
  for (const page of [list, one]) await page.getByRole("alert").getByText("The server does not respond.").first().waitFor();
  await server.start();
  await entry(list).waitFor();
  await one.getByRole("button", { name: /^State Greet: done/ }).waitFor();
  for (const page of [list, one]) await until("no error", async () => (await page.getByRole("alert").count()) === 0);
});

test("eight tabs follow one stream, and go on when the one that reads it is closed", async (t) => {
  const first = await openPage(t, server, "/board/team.board");
  await says(first, "live");
  let streams = 0; // that the others ask for
  first.context().on("request", (r) => (streams += r.url().endsWith("/api/v1/stream") ? 1 : 0));
  const tabs = [first];
  while (tabs.length < 8) tabs.push(await openPage(t, server, "/board/team.board", { context: first.context() }));
  for (const tab of tabs) {
    await says(tab, "live");
    await tab.locator("[data-lane]").first().waitFor();
  }
  assert.equal(streams, 0);
  await first.close();
  const r = await server.api("POST", "/api/wfx/v1/jobs", { clientId: "seen-by-all", workflow: "team.board" });
  assert.equal(r.status, 201);
  for (const tab of tabs.slice(1)) await tab.getByRole("listitem", { name: /^seen-by-all, / }).waitFor();
  await until("one of them to read it", () => streams > 0);
  assert.equal(streams, 1);
});

test("ten thousand changes that come together are few messages and few requests", async (t) => {
  const changes = 10_000;
  const context = await newContext(t);
  await context.addInitScript(() => {
    window.messages = 0;
    window.changes = 0;
    new BroadcastChannel("lockstep-stream").onmessage = ({ data }) => {
      if (data.kind !== "changes") return;
      window.messages++;
      window.changes += data.changes.length;
    };
  });
  const frame = (pos, event, data) => `id: ${pos}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  const change = (n) => frame(1, "change", { instance: `instance-${n}`, definition: "hello", status: "running", time: new Date().toISOString(), records: [] });
  await context.route("**/api/v1/stream", (route) => route.fulfill({ contentType: "text/event-stream", body: frame(1, "ready", {}) + Array.from({ length: changes }, (_, n) => change(n)).join("") }), { times: 1 });
  let lists = 0;
  context.on("request", (r) => (lists += r.url().includes("/api/v1/instances?") ? 1 : 0));
  const page = await openPage(t, server, "/instances", { context });
  await until("all changes", () => page.evaluate((n) => window.changes >= n, changes));
  await says(page, "live"); // the stream goes on
  const messages = await page.evaluate(() => window.messages);
  assert.ok(messages < changes / 10, `${messages} messages between tabs`);
  assert.ok(lists < 50, `the list was read ${lists} times`);
});

test("the nodes are listed with what they hold", async (t) => {
  const page = await openPage(t, server, "/nodes");
  const [node] = (await server.api("GET", "/api/v1/nodes")).body.items;
  await page.getByRole("row", { name: /alive/ }).getByText(`${node.shards} of ${node.of}`).waitFor();
  await page.getByText("Only this server uses the store.").waitFor();
  await page.locator(".figure", { hasText: "Alive" }).getByText("1 of 1").waitFor();
  assert.match(await page.locator(".figure", { hasText: "Store" }).innerText(), /\d (KiB|MiB)/);
  await shot(page, "nodes");
});
