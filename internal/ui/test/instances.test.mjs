// The list of instances, with a hundred thousand in it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { editor, newContext, openPage, rewrite, shot, startServer, until, written } from "./harness.mjs";

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
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Failed" }).click(); // two
  await page.getByText("1 instance matches").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("q"), "status:failed");
  await shot(page, "instances-failed");
  await rowsOf(page).locator(".c-name a").click(); // three
  const error = page.getByRole("region", { name: "Error", exact: true });
  await error.getByRole("heading", { name: /CardDeclined/ }).waitFor();
  await error.getByText("The bank says no").first().waitFor();
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

test("100,000 instances and a stream of changes make neither a large page nor a slow one", async (t) => {
  const page = await openPage(t, server, "/nowhere");
  await page.evaluate(() => {
    window.long = [];
    new PerformanceObserver((list) => window.long.push(...list.getEntries().map((e) => Math.round(e.duration)))).observe({ type: "longtask" });
  });
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Instances" }).click();
  const rows = rowsOf(page);
  await until("the rows", async () => (await rows.count()) === 50);
  const begun = Array.from({ length: 300 }, () => server.begin("hello", { name: "x" }));
  await Promise.all(begun);
  await page.getByText(`${(devices + 301).toLocaleString("en-GB")} instances`).waitFor();
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByText("Page 2: rows 51 to 100").waitFor();
  await until("its rows", async () => (await rows.count()) === 50);
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(elements < 3_000, `${elements} elements`);
  t.diagnostic(`tasks of the browser over 50 ms: ${JSON.stringify(await page.evaluate(() => window.long))} ms`); // told, not judged: the machine may be busy
  await page.getByRole("link", { name: "Newest" }).click();
  await page.getByText("Page 1: rows 1 to 50").waitFor();
});

test("a view keeps a filter and its columns, and children are unfolded in place", async (t) => {
  await server.deploy(`document: {dsl: 1.0.3, namespace: test, name: family, version: 1.0.0}
do:
- each:
    for: {each: n, in: "[1,2,3]"}
    do:
    - child:
        run:
          workflow: {namespace: default, name: leaf, version: 1.0.0}
`).catch((e) => assert.match(e.message, /leaf/));
  await server.deploy("document: {dsl: 1.0.3, namespace: default, name: leaf, version: 1.0.0}\ndo:\n- a: {set: {b: 1}}\n");
  await server.deploy(`document: {dsl: 1.0.3, namespace: test, name: family, version: 1.0.0}
do:
- each:
    for: {each: n, in: "[1,2,3]"}
    do:
    - child:
        run:
          workflow: {namespace: default, name: leaf, version: 1.0.0}
`);
  const { body } = await server.api("POST", "/api/v1/definitions/test.family/instances?name=The%20Smiths", {});
  await server.reach(body.id, "completed");
  const page = await openPage(t, server, "/instances?q=def:test.family");
  const rows = rowsOf(page);
  await rows.getByRole("link", { name: "The Smiths" }).waitFor();
  await page.getByRole("button", { name: "3 children" }).click();
  await until("the children", async () => (await page.locator("tr.child a[href^='/definitions/leaf']").count()) === 3);
  await page.getByRole("button", { name: "3 children" }).click();
  assert.equal(await page.locator("tr.child").count(), 0);

  await page.getByRole("button", { name: "Columns" }).click();
  const choices = page.getByRole("group", { name: "Columns" });
  await choices.getByRole("checkbox", { name: "Labels" }).check();
  await choices.getByRole("checkbox", { name: "Duration" }).uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("columnheader", { name: "Labels" }).waitFor();
  assert.equal(await page.getByRole("columnheader", { name: "Duration" }).count(), 0);
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name of the view").fill("Families");
  await accessible(page, "saving a view");
  await page.getByLabel("Name of the view").press("Enter");
  const views = page.getByRole("navigation", { name: "Views" });
  await views.getByRole("link", { name: "Families" }).waitFor();
  await page.goto(server.url + "/instances");
  await page.getByText("children included").waitFor(); // in the number, not in the rows
  await page.getByRole("checkbox", { name: /^Show children as rows/ }).check();
  await page.getByText("children included").waitFor({ state: "detached" });
  await views.getByRole("link", { name: "Families" }).click();
  await rows.getByRole("link", { name: "The Smiths" }).waitFor();
  assert.equal(await views.locator("[aria-current=page]").textContent(), "Families");
  await page.getByRole("columnheader", { name: "Labels" }).waitFor();
  await page.getByRole("button", { name: "View", exact: true }).click();
  await page.getByRole("button", { name: "Remove it" }).click();
  await views.getByRole("link", { name: "Families" }).waitFor({ state: "detached" });
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
  await page.getByText("10,000+ instances match").waitFor();
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
  const names = await rows.locator(".c-name").allTextContents();
  await rows.nth(30).getByRole("checkbox").check();
  await rows.nth(33).getByRole("checkbox").check();
  await page.getByText("2 selected").waitFor();
  await page.evaluate(() => scrollTo(0, 700));
  await rows.nth(31).locator(".c-name a").hover(); // which may scroll
  const y = await page.evaluate(() => scrollY);
  assert.ok(y > 400);
  await rows.nth(31).locator(".c-name a").click();
  await page.getByRole("heading", { name: "Job" }).waitFor();
  await page.goBack();
  await until("the same scroll position", async () => Math.abs((await page.evaluate(() => scrollY)) - y) < 2);
  assert.equal(await box.inputValue(), "is:job");
  assert.deepEqual(await rows.locator(".c-name").allTextContents(), names);
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
  const first = rows.locator(".c-name").first();
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

test("bulk skip and delete: what is legal is offered, and what cannot be undone is typed", async (t) => {
  await fail(3);
  const page = await openPage(t, server, "/instances?q=def:pay+status:failed&sel=all");
  const bar = page.getByRole("region", { name: "Selection" });
  await bar.getByText(/^All \d+ that match$/).waitFor();
  assert.deepEqual(await bar.locator(".bulk-verbs").getByRole("button").allTextContents(), ["Retry…", "Skip…", "Delete…"]);
  const count = (await bar.locator("b").first().textContent()).replace(/\D/g, "");
  await bar.getByRole("button", { name: "Skip…" }).click();
  const dialog = page.getByRole("dialog");
  await rewrite(editor(dialog, "Output of the failed state"), `{"receipt": "by hand"}`);
  await dialog.getByLabel(/Reason/).fill("paid in cash");
  await dialog.getByRole("button", { name: `Skip ${count}` }).click();
  await page.getByRole("dialog", { name: "Skip: done" }).getByText(`${count} skipped, 0 refused`).waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  await fail(2);
  await page.getByText("All 2 that match").waitFor();
  await bar.getByRole("button", { name: "Delete…" }).click();
  await dialog.getByRole("button", { name: "Delete 2" }).click();
  await dialog.getByText("Type 2 to say that you mean it.").waitFor();
  await dialog.getByLabel("Type 2 to confirm").fill("2");
  await accessible(page, "deleting many");
  await shot(page, "instances-bulk-delete");
  await dialog.getByRole("button", { name: "Delete 2" }).click();
  await page.getByRole("dialog", { name: "Delete: done" }).getByText("2 deleted, 0 refused").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("Nothing matches this filter").waitFor();
});

test("two operators act on one instance: the second is told", async (t) => {
  const [id] = await fail(1);
  const pages = [];
  for (const _ of [1, 2]) pages.push(await openPage(t, server, "/instances/" + id, { context: await newContext(t) }));
  for (const [i, page] of pages.entries()) {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Skip…" }).click();
    await rewrite(editor(page, "Output"), `{"by": "operator ${i}"}`);
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
  assert.equal(await written(editor(second, "Output")), `{"by": "operator 1"}`, "what was typed is still there");
  await shot(second, "instance-second-operator");
  assert.deepEqual((await server.api("GET", `/api/v1/instances/${id}`)).body.output, { by: "operator 0", thanks: true });

  const [other] = await fail(1);
  solvent = true;
  await first.goto(server.url + "/instances/" + other);
  await first.getByRole("button", { name: "Retry with other data…" }).click();
  await until("what the state failed with", async () => (await written(editor(first, "Input"))).includes(`"amount": 0`));
  await rewrite(editor(first, "Input"), `{"amount": 7`);
  await first.getByRole("dialog").locator(".places li").getByText("JSON").waitFor();
  await editor(first, "Input").press("Control+Enter"); // nothing is sent
  await rewrite(editor(first, "Input"), `{"amount": 7}`);
  await shot(first, "instance-retry-data");
  await editor(first, "Input").press("Control+Enter");
  await first.locator("header.instance").getByText("completed").waitFor();
  assert.equal((await server.api("GET", `/api/v1/instances/${other}`)).body.output.amount, 7);
});
