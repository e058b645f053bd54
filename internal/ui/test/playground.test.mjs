import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary, editor, openPage, rewrite, shot, startServer, until, written } from "./harness.mjs";

let server;
before(async () => (server = await startServer({ examples: ["hello.yaml"] })));
after(() => server.stop());

const definition = (page) => page.getByRole("textbox", { name: "Definition" });
const verdict = (page) => page.locator(".play-verdict");

test("the first example runs", async (t) => {
  const page = await openPage(t, server, "/playground");
  await page.getByRole("button", { name: "greet", exact: true }).waitFor(); // the diagram
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await verdict(page).getByText("Completed").waitFor();
  assert.match(await page.getByRole("region", { name: "Output" }).textContent(), /Hello, Ada/);
  await shot(page, "playground-hello");
  await accessible(page, "a run");
});

test("every example runs, one for each dialect at least", async (t) => {
  const page = await openPage(t, server, "/playground");
  const choice = page.getByRole("combobox", { name: "Begin with" });
  const names = await choice.locator("option").evaluateAll((all) => all.map((o) => o.value).filter((v) => v.startsWith("example:")));
  const outputs = { order08: /refund\W*b-1/, sensor08: /highest\W*75/, ticket08: /ticket\W*7/, review07: /published\W*true/, invoices09: /l-2/, onboarding: /account\W*a-2/ };
  const dialects = new Set();
  for (const value of names) {
    const name = value.slice("example:".length);
    if (name === "greet") continue; // another test's, and the page begins with it
    const before = await page.locator(".play").elementHandle();
    await choice.selectOption(value);
    await until("the example before to be gone", () => before.evaluate((e) => !e.isConnected));
    await page.getByText("No mistakes.").waitFor();
    dialects.add(await page.locator(".play-dialect").innerText());
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await until(`${name} to end`, async () => (await verdict(page).count()) && /Completed (after|at once)/.test(await verdict(page).innerText()));
    if (outputs[name]) assert.match(await page.getByRole("region", { name: "Output" }).textContent(), outputs[name], name);
  }
  const versions = ["0.1", "0.2", "0.5", "0.6", "0.7", "0.8", "0.9"].map((v) => "Serverless Workflow " + v);
  assert.deepEqual([...dialects].sort(), ["Job workflow", "Open Workflow 1.0", ...versions]);
});

test("a sub-workflow in a file, saved as a scenario that passes, shared by a link, and deployed", async (t) => {
  const page = await openPage(t, server, "/playground?example=onboarding");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await verdict(page).getByText("Completed").waitFor();
  await page.getByRole("tab", { name: "account.yaml" }).click();
  await page.getByRole("button", { name: /^Reserve\b/ }).first().waitFor(); // the diagram of the sub-workflow
  await rewrite(editor(page, "account.yaml"), "id: account\nversion: '1.0'\nname: Account\nstates:\n- {name: Open, type: injct, start: {kind: default}, end: {kind: default}}\n");
  await page.getByRole("tab", { name: "account.yaml (1 wrong)" }).waitFor();
  await page.getByRole("button", { name: "account.yaml, line 5" }).first().waitFor();
  await rewrite(editor(page, "account.yaml"), "id: account\nversion: '1.0'\nname: Account\nstates:\n- {name: Open, type: inject, start: {kind: default}, data: {address: 'ada@example.com', badge: 7}, end: {kind: default}}\n");
  await page.getByText("No mistakes.").waitFor();

  // The scenario, as lockstep test reads it.
  await page.getByRole("button", { name: "Save as scenario…" }).click();
  const save = page.getByRole("dialog", { name: "Save as a scenario" });
  await save.getByLabel("What it tests").fill("it: is welcome");
  await save.getByRole("button", { name: "Run and write it" }).click();
  await save.getByText("lockstep test onboarding_test.yaml").waitFor();
  await shot(page, "playground-scenario");
  await accessible(page, "a scenario");
  const dir = mkdtempSync(join(tmpdir(), "lockstep-scenario-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(dir, { recursive: true });
  for (const name of ["onboarding_test.yaml", "onboarding.yaml", "account.yaml"]) {
    const [file] = await Promise.all([page.waitForEvent("download"), save.getByRole("button", { name: "Download " + name, exact: true }).click()]);
    assert.equal(file.suggestedFilename(), name);
    await file.saveAs(join(dir, name));
  }
  const told = execFileSync(binary(), ["test", dir], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  assert.match(told, /1 .*passed/);
  await save.getByRole("button", { name: "Close" }).click();

  // A link carries all of it to somebody else.
  await page.getByRole("button", { name: "Share…" }).click();
  const share = page.getByRole("dialog", { name: "Share by link" });
  const link = await share.getByLabel("Link").inputValue();
  assert.ok(link.startsWith(server.url + "/playground#play=") && link.length < 4000, link.slice(0, 80));
  await accessible(page, "a link");
  await share.getByRole("button", { name: "Close" }).click();
  const other = await openPage(t, server, link.slice(server.url.length), { width: 390 });
  await other.waitForURL((url) => url.searchParams.has("link") && !url.hash);
  for (let again = 0; again < 2; again++) {
    await other.getByRole("tab", { name: "account.yaml" }).click();
    await editor(other, "account.yaml").getByText("badge: 7").waitFor();
    await other.getByRole("button", { name: "Run", exact: true }).click();
    await verdict(other).getByText("Completed").waitFor();
    await other.reload(); // the short address has it, too
  }
  assert.equal(await other.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  await shot(other, "playground-390");
  await other.goto(link.slice(0, -20));
  await other.getByText("This link is not whole").waitFor();

  // What no link can carry is said.
  await page.getByRole("tab", { name: "Mocks •" }).click();
  let noise = "";
  for (let i = 0, x = 1; i < 12_000; i++) noise += String.fromCharCode(33 + ((x = (x * 48271) % 2147483647) % 90));
  await rewrite(editor(page, "Mocks"), "# " + noise.repeat(1) + noise.split("").reverse().join("") + noise.replace(/(.)(.)/g, "$2$1"));
  await page.getByRole("button", { name: "Share…" }).click();
  await share.getByText("This is too much for a link").waitFor();
  await share.getByRole("button", { name: "Close" }).click();

  // Deployed with its sub-workflow, after a look at what changes.
  await page.getByRole("button", { name: "Deploy…" }).click();
  const review = page.getByRole("dialog", { name: "Deploy" });
  await review.getByRole("row", { name: /onboarding 1\.0 new onboarding\.yaml/ }).waitFor();
  await review.getByRole("row", { name: /account 1\.0 new account\.yaml/ }).waitFor();
  await review.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL("**/definitions/onboarding");
  await page.getByRole("link", { name: "Try it out" }).click();
  await page.getByRole("button", { name: "Welcome", exact: true }).waitFor();
});

test("the diagram of a run tells counts, times, attempts and data, and opens sub-workflows", async (t) => {
  const page = await openPage(t, server, "/playground?example=retry");
  const run = async () => {
    await page.getByText("No mistakes.").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await verdict(page).getByText("Completed").waitFor();
  };
  await run();
  const charge = page.getByRole("button", { name: "Charge, done, attempt 3", exact: true });
  await charge.waitFor();
  await charge.getByText("attempt 3 · 4m").waitFor({ state: "attached" });
  await charge.hover();
  await page.getByRole("tooltip").getByText(/^{.*"card":"c-1".*}$/).first().waitFor();

  await page.goto(server.url + "/playground?example=onboarding");
  await run();
  await page.getByRole("button", { name: "OpenAccount, done, ×2", exact: true }).waitFor();
  await page.locator('.ls-edge.taken[data-from="OpenAccount"][data-to="ChooseAgain"]').waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Open the diagram of account, which OpenAccount runs" }).click();
  await page.getByRole("img", { name: "Equip, done", exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Instance" }).selectOption("1 of 2"); // its error was handled
  await page.getByRole("img", { name: "Reserve, failed", exact: true }).waitFor();
  await shot(page, "playground-inside");
  await page.getByRole("button", { name: "‹ Back" }).click();
  await page.getByRole("button", { name: "Welcome, done", exact: true }).waitFor();

  await page.goto(server.url + "/playground?example=onboarding10");
  await page.getByRole("button", { name: "Open the diagram of people.account@1.2.0, which account runs" }).click();
  await page.getByText("It has not been started.").waitFor();
  await run();
  await page.locator(".level .mark-done").first().waitFor();
});

test("mistakes are shown at their lines while someone types, and nothing typed is lost", async (t) => {
  const page = await openPage(t, server, "/playground?example=order");
  await page.getByRole("button", { name: "Ship", exact: true }).waitFor();
  await definition(page).click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.type("nonsense: 1\n");
  await page.locator(".play-mistakes summary").getByText("1 warning").waitFor();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.type("]\n");
  await page.locator(".play-mistakes summary").getByText("error").waitFor();
  await page.locator(".cm-lint-marker-error").first().waitFor();
  await page.locator(".play-mistakes li").first().getByRole("button", { name: /^Line \d+$/ }).click();
  await until("the line to be gone to", () => definition(page).evaluate((e) => e.getRootNode().activeElement === e));
  await shot(page, "playground-mistakes");
  await accessible(page, "mistakes");
  await page.reload();
  await definition(page).getByText("nonsense: 1").waitFor();
  await page.getByRole("button", { name: "Start over" }).click();
  await until("the example to be back", async () => !(await definition(page).textContent()).includes("nonsense"));
  await page.getByText("No mistakes.").waitFor();
});

test("a run is stepped through and time is passed by hand", async (t) => {
  const page = await openPage(t, server, "/playground?example=reminder");
  await page.getByRole("button", { name: "WaitAMonth", exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Skip time" }).uncheck();
  await page.getByRole("button", { name: "Step" }).click();
  await verdict(page).getByText('Stopped before "WaitAMonth"').waitFor();
  await page.getByRole("button", { name: "WaitAMonth, comes next" }).waitFor();
  await page.getByRole("button", { name: "Step" }).click();
  await verdict(page).getByText("waits for its time").waitFor();
  await page.getByRole("button", { name: "Let time pass until 2026-03-31 00:00:00" }).click();
  await verdict(page).getByText('Stopped before "Remind"').waitFor();
  await page.getByText("30d pass").waitFor();
  await shot(page, "playground-step");
  await page.getByRole("button", { name: "Step" }).click();
  await verdict(page).getByText("Completed").waitFor();
});

test("a job is moved by its actors, and mocks have mistakes of their own", async (t) => {
  const page = await openPage(t, server, "/playground?example=kanban&pane=takes", { dark: true });
  await page.getByRole("button", { name: "SHIPPED", exact: true }).waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await verdict(page).getByText("Completed").waitFor();
  await page.getByRole("button", { name: "SHIPPED, the job is here" }).waitFor();
  await shot(page, "playground-job-dark");
  await accessible(page, "a job, dark");
  await page.getByRole("textbox", { name: "Moves" }).click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.type("- {actor: NOBODY, state: DOING}\n");
  await page.getByRole("tab", { name: "Moves (1 wrong)" }).waitFor();
  await page.getByRole("button", { name: "takes, line 1" }).waitFor();
});

test("keys and values are completed from the schema", async (t) => {
  const page = await openPage(t, server, "/playground?example=hello", { width: 900 });
  await definition(page).click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type("- name: Wait\ntype: del");
  const offers = page.locator(".cm-tooltip-autocomplete li");
  await offers.getByText("delay").click();
  await page.keyboard.press("Enter");
  await page.keyboard.type("timeD");
  await offers.getByText("timeDelay").waitFor();
  await shot(page, "playground-completion-900");
  await accessible(page, "completion");
  await page.keyboard.press("Enter");
  await page.keyboard.type("PT1M");
  await until("both to be there", async () => /type: delay\s*timeDelay: PT1M/.test(await definition(page).textContent()));
});

test("by keyboard alone", async (t) => {
  const page = await openPage(t, server, "/playground?example=hello");
  await page.getByRole("button", { name: "Greet", exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Begin with" }).focus();
  await page.keyboard.press("Control+Enter");
  await verdict(page).getByText("Completed").waitFor();
  for (const name of ["Run", "Step"]) {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
  }
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab"); // past Skip time, into the editor
  await definition(page).press("Control+Shift+Enter");
  await verdict(page).getByText('Stopped before "Greet"').waitFor();
  assert.ok(await definition(page).evaluate((e) => e.getRootNode().activeElement === e), "the editor keeps the focus");
  await page.keyboard.press("Tab");
  assert.notEqual(await page.evaluate(() => document.activeElement.className), "editor", "Tab leaves the editor");
});

test("the source of a deployed definition can be tried out", async (t) => {
  const page = await openPage(t, server, "/playground");
  await page.getByRole("combobox", { name: "Begin with" }).selectOption("definition:hello");
  await page.waitForURL("**/playground?definition=hello");
  await definition(page).getByText("id: hello").waitFor();
  await page.goBack();
  await page.waitForURL("**/playground");
});

test("what was typed survives a server that is away", async (t) => {
  const own = await startServer();
  t.after(() => own.stop());
  const page = await openPage(t, own, "/playground?example=hello");
  await page.getByRole("button", { name: "Greet", exact: true }).waitFor();
  await own.kill();
  await definition(page).click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.type("# typed while it was away\n");
  await page.getByText("The server does not respond.").waitFor();
  await own.start();
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByText("The server does not respond.").waitFor({ state: "hidden" });
  await definition(page).getByText("# typed while it was away").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await verdict(page).getByText("Completed").waitFor();
});
