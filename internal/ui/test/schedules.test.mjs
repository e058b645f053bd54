import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { openPage, shot, startServer, until } from "./harness.mjs";

let server;
before(async () => (server = await startServer({ examples: ["hello.yaml"] })));
after(() => server.stop());

// Next year's first minute: no fire time comes while the tests run.
const yearly = (name) => `document: {dsl: "1.0.3", namespace: default, name: ${name}, version: "1.0.0"}
schedule: {cron: 0 0 1 1 *}
do:
- greet: {set: {greeting: hello}}
`;

/** Gives the reason in the dialog that is open, and confirms. */
async function confirm(page, action, reason) {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason (optional)").fill(reason);
  await dialog.getByRole("button", { name: action }).click();
  await dialog.waitFor({ state: "detached" });
}

test("schedules are listed, paused, resumed and triggered", async (t) => {
  const page = await openPage(t, server, "/");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Schedules" }).click();
  await page.getByText("No definition here has one yet").waitFor();
  await accessible(page, "no schedules");

  await server.deploy(yearly("new-year"));
  const row = page.getByRole("row", { name: /new-year/ });
  await row.getByText("0 0 1 1 *").waitFor(); // by itself
  await row.getByText("active").waitFor();
  assert.equal(await row.getByText("none yet").evaluate((e) => e.getClientRects().length), 1, "lines of “none yet”");
  const [next] = (await server.api("GET", "/api/v1/schedules")).body.items[0].next;
  assert.equal(await row.locator("time").getAttribute("datetime"), next);
  assert.match(await row.innerText(), /in \d+[dhms][\s\S]*(1 Jan|31 Dec) \d{4}/);

  await row.getByRole("button", { name: "Pause…" }).click();
  await accessible(page, "pause a schedule");
  await confirm(page, "Pause it", "month end");
  await row.getByText("month end").waitFor();
  await row.locator(".status.paused").waitFor();
  assert.equal((await server.api("GET", "/api/v1/schedules/new-year")).body.paused.reason, "month end");
  await accessible(page, "schedules");
  await shot(page, "schedules");

  await row.getByRole("button", { name: "Resume" }).click();
  await row.getByText("active").waitFor();
  await row.getByRole("button", { name: "Trigger…" }).click();
  await confirm(page, "Start one now", "");
  await row.getByRole("link", { name: "triggered" }).waitFor();
  await row.getByText("completed").waitFor(); // by itself
  const { instance } = (await server.api("GET", "/api/v1/schedules/new-year")).body.fires[0];
  await row.getByRole("status").getByRole("link", { name: instance }).waitFor();
  await row.getByRole("link", { name: "triggered" }).click();
  await page.waitForURL((url) => decodeURIComponent(url.pathname) === "/instances/" + instance);
});

test("the past of a schedule is made up for after it was counted, and its rules are changed", async (t) => {
  await server.deploy(yearly("daily").replace("0 0 1 1 *", "0 12 * * *"));
  const page = await openPage(t, server, "/schedules", { width: 390 });
  const row = page.getByRole("row", { name: /daily/ });
  await row.getByText("Runs may overlap, catches up on the latest missed run").waitFor();
  const choose = async (what) => {
    await row.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: what }).click();
  };
  await choose("Backfill…");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("From").fill("2026-03-01T00:00");
  await dialog.getByLabel("To (exclusive)").fill("2026-03-08T00:00");
  await dialog.getByRole("button", { name: "Count the fire times" }).click();
  await dialog.getByText("7 fire times start an instance").waitFor();
  await accessible(page, "backfill");
  await shot(page, "backfill 390");
  await dialog.getByRole("button", { name: "Start 7" }).click();
  await dialog.getByText("7 started").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  assert.equal((await server.api("GET", "/api/v1/instances/count?q=def:daily")).body.count, 7);

  await choose("Rules…");
  await dialog.getByLabel("If an instance is still running at a fire time").selectOption("skip");
  await dialog.getByLabel("How many").fill("6");
  await accessible(page, "rules of a schedule");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("Skips while one is running, catches up on the latest missed run of the last 6 hours").waitFor();
  assert.deepEqual((await server.api("GET", "/api/v1/schedules/daily")).body.set, { overlap: "skip", catchUpWindow: "PT6H" });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(over, 0, "the page does not scroll sideways");
});

test("a paused definition starts nothing, and its page says so", async (t) => {
  await server.deploy(yearly("held"));
  const page = await openPage(t, server, "/definitions/held");
  const actions = page.getByRole("group", { name: "Actions on the definition" });
  await until("the next ten fire times", async () => (await page.locator("ol.fires li").count()) === 10);
  await actions.getByRole("button", { name: "Pause…" }).click();
  await confirm(page, "Pause it", "the bank is closed");
  await page.locator(".told").getByText("the bank is closed").waitFor();
  await page.getByText("definition paused").waitFor();
  await accessible(page, "a paused definition");
  await shot(page, "definition-paused");

  await page.getByTitle("The definition is paused").waitFor();
  assert.ok(await page.getByRole("button", { name: "Start", exact: true }).isDisabled());

  await actions.getByRole("button", { name: "Resume" }).click();
  await page.locator(".told").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL("**/instances/*");
});

test("a definition is retired and taken back", async (t) => {
  const page = await openPage(t, server, "/definitions/hello");
  const actions = page.getByRole("group", { name: "Actions on the definition" });
  await actions.getByRole("button", { name: "Retire…" }).click();
  await confirm(page, "Retire it", "replaced by greet");
  await page.locator(".told").getByText("replaced by greet").waitFor();
  assert.ok((await server.api("GET", "/api/v1/definitions/hello")).body.retired);
  assert.equal(await page.getByRole("heading", { name: "Schedule", exact: true }).count(), 0, "it has no schedule");
  await actions.getByRole("button", { name: "Undo the retirement" }).click();
  await actions.getByRole("button", { name: "Retire…" }).waitFor();
  await page.locator(".told").waitFor({ state: "detached" });
});

test("schedules in a narrow window, dark and light", async (t) => {
  await server.deploy(yearly("narrow"));
  for (const dark of [false, true]) {
    const page = await openPage(t, server, "/schedules", { dark, width: 390 });
    for (const [name, path] of [["schedules", "/schedules"], ["definition schedule", "/definitions/narrow"]]) {
      await page.goto(server.url + path);
      await page.locator("code").getByText("0 0 1 1 *").first().waitFor();
      await accessible(page, name);
      await shot(page, `${name} 390${dark ? " dark" : ""}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${name} fits`);
    }
  }
});
