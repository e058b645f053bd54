// One instance as a tool: what failed, the timeline, calls, values and what differs between them.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { openPage, shot, startServer, until } from "./harness.mjs";

let server, service;
const ids = {};
const held = []; // answers that wait for the test
let solvent = false; // whether there is money

/** A service that fails as it is asked to. */
function shop() {
  let n = 0;
  return createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      const body = text ? JSON.parse(text) : {};
      const answer = (status, value) => {
        response.writeHead(status, { "Content-Type": "application/json", "X-Request-Id": `req-${++n}`, "Set-Cookie": "session=canary" });
        response.end(JSON.stringify(value));
      };
      if (request.url.startsWith("/stock")) return n === 0 ? answer(503, { message: "busy" }) : answer(200, { reserved: true });
      if (request.url.startsWith("/charge")) return solvent ? answer(200, { charged: true }) : answer(402, { error: "CardDeclined", code: "E1", message: "no money. ".repeat(80), decline: { by: "issuer" } });
      if (request.url.startsWith("/score")) return body.n < 950 ? answer(body.n === 17 ? 422 : 200, { message: `scored ${body.n}` }) : held.push(() => answer(200, {}));
      answer(200, {});
    });
  });
}

before(async () => {
  process.env.SHOP_stock = "canary-of-the-stock";
  service = shop();
  await new Promise((done) => service.listen(0, "127.0.0.1", done));
  const at = `http://127.0.0.1:${service.address().port}`;
  const order = `document: {dsl: 1.0.3, namespace: default, name: order, version: 1.0.0}
use: {secrets: [stock]}
do:
- reserve:
    try:
    - stock: {call: http, with: {method: post, endpoint: {uri: "${at}/stock/reserve?token=canary", authentication: {bearer: {token: "\${ $secrets.stock }"}}}, headers: {X-Api-Key: "\${ $secrets.stock }"}, body: {order: "\${ .order }"}}, output: {as: "$input + {stock: .}"}}
    catch: {retry: {delay: {milliseconds: 50}, limit: {attempt: {count: 3}}}}
- charge: {call: http, with: {method: post, endpoint: "${at}/charge/orders", body: {order: "\${ .order }"}}}
`;
  const scores = `id: scores
version: "1.0"
specVersion: "0.8"
name: Scores
start: Score
functions: [{name: score, type: custom, operation: "rest:post:${at}/score"}]
states:
- {name: Score, type: foreach, inputCollection: "\${ .items }", iterationParam: item, outputCollection: "\${ .scores }", mode: parallel, batchSize: 50,
   actions: [{functionRef: {refName: score, arguments: {n: "\${ .item.n }"}}}], end: true}
`;
  const keep = `document: {dsl: 1.0.3, namespace: default, name: keep, version: 1.0.0}
do:
- add: {set: "\${ . + {count: (.rows | length)} }"}
- change: {set: "\${ . + {status: \\"new\\", rows: .rows[:2]} }"}
- nap: {wait: PT1H}
`;
  const laps = `document: {dsl: 1.0.3, namespace: default, name: laps, version: 1.0.0}
do:
- each:
    for: {each: n, in: "[range(500)]"}
    do:
    - add: {set: "\${ {n: \$n} }"}
`;
  server = await startServer({ examples: ["order.yaml"], files: { "laps.yaml": laps, "shop.yaml": order.replace("name: order", "name: shop"), "scores.yaml": scores, "keep.yaml": keep }, args: ["--call-timeout", "10m", "--secrets-env", "SHOP_"] });
  const begin = async (definition, input, name) => (await server.api("POST", `/api/v1/definitions/${definition}/instances?name=${encodeURIComponent(name)}`, input)).body.id;
  ids.failed = await begin("shop", { order: { id: "A-1038", lines: [1, 2, 3] } }, "Order A-1038");
  ids.scores = await begin("scores", { items: Array.from({ length: 1000 }, (_, n) => ({ n })) }, "Scores of November");
  ids.keep = await begin("keep", { rows: Array.from({ length: 12_000 }, (_, n) => ({ sku: `A-${n}`, note: "a line of an order that is kept for later" })), text: "long ".repeat(100), status: "old" }, "A large order");
  ids.laps = await begin("laps", {}, "Laps");
  await server.reach(ids.failed, "failed");
  await server.reach(ids.laps, "completed");
});
after(async () => {
  for (const give of held.splice(0)) give();
  service.closeAllConnections();
  service.close();
  await server.stop();
});

/** Fails if something of the page is wider than the window. */
async function fits(page) {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "the page must not scroll sideways");
}

test("what failed comes first: the answer, where it went, and the next step", async (t) => {
  const page = await openPage(t, server, "/instances/" + ids.failed);
  await page.getByRole("heading", { level: 1, name: "Order A-1038" }).waitFor();
  const error = page.getByRole("region", { name: "Error", exact: true });
  await error.getByText("Answer with status 402").waitFor();
  await error.getByText(/POST http:\/\/127\.0\.0\.1:\d+\/charge\/orders/).waitFor();
  await error.getByRole("region", { name: "Answer of the failed call" }).getByText(`"issuer"`).waitFor();
  await error.getByText("Retry runs charge again").waitFor();
  assert.ok((await error.locator(".detail").innerText()).length < 500, "a long error is cut");
  await error.getByRole("button", { name: "Show all" }).first().click();
  assert.ok((await error.locator(".detail").innerText()).length > 700);

  // The same call with all that is known of it.
  await error.getByRole("button", { name: "the call of charge" }).click();
  const call = page.getByRole("region", { name: "Call of charge" });
  await call.getByText("HTTP 402").waitFor();
  await call.getByText(/^\d headers of the answer$/).click();
  await call.getByRole("row", { name: /^X-Request-Id req-\d+$/ }).waitFor();
  await call.getByRole("row", { name: "Set-Cookie redacted", exact: true }).waitFor();
  assert.ok(!(await call.innerText()).includes("canary"), "a cookie is not kept");
  await call.getByText("Idempotency key").waitFor();
  const calls = page.getByRole("region", { name: "Calls", exact: true });
  await calls.getByRole("button", { name: "stock", exact: true }).last().click();
  const stock = page.getByRole("region", { name: "Call of stock" });
  await stock.getByText("HTTP 200").waitFor();
  assert.match(await stock.locator(".request").first().innerText(), /\/stock\/reserve\s*$/, "the query is left out");
  await stock.getByText(/^after \d/).waitFor(); // the attempt before it, and the delay
  await stock.getByText("3 headers of the request").click();
  const sent = stock.getByRole("table", { name: "Headers of the request" });
  for (const name of ["Content-Type application/json", "Authorization redacted", "X-Api-Key redacted"]) await sent.getByRole("row", { name, exact: true }).waitFor();
  await stock.getByRole("row", { name: /^X-Request-Id req-\d+$/ }).waitFor(); // of a call that succeeded; the list is still open
  assert.ok(!(await stock.innerText()).includes("canary"), "credentials are not kept");
  await calls.getByRole("button", { name: "Failed 2" }).click();
  await calls.getByRole("searchbox", { name: "Search in calls" }).fill("charge");
  assert.equal(await calls.locator(".calls-table").getByRole("row").count(), 2, "a head and a call");
  await shot(page, "instance-calls");
  await page.getByRole("button", { name: "More actions" }).press("Enter");
  await page.getByRole("menuitem", { name: "Skip…" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("menuitem").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "More actions");
});

test("the timeline has bars that can be read, opened and zoomed by keyboard", async (t) => {
  const page = await openPage(t, server, "/instances/" + ids.failed);
  for (const says of ["reserve, done", "reserve/stock, done, attempt 2"]) await page.getByRole("button", { name: says, exact: true }).waitFor(); // not two visits
  const [outer, inner] = await Promise.all(["reserve", "reserve/stock"].map((name) => page.locator(`[data-state="${name}"] > .badge.below`).boundingBox()));
  assert.ok(outer.x + outer.width < inner.x || outer.y > inner.y + inner.height, "the time of a task does not lie over that of the task inside");
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByRole("button", { name: /^Call stock: 503 communication, \d\d:\d\d:\d\d\.\d{3} to / }).waitFor();
  await timeline.getByRole("button", { name: /^back-off before attempt 2: waited/ }).waitFor();
  const second = timeline.getByRole("button", { name: /^Call stock attempt 2: 200/ });
  await second.press("Enter");
  await timeline.getByRole("region", { name: "Details of stock" }).getByText("HTTP 200").waitFor();
  await timeline.getByRole("button", { name: "Fold reserve" }).click();
  await second.waitFor({ state: "detached" });
  await timeline.getByRole("button", { name: "Unfold reserve" }).click();
  const bar = () => timeline.locator(".kind-state > .gantt-track > .gantt-span").first().evaluate((e) => parseFloat(e.style.width));
  const before = await bar();
  await timeline.getByRole("button", { name: /^State reserve/ }).focus();
  await page.keyboard.press("+");
  await until("the bar to be wider", async () => (await bar()) > before);
  await page.keyboard.press("0");
  await until("all of it to be shown", async () => (await bar()) === before);

  // A part of the axis that is drawn over is shown in its place.
  const axis = await timeline.locator(".gantt-axis .gantt-track").boundingBox();
  await page.mouse.move(axis.x + 20, axis.y + 10);
  await page.mouse.down();
  await page.mouse.move(axis.x + axis.width / 2, axis.y + 10, { steps: 4 });
  await page.mouse.up();
  await until("the range to be shown", async () => (await timeline.getByRole("button", { name: "Fit" }).isEnabled()) && (await bar()) !== before);
  await timeline.getByRole("button", { name: "Fit" }).click();
  await timeline.getByLabel("Clock time").check();
  await timeline.locator(".gantt-tick").getByText(/^\d\d:\d\d:\d\d/).first().waitFor();
  await page.waitForURL(/times=clock/);
  await shot(page, "instance-timeline");
});

test("a thousand items are a bar, a table in pages, and one row of the timeline", async (t) => {
  const page = await openPage(t, server, "/instances/" + ids.scores);
  const items = page.getByRole("region", { name: "Items of Score" });
  await items.getByText("949 of 1,000 done · 50 in flight · 1 failed").waitFor();
  await page.getByText("50 calls of score in flight, 949 of 1,000 done, 1 failed").waitFor();
  await items.getByRole("row", { name: /^17 \{"n":17\} ✕ failed 1/ }).waitFor();
  await items.getByRole("button", { name: "In flight 50" }).click();
  await items.getByRole("row", { name: /^950 .* in flight 1/ }).waitFor();
  const group = page.getByRole("region", { name: "Timeline" }).getByRole("button", { name: /^score ×1,000, items 0 to 999: 1 failed · 50 in flight · 949 done/ });
  await group.click();
  await page.getByRole("button", { name: "950 more of score" }).click();
  await page.getByRole("button", { name: "750 more of score" }).waitFor();
  const n = await page.locator("*").count();
  assert.ok(n < 6_000, `${n} elements`);
  await shot(page, "instance-thousand-items");
  for (const give of held.splice(0)) give();
  await items.getByText("999 of 1,000 done · 1 failed").waitFor();
  await page.getByRole("button", { name: "Retry failed items" }).first().waitFor();
});

test("a megabyte of data is a tree that stays small, and differs from another in words", async (t) => {
  const page = await openPage(t, server, "/instances/" + ids.keep);
  const input = page.getByRole("region", { name: "Input", exact: true });
  const tree = input.getByRole("tree");
  await tree.getByRole("treeitem", { name: "rows: […] 12,000 items" }).click();
  await tree.getByRole("treeitem", { name: /^0: / }).waitFor();
  await input.getByRole("button", { name: "11,800 more" }).waitFor({ state: "attached" }).catch(() => {}); // far below
  await input.getByRole("searchbox").fill("A-11999");
  await input.getByText("1 of 1").waitFor();
  await tree.getByText(`"A-11999"`).waitFor();
  const n = await page.locator("*").count();
  assert.ok(n < 3_000, `${n} elements`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await input.getByRole("button", { name: "Copy path $.rows[11999].sku" }).click();
  await until("the path to be in the clipboard", async () => (await copied()) === "$.rows[11999].sku");
  await page.getByRole("button", { name: "Copy the id" }).click();
  await until("the id to be in the clipboard", async () => (await copied()) === ids.keep);
  await input.getByRole("searchbox").fill("long long");
  await tree.getByRole("button", { name: "Show all 500 characters" }).click();
  assert.equal((await input.getByRole("region", { name: "The text at $.text" }).innerText()).trim(), "long ".repeat(100).trim());
  await input.getByRole("searchbox").fill("");
  await tree.getByRole("treeitem").first().focus();
  await page.keyboard.press("Home");
  await until("the first line to have the focus", () => page.evaluate(() => document.activeElement?.getAttribute("data-path") === ""));
  // The large tree is drawn anew as a small one. In the moment in which it is, it has the focus: a key that follows at once is not lost.
  const focus = await page.evaluate(async () => {
    const tree = document.activeElement.closest("[role=tree]");
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
    for (let i = 0; i < 100 && tree.querySelectorAll("[role=treeitem]").length > 1; i++) await null;
    return { lines: tree.querySelectorAll("[role=treeitem]").length, inside: tree.contains(document.activeElement) };
  });
  assert.deepEqual(focus, { lines: 1, inside: true });
  await page.keyboard.press("ArrowRight");
  await tree.getByRole("treeitem", { name: /^rows: / }).waitFor();

  await page.getByRole("link", { name: "Data" }).click();
  const data = page.getByRole("region", { name: "Data", exact: true });
  await data.getByLabel("From").selectOption({ label: /** the first */ await data.getByLabel("From").locator("option").first().innerText() });
  const differences = data.getByRole("region", { name: "Differences" });
  await differences.getByText("count: 12000").waitFor();
  await differences.getByText(`status: "old" → "new"`).waitFor();
  await differences.getByText("2 … 11999").waitFor();
  await data.getByRole("button", { name: "‹ Step back" }).click();
  await shot(page, "instance-data");

  // Between any two points: those of a task inside another, too.
  await page.goto(server.url + "/instances/" + ids.failed + "?tab=data");
  const choose = async (name, label) => {
    const list = data.locator("label", { hasText: new RegExp(`^${name}`) }).locator("select");
    await list.selectOption({ label: await list.locator("option", { hasText: label }).first().innerText() });
  };
  await choose("From", "Before reserve/stock");
  await choose("To", "After reserve/stock");
  await differences.getByText(`stock: {"reserved":true}`).waitFor();
  assert.equal(await data.getByText(/points can be chosen/).count(), 0, "all of them");

  // Of too many, some are left out, and it is told.
  await page.goto(server.url + "/instances/" + ids.laps + "?tab=data");
  await data.getByText(/^400 of 1,0\d\d points can be chosen/).waitFor();
  await choose("To", "Output of the instance");
});

test("at 390 pixels failure and retry come first, and nothing is cut; axe finds nothing in either theme", async (t) => {
  const narrow = await openPage(t, server, "/instances/" + ids.failed, { width: 390 });
  await narrow.getByRole("region", { name: "Error", exact: true }).waitFor();
  const top = async (locator) => (await locator.boundingBox()).y;
  const order = [narrow.getByRole("button", { name: "Retry", exact: true }), narrow.getByRole("region", { name: "Error", exact: true }), narrow.getByRole("region", { name: "Diagram" }), narrow.getByRole("region", { name: "Timeline" })];
  const places = await Promise.all(order.map(top));
  assert.deepEqual(places, places.toSorted((a, b) => a - b));
  for (const tab of ["Calls", "Data", "History", "Timeline"]) {
    await narrow.getByRole("navigation", { name: "Of this instance" }).getByRole("link", { name: tab }).click();
    await narrow.getByRole("region", { name: tab, exact: true }).waitFor();
    await fits(narrow);
  }
  await shot(narrow, "instance-narrow");
  for (const dark of [false, true]) {
    const page = await openPage(t, server, "/instances/" + ids.failed, { dark });
    for (const tab of ["Timeline", "Calls", "Data", "History"]) {
      await page.getByRole("navigation", { name: "Of this instance" }).getByRole("link", { name: tab }).click();
      await page.getByRole("region", { name: tab, exact: true }).waitFor();
      if (tab === "Timeline") await page.getByRole("button", { name: /^Call charge/ }).click();
      await accessible(page, `${tab}, ${dark ? "dark" : "light"}`);
    }
    await page.goto(server.url + "/instances/" + ids.scores);
    await page.getByRole("region", { name: "Items of Score" }).getByRole("row", { name: /^17 / }).waitFor();
    await accessible(page, `a foreach, ${dark ? "dark" : "light"}`);
  }
});

test("on a phone from the list to a failed instance, why it failed, and its retry", async (t) => {
  const page = await openPage(t, server, "/", { width: 390, height: 844 });
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Instances" }).click();
  await page.getByRole("link", { name: /^Failed/ }).click(); // the view
  await page.waitForURL(/status/);
  await fits(page);
  await page.getByRole("link", { name: "Order A-1038" }).click();
  const error = page.getByRole("region", { name: "Error", exact: true });
  await error.getByText("Answer with status 402").waitFor();
  await error.getByText("Retry runs charge again").waitFor();
  await fits(page);
  solvent = true;
  const retry = page.getByRole("button", { name: "Retry", exact: true });
  const box = await retry.boundingBox();
  assert.ok(box.y + box.height <= 844, "it is in sight without scrolling");
  await retry.click();
  await page.getByRole("heading", { level: 1 }).getByText("completed").waitFor();
  await error.waitFor({ state: "detached" });
  await fits(page);
  await page.goBack();
  await page.waitForURL(/status/);
  await page.getByText(/match(es)?$/).waitFor();
  await until("it to be no longer among the failed", async () => (await page.getByRole("link", { name: "Order A-1038" }).count()) === 0);
});
