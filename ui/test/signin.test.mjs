import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, openPage, shot, until } from "./harness.mjs";

const dir = mkdtempSync(join(tmpdir(), "lockstep-page-"));
const server = { url: "" };
let child, token;

before(async () => {
  const made = JSON.parse(execFileSync(binary(), ["token", "new", "--name", "olga", "--role", "operator", "-o", "json"], { stdio: ["ignore", "pipe", "ignore"] }));
  token = made.token;
  writeFileSync(join(dir, "tokens.txt"), (made.line ?? JSON.stringify({ name: made.name, role: made.role, hash: made.hash })) + "\n", { mode: 0o600 });
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
  await dialog.getByRole("alert").getByText("the token is not known").waitFor();
  await dialog.getByLabel("Token").fill(token);
  await dialog.getByLabel("Token").press("Enter");
  await page.getByText("There is none here yet").waitFor();
  await page.getByText("olga (operator)").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes("ls_")), false);
  assert.equal(page.url(), server.url + "/definitions");

  // What the role does not allow is told where it was tried.
  await page.goto(server.url + "/definitions?deploy=1");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("alert").getByText(/the role operator of "olga" may not do this/).waitFor();

  await page.getByRole("button", { name: "Sign out" }).click();
  await dialog.waitFor();
  assert.deepEqual(await page.context().cookies(), []);
});
