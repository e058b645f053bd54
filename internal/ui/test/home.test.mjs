import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { openPage, shot, startServer, until } from "./harness.mjs";

let server;
before(async () => (server = await startServer()));
after(() => server.stop());

/** A definition whose instances fail at once, each with one of five causes; an event starts one. */
const due = `document: {dsl: 1.0.3, namespace: default, name: settle-the-invoices-of-all-subsidiaries-before-the-month-ends, version: 1.0.0}
schedule: {on: {one: {with: {type: invoice.due}}}}
do:
- route:
    switch:
${[0, 1, 2, 3].map((n) => `    - c${n}: {when: "\${ .[0].n % 5 == ${n} }", then: cause${n}}`).join("\n")}
    - c4: {then: cause4}
${[0, 1, 2, 3, 4]
  .map((n) => `- cause${n}:\n    raise: {error: {type: "https://shop.example.com/cause${n}", status: 500, title: Cause ${n}, detail: "${"the card was declined, ".repeat(10)}/quantity must be at least ${n}"}}`)
  .join("\n")}
`;

const approval = `document: {dsl: 1.0.3, namespace: default, name: approval, version: 1.0.0}
do:
- ask: {listen: {to: {one: {with: {type: approval.given}}}}}
`;

const rates = `document: {dsl: 1.0.3, namespace: default, name: rates, version: 1.0.0}
schedule: {cron: "0 0 29 2 *"}
do:
- read: {set: {ok: true}}
`;

/** What the readout of the chart says: {Started: 3, …}. */
function readout(page) {
  return page.locator(".readout dl > div").evaluateAll((all) => Object.fromEntries(all.map((d) => [d.querySelector("dt").textContent.trim(), Number(d.querySelector("dd").textContent.replaceAll(",", ""))])));
}

/** Waits until the chart shows numbers. The live stream brings them. */
function shows(page, what) {
  return until(`the chart to show ${JSON.stringify(what)}`, async () => {
    const now = await readout(page);
    return Object.entries(what).every(([name, n]) => now[name] === n);
  });
}

test("first visit explains itself and runs an example", async (t) => {
  const page = await openPage(t, server, "/");
  await page.getByText("Lockstep runs workflows").waitFor();
  await page.getByRole("heading", { name: "Nothing has run yet" }).waitFor();
  await page.getByText("lockstep def apply").waitFor();
  await page.getByText("1 node alive").waitFor();
  await shot(page, "home-first-visit");

  await page.getByRole("button", { name: "Deploy and run an example" }).click();
  await page.getByText("completed").first().waitFor();
  assert.match(new URL(page.url()).pathname, /^\/instances\/./);
  await page.getByText("Hello, Ada").first().waitFor();
  await shot(page, "home-example");

  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.getByRole("link", { name: "1 completed" }).waitFor();
  await page.getByRole("link", { name: "0 failed" }).waitFor();
  await page.getByRole("region", { name: "Recent instances" }).getByRole("link", { name: /^greet/ }).waitFor();
  await shows(page, { Started: 1, Completed: 1, Failed: 0 });
  assert.equal(await page.getByText("Lockstep runs workflows").count(), 0, "the tour is over");
  assert.equal(await page.getByRole("heading", { name: "Failures by cause" }).count(), 0);
  assert.equal(await page.locator(".figures li").count(), 3, "statuses without instances are left out");
  await shot(page, "home");
});

test("home follows what happens, and counts it by the hour", async (t) => {
  for (const text of [due, approval, rates]) await server.deploy(text);
  const page = await openPage(t, server, "/");
  await page.getByRole("heading", { name: "Recent instances" }).waitFor();
  const { id } = await server.begin("approval");
  await server.reach(id, "waiting");
  for (let i = 0; i < 3; i++) await server.begin("greet", { name: "Ada" });
  const sent = await server.api("POST", "/api/v1/events", { specversion: "1.0", id: "first", source: "test", type: "invoice.due", data: { n: 2 } }, { "Content-Type": "application/cloudevents+json" });
  assert.equal(sent.status, 202);

  const failures = page.getByRole("region", { name: "Failures by cause" });
  await failures.getByRole("link", { name: "Cause 2 at cause2" }).waitFor();
  await failures.getByText("/quantity must be at least 2").waitFor();
  await shows(page, { Started: 6, Completed: 4, Failed: 1 });
  await page.getByRole("region", { name: "Durations" }).getByRole("link", { name: "greet" }).waitFor();
  await page.getByRole("region", { name: "Waiting longest" }).getByText("approval.given").waitFor();
  await page.getByRole("region", { name: "Next schedules" }).getByRole("link", { name: "rates" }).waitFor();
  await shot(page, "home-failures");

  // By keyboard the numbers are those of one hour; all hours together are those of the day.
  const slider = page.getByRole("slider", { name: "Hour" });
  await slider.focus();
  await page.keyboard.press("Home");
  assert.match(await slider.getAttribute("aria-valuetext"), /: 0 started, 0 completed, 0 failed$/);
  const total = { Started: 0, Completed: 0, Failed: 0 };
  for (let i = 0; i < 24; i++) {
    if (i > 0) await page.keyboard.press("ArrowRight");
    const now = await readout(page);
    for (const name of Object.keys(total)) total[name] += now[name];
  }
  assert.deepEqual(total, { Started: 6, Completed: 4, Failed: 1 });
  await page.keyboard.press("Escape");
  await shows(page, { Started: 6, Completed: 4, Failed: 1 });

  // What is picked leads to the instances.
  await slider.focus();
  await page.keyboard.press("End");
  for (let i = 0; i < 2 && (await readout(page)).Failed !== 1; i++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.locator(".readout dl > div", { hasText: "Failed" }).getByRole("link", { name: "1" }).click();
  await page.waitForURL(/status%3Afailed\+updated%3A%3E.*updated%3A%3C/);
  await page.locator('main a[href^="/instances/"]').first().waitFor();
  await page.goBack();
  await shows(page, { Started: 6, Completed: 4, Failed: 1 });

  // The same as a table.
  await page.getByText("As a table").click();
  const table = page.getByRole("region", { name: "Activity as a table" });
  await table.waitFor();
  const column = await table.locator("tbody tr").evaluateAll((rows) => rows.map((r) => Number(r.cells[1].textContent)).reduce((a, b) => a + b));
  assert.equal(column, 6);

  // They outlive the server, and a week has them too.
  await server.kill("SIGTERM");
  await server.start();
  await page.getByRole("button", { name: "7 days" }).click();
  await page.waitForURL(/period=week/);
  await page.getByText("Last 7 days", { exact: true }).waitFor();
  await shows(page, { Started: 6, Completed: 4, Failed: 1 });
  await page.reload();
  await shows(page, { Started: 6, Completed: 4, Failed: 1 });
});

test("a server that is not ready, silent nodes, queued calls and other versions are told on Home and on Nodes", async (t) => {
  const page = await openPage(t, server, "/");
  const told = (answer) => page.unroute("**/api/v1/nodes").then(() => page.route("**/api/v1/nodes", (route) => route.fulfill({ json: answer })));
  const node = (name, more) => ({ id: name, name, version: "1.4.0", since: "2026-01-31T08:00:00Z", seen: "2026-01-31T09:00:00Z", shards: 8, of: 16, calls: 2, ...more });
  const health = page.locator(".health");
  const row = (name) => page.getByRole("row", { name });

  await told({ items: [node("north", { shards: 16 })], queuedCalls: 0 });
  await page.reload();
  await health.getByText("● 1 node alive").waitFor();
  await told({ items: [node("north", { shards: 16 })], queuedCalls: 1200, unready: ["the store does not answer"] });
  await page.reload();
  await health.getByText("✕ 1 node alive, this server is not ready").waitFor();
  await health.getByText("1,200 calls queued").waitFor();
  await page.goto(server.url + "/nodes");
  await page.getByText("The server that answers is not ready: the store does not answer.").waitFor();
  await row("north").getByText("not ready").waitFor();
  await page.locator(".figure.concern", { hasText: "Calls queued here" }).getByText("1,200").waitFor();

  await told({ items: [node("north"), node("south", { version: "1.5.0", shards: 2 }), node("west", { seen: "2026-01-31T08:58:00Z", shards: 0, version: "1.3.0", calls: 7 })], queuedCalls: 0 });
  await page.reload();
  await row("west").getByText("silent for 2m").waitFor();
  await page.getByText("1 of 3 are silent").waitFor();
  await page.getByText("2 versions run at the same time: 1.4.0, 1.5.0.").waitFor();
  await page.getByText("6 shards have no node now").waitFor();
  await row("north").getByText("differs").waitFor();
  assert.equal(await row("south").getByText("differs").count(), 0);
  await page.locator(".figure", { hasText: "Calls in flight" }).getByText("4", { exact: true }).waitFor(); // those of the silent one are nobody's
  const aligned = await row("north").locator("td").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign));
  assert.deepEqual(aligned, ["left", "left", "right", "right", "left"], "numbers stand right");
  await accessible(page, "nodes in trouble");
  await page.goto(server.url + "/");
  await health.getByText("✕ 2 nodes alive, 1 silent").waitFor();
  await health.getByText("2 versions").waitFor();
});

test("ten thousand failures of five causes", async (t) => {
  const many = 10_000;
  const batches = Array.from({ length: 10 }, (_, b) =>
    Array.from({ length: many / 10 }, (_, i) => ({ specversion: "1.0", id: `${b}-${i}`, source: "test", type: "invoice.due", data: { n: i } })),
  );
  for (const r of await Promise.all(batches.map((events) => server.api("POST", "/api/v1/events", events, { "Content-Type": "application/cloudevents-batch+json" })))) assert.equal(r.status, 202);
  await until("all to fail", async () => (await server.api("GET", "/api/v1/stats")).body.statuses.failed === many + 1);

  for (const dark of [false, true]) {
    const page = await openPage(t, server, "/", { dark });
    const failures = page.getByRole("region", { name: "Failures by cause" });
    await page.getByRole("link", { name: "10,001 failed" }).waitFor();
    await failures.getByRole("link", { name: "Cause 2 at cause2" }).waitFor();
    assert.equal(await failures.getByRole("listitem").count(), 5);
    assert.equal(await failures.getByText("2,000", { exact: true }).count(), 5); // the newest 10,000 are counted: not the very first
    await failures.getByText("There are more failures; these are the newest.").waitFor();
    await shows(page, { Failed: many + 1 });
    await accessible(page, dark ? "home, dark" : "home");
    await shot(page, dark ? "home-10000-dark" : "home-10000");
    if (dark) {
      await failures.getByRole("link", { name: "Retry 2,000 with Cause 2…" }).click();
      await page.getByText("All 100+ that match").waitFor(); // as far as they are counted
      await page.getByRole("button", { name: "Retry…" }).click();
      await page.getByRole("dialog", { name: "Retry 2,001 instances?" }).waitFor();
    }
  }
});

test("on a phone failures come first, and nothing is too wide", async (t) => {
  const page = await openPage(t, server, "/", { width: 390, height: 844 });
  const top = async (name) => (await page.getByRole("region", { name }).boundingBox()).y;
  await page.getByRole("region", { name: "Failures by cause" }).getByRole("link", { name: "Cause 2 at cause2" }).waitFor();
  await page.getByRole("slider", { name: "Hour" }).waitFor();
  await page.getByRole("region", { name: "Durations" }).waitFor();
  const failed = (await page.getByRole("link", { name: "10,001 failed" }).boundingBox()).y;
  assert.ok(failed < (await top("Failures by cause")));
  assert.ok((await top("Failures by cause")) < (await top("Activity")));
  assert.ok((await top("Activity")) < (await top("Durations")));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  const texts = await page.locator(".home .name, .home .detail").evaluateAll((all) => all.map((e) => ({ text: e.innerText, cut: e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1, inline: getComputedStyle(e).display === "inline" })));
  assert.deepEqual(texts.filter((one) => one.cut && !one.inline).map((one) => one.text), [], "names and details are cut");
  assert.equal(texts.filter((one) => /^the card was declined,.* … .*\/quantity must be at least \d$/.test(one.text)).length, 5, "a long detail keeps its end");
  await accessible(page, "home at 390 px");
  await shot(page, "home-390");
});

test("what has not moved for the longest time comes first, whichever began first", async (t) => {
  const ids = {};
  for (const name of ["began first", "began last"]) {
    ids[name] = (await server.api("POST", "/api/v1/definitions/approval/instances?name=" + encodeURIComponent(name), {})).body.id;
    await server.reach(ids[name], "waiting");
  }
  for (const verb of ["pause", "resume"]) assert.equal((await server.api("POST", `/api/v1/instances/${ids["began first"]}/${verb}`, {})).status, 200);
  const moved = await server.reach(ids["began first"], "waiting");
  const page = await openPage(t, server, "/");
  const rows = page.getByRole("region", { name: "Waiting longest" }).getByRole("listitem");
  await rows.nth(2).waitFor();
  assert.deepEqual((await rows.getByRole("link").allInnerTexts()).slice(-2), ["began last", "began first"]);
  assert.equal(await rows.last().locator("time").getAttribute("datetime"), moved.updated);
});
