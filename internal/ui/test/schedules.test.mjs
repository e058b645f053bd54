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
  await row.getByText("none yet").waitFor();
  const [next] = (await server.api("GET", "/api/v1/schedules")).body.items[0].next;
  assert.equal(await row.locator("time").getAttribute("datetime"), next);
  assert.match(await row.innerText(), /1 Jan \d{4}.*in \d+[dhms]|31 Dec \d{4}.*in \d+[dhms]/s);

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

test("a paused definition starts nothing, and its page says so", async (t) => {
  await server.deploy(yearly("held"));
  const page = await openPage(t, server, "/definitions/held?tab=schedule");
  const actions = page.getByRole("group", { name: "Actions on the definition" });
  await until("the next ten fire times", async () => (await page.locator("ol.fires li").count()) === 10);
  await actions.getByRole("button", { name: "Pause…" }).click();
  await confirm(page, "Pause it", "the bank is closed");
  await page.locator(".told").getByText("the bank is closed").waitFor();
  await page.getByText("definition paused").waitFor();
  await accessible(page, "a paused definition");
  await shot(page, "definition-paused");

  await page.getByRole("link", { name: "Start", exact: true }).click();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const refused = await server.api("POST", "/api/v1/definitions/held/instances", {});
  assert.equal(refused.body.code, "definition-paused");
  await page.getByRole("alert").getByText(refused.body.detail).waitFor();

  await actions.getByRole("button", { name: "Resume" }).click();
  await page.locator(".told").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL("**/instances/*");
});

test("a definition is retired and taken back", async (t) => {
  const page = await openPage(t, server, "/definitions/hello");
  const actions = page.getByRole("group", { name: "Actions on the definition" });
  await actions.getByRole("button", { name: "Retire…" }).click();
  await confirm(page, "Retire it", "replaced by greet");
  await page.locator(".told").getByText("replaced by greet").waitFor();
  assert.ok((await server.api("GET", "/api/v1/definitions/hello")).body.retired);
  assert.equal(await page.getByRole("link", { name: "Schedule", exact: true }).count(), 0, "it has no schedule");
  await actions.getByRole("button", { name: "Undo the retirement" }).click();
  await actions.getByRole("button", { name: "Retire…" }).waitFor();
  await page.locator(".told").waitFor({ state: "detached" });
});

test("schedules in a narrow window, dark and light", async (t) => {
  await server.deploy(yearly("narrow"));
  for (const dark of [false, true]) {
    const page = await openPage(t, server, "/schedules", { dark, width: 390 });
    for (const [name, path] of [["schedules", "/schedules"], ["definition schedule", "/definitions/narrow?tab=schedule"]]) {
      await page.goto(server.url + path);
      await page.getByText("0 0 1 1 *").first().waitFor();
      await accessible(page, name);
      await shot(page, `${name} 390${dark ? " dark" : ""}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${name} fits`);
    }
  }
});
