import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { openPage, shot, startServer, until } from "./harness.mjs";

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

for (const [example, state, output] of [
  ["order08", "Refund", /"refund":\s*"b-1"/],
  ["sensor08", "SumUp", /"highest":\s*75/],
  ["ticket08", "HowUrgent", /"ticket":\s*7/],
  ["review07", "GiveUp", /"published":\s*true/],
  ["invoices09", "by-hand", /"l-2"/],
])
  test(`a definition of Serverless Workflow 0.6 to 0.9 is drawn and runs: ${example}`, async (t) => {
    const page = await openPage(t, server, `/playground?example=${example}`);
    await page.getByRole("button", { name: state, exact: true }).waitFor(); // the diagram
    await page.getByText("No mistakes.").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await verdict(page).getByText("Completed").waitFor();
    assert.match(await page.getByRole("region", { name: "Output" }).textContent(), output);
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
