import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
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

/** The screen that asks for a token. */
const asks = (page) => page.getByRole("heading", { name: /^Sign in to 127/ });

async function signIn(page, token) {
  await asks(page).waitFor();
  await page.getByLabel("Token").fill(token);
  await page.getByLabel("Token").press("Enter");
  await asks(page).waitFor({ state: "detached" });
}

test("the page asks for a token, keeps it where scripts cannot read it, and takes leave", async (t) => {
  const page = await openPage(t, server, "/instances?q=status:failed", { width: 390, dark: true });
  await asks(page).waitFor();
  assert.ok(await page.getByLabel("Token").evaluate((e) => e === document.activeElement), "the field has the focus");
  await page.getByText("What is a token, and where do I get one?").click();
  await page.getByText("lockstep token new").waitFor();
  await accessible(page, "sign-in, dark");
  await shot(page, "signin dark 390");
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByLabel("Token").fill("ls_wrong");
  await page.getByLabel("Token").press("Enter");
  await page.getByRole("alert").getByText("This server does not know this token").waitFor();
  await accessible(page, "sign-in");
  await shot(page, "signin");
  await signIn(page, token);
  await page.getByText("Nothing matches this filter").waitFor(); // what the address says
  assert.equal(page.url(), server.url + "/instances?q=status:failed");
  await page.getByText("olga (operator)").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes("ls_")), false);

  // What the role never may is not offered; who comes by its address is told.
  await page.goto(server.url + "/definitions");
  await page.getByText("olga (operator)").waitFor();
  assert.equal(await page.getByRole("link", { name: /Deploy/ }).count(), 0);
  await page.goto(server.url + "/definitions?deploy=1");
  await page.getByText("The role operator may not deploy definitions").waitFor();
  assert.equal(await page.getByRole("button", { name: "Deploy", exact: true }).count(), 0);

  await page.getByRole("button", { name: "Sign out" }).click();
  await asks(page).waitFor();
  assert.deepEqual(await page.context().cookies(), []);
});

test("an answer to a request of before the token was entered does not ask for it again", async (t) => {
  const page = await openPage(t, server, "/nodes"); // which asks again and again
  await asks(page).waitFor();
  let held; // a request that was refused, whose answer does not come yet
  await page.route("**/api/v1/nodes", async (route) => {
    held ??= { route, response: await route.fetch() };
    if (held.route !== route) await route.continue();
  });
  await until("a request to be refused", () => held);
  await signIn(page, viewer);
  await held.route.fulfill({ response: held.response });
  await page.getByRole("table").waitFor();
  assert.equal(await asks(page).count(), 0);
});

test("who signs in or out in one tab does so in all", async (t) => {
  const context = await newContext(t);
  const first = await openPage(t, server, "/definitions", { context });
  const second = await openPage(t, server, "/nodes", { context });
  const asked = asks(second);
  await asked.waitFor();
  await signIn(first, viewer);
  await asked.waitFor({ state: "detached" });
  await second.getByText("vera (viewer)").waitFor();
  await second.getByRole("table").waitFor();
  await second.getByText("live", { exact: true }).waitFor();

  await first.getByRole("button", { name: "Sign out" }).click();
  for (const page of [first, second]) await page.waitForURL(server.url + "/"); // what is left may ask for a token too
  await asked.waitFor();
  await until("vera to be gone", async () => (await second.getByText("vera").count()) === 0);
  await signIn(first, token);
  await second.getByText("olga (operator)").waitFor();
  await asked.waitFor({ state: "detached" });
});

test("who may only look is told, and offered nothing else", async (t) => {
  const page = await openPage(t, server, "/");
  await signIn(page, viewer);
  await page.getByText("Read-only").waitFor();
  await page.getByRole("heading", { name: "Nothing has run yet" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Deploy and run an example" }).count(), 0);
  for (const [path, name] of [["instances", "Start an instance"], ["definitions", "Deploy a definition"]]) {
    await page.goto(server.url + "/" + path);
    await page.getByText("Read-only").waitFor();
    assert.equal(await page.getByRole("link", { name }).count(), 0);
  }

  // Also where the role is told last, and something was refused until then.
  const refused = page.waitForResponse((r) => r.url().endsWith("/api/v1/playground") && r.status() === 403);
  await page.route("**/api/v1/session", async (route) => {
    await refused;
    await route.continue();
  });
  await page.goto(server.url + "/playground");
  await page.getByText("Read-only").waitFor();
  assert.equal(await page.getByRole("button", { name: "Run", exact: true }).count(), 0);
  await page.getByRole("alert").waitFor({ state: "detached" });
});
