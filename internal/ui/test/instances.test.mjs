// The list of instances, with a hundred thousand in it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { newContext, openPage, shot, startServer, until } from "./harness.mjs";

const devices = 100_000; // jobs that wait
const declined = 60; // more than a page

let server;
let bank; // what workflows call
let solvent = false;

before(async () => {
  bank = createServer((_, answer) => {
    answer.writeHead(solvent ? 200 : 402, { "Content-Type": "application/json" });
    answer.end(solvent ? `{"receipt":"r-1"}` : `{"name":"CardDeclined","message":"The bank says no"}`);
  });
  await new Promise((ready) => bank.listen(0, "127.0.0.1", ready));
  const pay = `id: pay
version: "1.0"
name: Of the tests
functions: [{name: charge, operation: "http://127.0.0.1:${bank.address().port}/charge"}]
states:
- name: Charge
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: charge, parameters: {amount: "{{ $.amount }}"}}}]
  transition: {nextState: Thank}
- name: Thank
  type: inject
  data: {thanks: true}
  end: {kind: default}
`;
  server = await startServer({ examples: ["hello.yaml", "jobs/kanban.yaml"], files: { "pay.yaml": pay } });
  for (let from = 0; from < devices; from += 5_000) {
    const clients = Array.from({ length: 5_000 }, (_, i) => `device-${from + i}`);
    const r = await server.api("POST", "/api/v1/jobs", { workflow: "team.board", clients });
    assert.equal(r.body.created, 5_000);
  }
  await fail(1);
});
after(async () => {
  await server?.stop();
  bank.close();
});

/** Makes instances of pay that fail. */
async function fail(n) {
  solvent = false;
  const ids = await Promise.all(Array.from({ length: n }, async (_, i) => (await server.begin("pay", { amount: i })).id));
  for (const id of ids) await server.reach(id, "failed");
  return ids;
}

/** The rows of the filter in the address; those of the one before are dim until they are there. */
const rowsOf = (page) => page.locator("table.instances:not(.dim) tbody tr");

test("a failed instance is found among 100,000, and retried", async (t) => {
  const page = await openPage(t, server, "/");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Instances" }).click(); // one
  await page.getByText(`${(devices + 1).toLocaleString("en-GB")} instances`).waitFor();
  await page.getByRole("button", { name: "failed" }).click(); // two
  await page.getByText("1 instance matches").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("q"), "status:failed");
  await shot(page, "instances-failed");
  await rowsOf(page).locator(".id a").click(); // three
  const error = page.getByRole("region", { name: "Error", exact: true });
  await error.getByText("CardDeclined").waitFor();
  await error.getByText("The bank says no").waitFor();
  await page.getByRole("button", { name: "Charge, failed" }).waitFor();
  await shot(page, "instance-failed");

  solvent = true;
  await page.getByRole("button", { name: "Retry", exact: true }).click();
  await page.locator("header.instance").getByText("completed").waitFor();
  await page.getByRole("button", { name: "Charge, done" }).waitFor();
  await page.getByRole("button", { name: "Thank, done" }).waitFor();
  assert.equal(await error.count(), 0);
  await shot(page, "instance-retried");
});

test("a wrong filter tells where, and what may have been meant", async (t) => {
  const page = await openPage(t, server, "/instances");
  const box = page.getByRole("searchbox", { name: "Filter" });
  await box.fill("is:job stauts:failed");
  const alert = page.getByRole("alert");
  await alert.getByText("Column 8").waitFor();
  await alert.getByText(`did you mean "status"?`).waitFor();
  await shot(page, "instances-wrong-filter");
  await box.fill("is:job status:waiting");
  await page.getByText(`${devices.toLocaleString("en-GB")} instances match`).waitFor();
  await alert.waitFor({ state: "detached" });
});

test("Older is not offered for rows of the filter before, whose next page is another", async (t) => {
  const page = await openPage(t, server, "/instances");
  const older = page.getByRole("link", { name: "Older" });
  await older.waitFor();
  let release; // the answer of the server
  const held = new Promise((go) => (release = go));
  await page.route("**/api/v1/instances?q=is*", async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("searchbox", { name: "Filter" }).fill("is:job");
  await page.locator("table.instances.dim").waitFor();
  await older.waitFor({ state: "detached" });
  release();
  await older.waitFor();
});

test("Back restores filter, scroll and selection", async (t) => {
  const page = await openPage(t, server, "/instances", { height: 600 });
  const box = page.getByRole("searchbox", { name: "Filter" });
  await box.fill("is:job");
  await page.getByText(`${devices.toLocaleString("en-GB")} instances match`).waitFor();
  await page.getByRole("link", { name: "Older" }).click();
  await until("the second page", async () => page.url().includes("after="));
  const rows = rowsOf(page);
  await until("its rows", async () => (await rows.count()) === 50);
  const names = await rows.locator(".id").allTextContents();
  await rows.nth(30).getByRole("checkbox").check();
  await rows.nth(33).getByRole("checkbox").check();
  await page.getByText("2 selected").waitFor();
  await page.evaluate(() => scrollTo(0, 700));
  await rows.nth(31).getByRole("link", { name: names[31] }).hover(); // which may scroll
  const y = await page.evaluate(() => scrollY);
  assert.ok(y > 400);
  await rows.nth(31).getByRole("link", { name: names[31] }).click();
  await page.getByRole("heading", { name: "Job" }).waitFor();
  await page.goBack();
  await until("the same scroll position", async () => Math.abs((await page.evaluate(() => scrollY)) - y) < 2);
  assert.equal(await box.inputValue(), "is:job");
  assert.deepEqual(await rows.locator(".id").allTextContents(), names);
  assert.ok(await rows.nth(30).getByRole("checkbox").isChecked());
  assert.ok(await rows.nth(33).getByRole("checkbox").isChecked());
  assert.equal(await rows.getByRole("checkbox", { checked: true }).count(), 2);
  await shot(page, "instances-back");
});

test("up to 50 new instances a second while someone types: nothing is lost", async (t) => {
  const page = await openPage(t, server, "/instances?q=def:hello");
  const box = page.getByRole("searchbox", { name: "Filter" });
  await box.click();
  await box.press("Home");
  let begun = 0;
  let ended = false;
  const beginning = (async () => {
    for (; !ended; begun++) await Promise.all([server.begin("hello", { name: "x" }), new Promise((go) => setTimeout(go, 20))]);
  })();
  const end = () => {
    ended = true;
    return beginning;
  };
  t.after(end);
  const typed = "status:completed age:<1h -tag:never -error:Timeout ";
  for (const letter of typed) {
    const seen = begun;
    await page.keyboard.type(letter);
    await until("more instances", async () => begun > seen + 2);
    assert.ok(await box.evaluate((e) => e === document.activeElement), "the focus stays in the box");
  }
  assert.equal(await box.inputValue(), typed + "def:hello");
  await until("the filter in the address", async () => new URL(page.url()).searchParams.get("q") === typed + "def:hello");

  // Nothing moves under the pointer; what is new is told.
  const rows = rowsOf(page);
  await rows.nth(2).hover();
  const first = rows.locator(".id").first();
  const name = await first.textContent();
  const more = page.getByRole("button", { name: /new, show$/ });
  await more.waitFor();
  assert.equal(await first.textContent(), name);
  await end();
  await shot(page, "instances-new");
  await more.press("Enter"); // while the pointer is over the rows: without it they are shown by themselves
  await until("the new rows", async () => (await first.textContent()) !== name);
});

test("bulk retry, with the exact count", async (t) => {
  await fail(declined);
  const page = await openPage(t, server, "/instances?q=status:failed+def:pay");
  await page.getByText(`${declined} instances match`).waitFor();
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await page.getByText("50 selected").waitFor();
  await page.getByRole("button", { name: `Select all ${declined} that match` }).click();
  await page.getByText(`All ${declined} that match`).waitFor();
  solvent = true;
  await page.getByRole("button", { name: "Retry…" }).click();
  const dialog = page.getByRole("dialog", { name: `Retry ${declined} instances?` });
  await dialog.getByText("and 55 more").waitFor();
  await dialog.getByLabel(/Reason/).fill("the bank is back");
  await shot(page, "instances-bulk");
  await dialog.getByRole("button", { name: `Retry ${declined}` }).click();
  await page.getByRole("region", { name: "Selection" }).getByText(`${declined} retried, 0 refused`).waitFor();
  await shot(page, "instances-bulk-done");
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("0 instances match").waitFor();
});

test("a bulk run can be stopped, and what came of it is told", async (t) => {
  await fail(210);
  const page = await openPage(t, server, "/instances?q=status:failed+def:pay&sel=all");
  await page.getByText("All 210 that match").waitFor();
  solvent = true;
  let release; // the answers of the server
  const held = new Promise((go) => (release = go));
  await page.route("**/api/v1/instances/bulk", async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("button", { name: "Retry…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 210" }).click();
  await page.getByRole("dialog", { name: "Retry: working on 210 instances" }).getByRole("button", { name: "Stop" }).click();
  await page.getByText("Nothing more is sent; the answer for 200 is still to come.").waitFor();
  release();
  await page.getByRole("dialog", { name: "Retry: stopped" }).getByText("200 retried, 0 refused, 10 not tried").waitFor();
  await shot(page, "instances-bulk-stopped");
  await page.getByRole("button", { name: "Close" }).click();

  // Also when it is not waited for.
  await page.getByText("All 10 that match").waitFor();
  await page.unroute("**/api/v1/instances/bulk");
  await page.route("**/api/v1/instances/bulk", () => {}); // for ever
  await page.getByRole("button", { name: "Retry…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 10" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Do not wait" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Retry: stopped" }).getByText("0 retried, 0 refused, 10 sent without an answer").waitFor();
});

test("two operators act on one instance: the second is told", async (t) => {
  const [id] = await fail(1);
  const pages = [];
  for (const _ of [1, 2]) pages.push(await openPage(t, server, "/instances/" + id, { context: await newContext(t) }));
  for (const [i, page] of pages.entries()) {
    await page.getByRole("button", { name: "Skip…" }).click();
    await page.getByLabel("Output (JSON)").fill(`{"by": "operator ${i}"}`);
  }
  const [first, second] = pages;
  await first.getByRole("dialog").getByRole("button", { name: "Skip", exact: true }).click();
  await first.locator("header.instance").getByText("completed").waitFor();
  await first.getByRole("region", { name: "Output" }).getByText("operator 0").waitFor();

  await second.locator("header.instance").getByText("completed").waitFor(); // it is live, and the dialog still open
  await second.getByRole("dialog").getByRole("button", { name: "Skip", exact: true }).click();
  const told = second.getByRole("dialog").getByRole("alert");
  await told.getByText("another change came first").waitFor();
  await told.getByText("The instance is completed now").waitFor();
  assert.equal(await second.getByLabel("Output (JSON)").inputValue(), `{"by": "operator 1"}`, "what was typed is still there");
  await shot(second, "instance-second-operator");
  assert.deepEqual((await server.api("GET", `/api/v1/instances/${id}`)).body.output, { by: "operator 0", thanks: true });
});
