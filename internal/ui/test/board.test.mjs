import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPage, shot, startServer, until } from "./harness.mjs";

let server;
before(async () => (server = await startServer({ examples: ["jobs/kanban.yaml"] })));
after(() => server.stop());

const lane = (page, state) => page.locator(`[data-lane="${state}"]`);
const card = (page, state, client) => lane(page, state).getByRole("listitem", { name: new RegExp(`^${client}, `) });

async function job(client, ...states) {
  const r = await server.api("POST", "/api/wfx/v1/jobs", { clientId: client, workflow: "team.board", tags: ["eu"] });
  assert.equal(r.status, 201);
  for (const state of states) await asDevice(r.body.id, { state, progress: 40, message: "half of it" });
  return r.body.id;
}

async function asDevice(id, status) {
  const r = await fetch(`${server.south}/api/wfx/v1/jobs/${id}/status`, { method: "PUT", body: JSON.stringify(status), headers: { "Content-Type": "application/json" } });
  assert.equal(r.status, 200);
}

const stateOf = async (id) => (await server.api("GET", "/api/wfx/v1/jobs/" + id)).body.status.state;

test("a card is dragged where it may go; elsewhere it is refused with the reason", async (t) => {
  const id = await job("drag-1");
  const page = await openPage(t, server, "/board");
  await page.getByRole("link", { name: "team.board" }).click();
  await card(page, "READY", "drag-1").waitFor();
  await lane(page, "DOING").getByText("By devices only").waitFor();
  await shot(page, "board");

  await card(page, "READY", "drag-1").dragTo(lane(page, "DOING"));
  await page.getByRole("alert").getByText("transition from 'READY' to 'DOING' is not allowed for actor 'WFX'").waitFor();
  await shot(page, "board-refused");
  assert.equal(await stateOf(id), "READY");
  await card(page, "READY", "drag-1").dragTo(lane(page, "SHIPPED"));
  await page.getByRole("alert").getByText("transition from 'READY' to 'SHIPPED' does not exist").waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();

  await lane(page, "DROPPED").scrollIntoViewIfNeeded(); // Chromium drops a drag that begins with a scroll
  await card(page, "READY", "drag-1").dragTo(lane(page, "DROPPED"));
  await card(page, "DROPPED", "drag-1").waitFor();
  assert.equal(await stateOf(id), "DROPPED");
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("cards bear the titles of their jobs, are found, and are red where they have failed", async (t) => {
  await server.deploy(`name: rollout
groups: [{name: OPEN, states: [NEW]}, {name: FAILED, states: [BROKEN]}]
states: [{name: NEW}, {name: BROKEN}]
transitions: [{from: NEW, to: BROKEN, eligible: WFX}]
`);
  const definition = { title: "Release 2.5 for line 3" };
  const r = await server.api("POST", "/api/v1/jobs", { workflow: "rollout", clients: ["plc-1", "plc-2"], definition });
  assert.equal(r.body.created, 2);
  const page = await openPage(t, server, "/board/rollout");
  const one = page.getByRole("listitem", { name: "Release 2.5 for line 3, plc-1, in NEW" });
  await one.waitFor();
  await one.getByRole("button", { name: "Move Release 2.5 for line 3" }).click();
  await page.getByRole("menuitem", { name: "BROKEN" }).click();
  const broken = page.getByRole("listitem", { name: "Release 2.5 for line 3, plc-1, failed, in BROKEN" });
  await broken.getByText("failed", { exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Find" }).fill("plc-2");
  await broken.waitFor({ state: "detached" });
  await page.getByText("0 of 1").waitFor();
  await page.getByRole("link", { name: "Look in all jobs" }).click();
  await page.getByRole("row", { name: /plc-2/ }).waitFor();
  await page.goto(server.url + "/instances?q=def:rollout");
  await page.getByRole("row", { name: /plc-1 .*failed/ }).waitFor();

  // Wherever jobs are counted, this one has failed, and leads to itself.
  const views = page.getByRole("navigation", { name: "Views" });
  await views.getByRole("link", { name: "Failed jobs 1" }).waitFor();
  await page.goto(server.url + "/");
  await page.getByRole("link", { name: "1 failed job" }).click();
  await page.getByRole("row", { name: /plc-1 .*failed/ }).waitFor();
  await page.goto(server.url + "/definitions?kind=failed");
  await page.getByRole("row", { name: /^rollout/ }).getByRole("link", { name: "1 failed" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "1 completed" }).count(), 0);
  await page.goto(server.url + "/definitions/rollout");
  await page.getByRole("region", { name: "Instances", exact: true }).getByRole("link", { name: "1 failed" }).waitFor();
  await page.getByRole("button", { name: "BROKEN, 0 now, 1 failed" }).waitFor();
  await page.goto(server.url + "/board");
  await page.getByRole("row", { name: /^rollout/ }).getByRole("link", { name: "1", exact: true }).waitFor();

  // From the board's head a group that is out of sight is one touch away.
  await page.setViewportSize({ width: 700, height: 800 });
  await page.goto(server.url + "/board/rollout");
  await page.getByRole("button", { name: "FAILED 1" }).click();
  await until("the failed job to have the focus", () => broken.evaluate((e) => e === document.activeElement));
});

test("a card is moved by keyboard, and only legal moves are offered", async (t) => {
  const id = await job("keys-1", "DOING", "REVIEW");
  const page = await openPage(t, server, "/board/team.board");
  const mine = card(page, "REVIEW", "keys-1");
  await mine.waitFor();
  assert.match(await mine.innerText(), /40 %[\s\S]*half of it/);
  await mine.focus();
  await page.keyboard.press("m");
  const menu = page.getByRole("menu");
  await menu.waitFor();
  assert.deepEqual(await menu.getByRole("menuitem", { disabled: false }).allInnerTexts(), ["SHIPPED", "DROPPED"]);
  await shot(page, "board-menu");
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "detached" });
  await until("the focus to go back to the card", () => mine.evaluate((e) => e === document.activeElement));
  await page.keyboard.press("m");
  await until("the first move to have the focus", () => menu.getByRole("menuitem").first().evaluate((e) => e === document.activeElement));
  await page.keyboard.press("Enter");
  const moved = card(page, "SHIPPED", "keys-1");
  await moved.waitFor();
  await until("the focus to follow the card", () => moved.evaluate((e) => e === document.activeElement));
  assert.equal(await stateOf(id), "SHIPPED");

  const waiting = await job("keys-2");
  await page.mouse.move(5, 5);
  await page.evaluate(() => document.activeElement.blur());
  await asDevice(waiting, { state: "DOING" });
  await card(page, "DOING", "keys-2").waitFor(); // by itself
  await card(page, "DOING", "keys-2").focus();
  await page.keyboard.press("m");
  await menu.waitFor();
  assert.deepEqual(await menu.getByRole("menuitem").allInnerTexts(), ["REVIEW – only the device may"]);
  assert.equal(await menu.getByRole("menuitem").getAttribute("aria-disabled"), "true");
});

test("nothing moves under the pointer, and who comes second is told", async (t) => {
  const id = await job("late-1");
  const page = await openPage(t, server, "/board/team.board");
  await card(page, "READY", "late-1").hover();
  await asDevice(id, { state: "DOING" });
  await page.locator(".fresh").getByText("changed").waitFor();
  assert.ok(await card(page, "READY", "late-1").isVisible());
  await card(page, "READY", "late-1").getByRole("button", { name: "Move late-1" }).click();
  await page.getByRole("menuitem", { name: "DROPPED" }).click();
  await page.getByText("Someone else was faster: late-1 is in DOING now.").waitFor();
  await page.getByRole("button", { name: "Look again" }).click();
  await card(page, "DOING", "late-1").waitFor();
});
