import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPage, shot, startServer } from "./harness.mjs";

let server;
before(async () => (server = await startServer()));
after(() => server.stop());

test("first visit explains itself and runs an example", async (t) => {
  const page = await openPage(t, server, "/");
  await page.getByText("Lockstep runs workflows").waitFor();
  await page.getByRole("heading", { name: "Nothing has run yet" }).waitFor();
  await page.getByText("lockstep def apply").waitFor();
  await shot(page, "home-first-visit");

  await page.getByRole("button", { name: "Deploy and run an example" }).click();
  await page.locator("header.instance").getByText("completed").waitFor();
  assert.match(new URL(page.url()).pathname, /^\/instances\/./);
  await page.getByRole("region", { name: "Output" }).getByText("Hello, Ada").waitFor();
  await page.getByRole("button", { name: "greet, done" }).waitFor();
  await shot(page, "home-example");

  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.getByRole("link", { name: "1 completed" }).waitFor();
  await page.getByRole("cell", { name: "greet@1.0.0" }).waitFor();
  await page.getByText("Nothing failed.").waitFor();
  await shot(page, "home");
});

test("home follows what happens", async (t) => {
  const page = await openPage(t, server, "/");
  await page.getByRole("heading", { name: "Recent instances" }).waitFor();
  await server.deploy(`id: broken
version: "1.0"
name: Of the tests
functions: [{name: nowhere, operation: "http://127.0.0.1:1/nowhere"}]
states:
- name: Ask
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: nowhere}}]
  end: {kind: default}
`);
  const { id } = await server.begin("broken");
  const { error } = await server.reach(id, "failed");
  const group = page.getByRole("link", { name: `${error.name} at Ask` });
  await group.waitFor();
  await shot(page, "home-failures");
  await group.click();
  await page.getByRole("link", { name: id }).click();
  await page.getByRole("region", { name: "Error", exact: true }).getByText(error.name).waitFor();
});
