import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, newContext, openPage, shot, until } from "./harness.mjs";

const dir = mkdtempSync(join(tmpdir(), "lockstep-page-"));
const server = { url: "" };
let child, token, viewer;

/** A token, and its line of the file. */
function newToken(name, role) {
  const made = JSON.parse(execFileSync(binary(), ["token", "new", "--name", name, "--role", role, "-o", "json"], { stdio: ["ignore", "pipe", "ignore"] }));
  return { token: made.token, line: (made.line ?? JSON.stringify({ name: made.name, role: made.role, hash: made.hash })) + "\n" };
}

before(async () => {
  const made = { olga: newToken("olga", "operator"), vera: newToken("vera", "viewer") };
  token = made.olga.token;
  viewer = made.vera.token;
  writeFileSync(join(dir, "tokens.txt"), made.olga.line + made.vera.line, { mode: 0o600 });
  child = spawn(
    binary(),
    ["serve", "--store", "memory:", "--north", "127.0.0.1:0", "--south", "none", "--tokens", join(dir, "tokens.txt"), "--addr-file", join(dir, "north")],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let log = "";
  child.stderr.on("data", (text) => (log += text));
  await until("the server to start", async () => {
    assert.equal(child.exitCode, null, log);
    if (!existsSync(join(dir, "north"))) return false;
    server.url = "http://" + readFileSync(join(dir, "north"), "utf8").trim();
    return (await fetch(server.url + "/readyz")).ok;
  });
});
after(async () => {
  if (child?.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  rmSync(dir, { recursive: true, force: true });
});

test("the page asks for a token, keeps it where scripts cannot read it, and takes leave", async (t) => {
  const page = await openPage(t, server, "/definitions");
  const dialog = page.getByRole("dialog", { name: "This server needs a token" });
  await dialog.waitFor();
  await shot(page, "signin");
  await dialog.getByLabel("Token").fill("ls_wrong");
  await dialog.getByLabel("Token").press("Enter");
  await dialog.getByRole("alert").getByText("unknown token").waitFor();
  await dialog.getByLabel("Token").fill(token);
  await dialog.getByLabel("Token").press("Enter");
  await page.getByText("There is none here yet").waitFor();
  await page.getByText("olga (operator)").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes("ls_")), false);
  assert.equal(page.url(), server.url + "/definitions");

  // What the role does not allow is told where it would be done.
  await page.goto(server.url + "/definitions?deploy=1");
  await page.getByTitle("The role operator may not do this").waitFor();
  assert.ok(await page.getByRole("button", { name: "Deploy", exact: true }).isDisabled());

  await page.getByRole("button", { name: "Sign out" }).click();
  await dialog.waitFor();
  assert.deepEqual(await page.context().cookies(), []);
});

async function signIn(page, token) {
  const dialog = page.getByRole("dialog", { name: "This server needs a token" });
  await dialog.getByLabel("Token").fill(token);
  await dialog.getByLabel("Token").press("Enter");
  await dialog.waitFor({ state: "hidden" });
}

test("an answer to a request of before the token was entered does not ask for it again", async (t) => {
  const page = await openPage(t, server, "/nodes"); // which asks again and again
  await page.getByRole("dialog", { name: "This server needs a token" }).waitFor();
  let held; // a request that was refused, whose answer does not come yet
  await page.route("**/api/v1/nodes", async (route) => {
    held ??= { route, response: await route.fetch() };
    if (held.route !== route) await route.continue();
  });
  await until("a request to be refused", () => held);
  await signIn(page, viewer);
  await held.route.fulfill({ response: held.response });
  await page.getByRole("table").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
});

test("who signs in or out in one tab does so in all", async (t) => {
  const context = await newContext(t);
  const first = await openPage(t, server, "/definitions", { context });
  const second = await openPage(t, server, "/nodes", { context });
  const asked = second.getByRole("dialog", { name: "This server needs a token" });
  await asked.waitFor();
  await signIn(first, viewer);
  await asked.waitFor({ state: "hidden" });
  await second.getByText("vera (viewer)").waitFor();
  await second.getByRole("table").waitFor();
  await second.getByText("live", { exact: true }).waitFor();

  await first.getByRole("button", { name: "Sign out" }).click();
  for (const page of [first, second]) await page.waitForURL(server.url + "/"); // what is left may ask for a token too
  await asked.waitFor();
  await until("vera to be gone", async () => (await second.getByText("vera").count()) === 0);
  await signIn(first, token);
  await second.getByText("olga (operator)").waitFor();
  await asked.waitFor({ state: "hidden" });
});

test("who may only look is told, and offered nothing else", async (t) => {
  const page = await openPage(t, server, "/");
  await signIn(page, viewer);
  await page.getByText("Read-only").waitFor();
  const run = page.getByRole("button", { name: "Deploy and run an example" });
  await run.waitFor();
  assert.ok(await run.isDisabled());
  assert.equal(await run.getAttribute("title"), "The role viewer may not do this");

  // Also where the role is told last, and something was refused until then.
  const refused = page.waitForResponse((r) => r.url().endsWith("/api/v1/playground") && r.status() === 403);
  await page.route("**/api/v1/session", async (route) => {
    await refused;
    await route.continue();
  });
  await page.goto(server.url + "/playground");
  await page.getByText("Read-only").waitFor();
  assert.ok(await page.getByRole("button", { name: "Run", exact: true }).isDisabled());
  await page.getByRole("alert").waitFor({ state: "detached" });
});
