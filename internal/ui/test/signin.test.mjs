import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { binary, newContext, openPage, root, shot, until } from "./harness.mjs";

const dir = mkdtempSync(join(tmpdir(), "lockstep-page-"));
const server = { url: "" };
let child, token, viewer;
const tokens = {}; // of each role

/** A token, and its line of the file. */
function newToken(name, role) {
  const made = JSON.parse(execFileSync(binary(), ["token", "new", "--name", name, "--role", role, "-o", "json"], { stdio: ["ignore", "pipe", "ignore"] }));
  return { token: made.token, line: (made.line ?? JSON.stringify({ name: made.name, role: made.role, hash: made.hash })) + "\n" };
}

before(async () => {
  const made = Object.entries({ olga: "operator", vera: "viewer", arno: "author", ada: "admin", erik: "event-producer" }).map(([name, role]) => ({ role, ...newToken(name, role) }));
  for (const m of made) tokens[m.role] = m.token;
  token = tokens.operator;
  viewer = tokens.viewer;
  writeFileSync(join(dir, "tokens.txt"), made.map((m) => m.line).join(""), { mode: 0o600 });
  child = spawn(
    binary(),
    ["serve", "--store", "memory:", "--north", "127.0.0.1:0", "--south", "none", "--unknown-functions", "wait", "--tokens", join(dir, "tokens.txt"), "--addr-file", join(dir, "north")],
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

// What each role may, as docs/server.md has it.
const deeds = {
  viewer: ["read"],
  operator: ["read", "start", "send", "operate", "retire"],
  author: ["read", "start", "deploy", "retire"],
  admin: ["read", "start", "send", "operate", "deploy", "retire"],
  "event-producer": ["send"],
};

// What a screen has for whoever may read it, and what it offers by the deed that it is for.
const screens = {
  "/": { read: "region Recent instances", start: ["link Playground"], operate: ["link Retry 1 with WorkflowNotFound…"] },
  "/instances": { read: "link failing@1", start: ["link Start an instance"], operate: ["checkbox Select all on this page"] },
  "/instances/failed": { read: "button More actions", operate: ["button Retry", "button Retry with other data…", "text Retry runs Call again with the same input; Skip continues with an output that you give."] },
  "/instances/parked": { read: "region Why is it waiting?", operate: ["button Answer…"] },
  "/instances/job": { read: "region Job", operate: ["button Move it to DROPPED"] },
  "/definitions": { read: "link nightly", deploy: ["link Deploy a definition"], start: ["link Start failing", "link New job team.board"] },
  "/definitions?deploy=1": { deploy: ["button Review and deploy"] },
  "/definitions/failing": { read: "region Where instances are", start: ["button Start", "link Try it out"], deploy: ["link New version"], operate: ["button Pause…"], retire: ["button Retire…"] },
  "/definitions/failing?tab=deploy": { deploy: ["button Review and deploy"] },
  "/definitions/failing?start=1": { read: "region Where instances are", start: ["dialog Start failing 1"] },
  "/definitions/nightly": { read: "region Schedule", operate: ["group Actions on the schedule of nightly", "button More"] },
  "/schedules": { read: "link nightly", operate: ["button Trigger…", "button More"] },
  "/events": { read: "searchbox Type" },
  "/events?send=1": { send: ["form Send an event"] },
  "/board/team.board": { read: "link A lamp", start: ["link New job"], operate: ["button Move A lamp"] },
  "/nodes": { read: "table Servers that share the store" },
  "/playground": { start: ["button Run", "button Save as scenario…"], deploy: ["button Deploy…"] },
};

/** Goes to a place as a link does; what was shown before is gone then. */
const follow = (page, to) =>
  page.evaluate(async (to) => {
    const link = document.createElement("a");
    link.href = to;
    document.body.append(link);
    link.click();
    link.remove();
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  }, to);

test("each role is offered what it may do, on every screen, and nothing else", async (t) => {
  const call = async (path, body, type = "application/json") => {
    const r = await fetch(server.url + path, { method: "POST", body, headers: { Authorization: "Bearer " + tokens.admin, "Content-Type": type } });
    const answer = await r.json();
    assert.ok(r.ok, JSON.stringify(answer));
    return answer;
  };
  const deploy = (text) => call("/api/v1/definitions", text, "application/yaml");
  await deploy("id: failing\nname: failing\nversion: '1'\nstates:\n- {name: Call, type: subflow, start: {kind: default}, waitForCompletion: true, workflowId: nowhere, end: {kind: default}}\n");
  await deploy(readFileSync(join(root, "examples", "jobs", "kanban.yaml"), "utf8"));
  await deploy("document: {dsl: 1.0.3, namespace: default, name: nightly, version: 1.0.0}\nschedule: {cron: '0 0 29 2 *'}\ndo: [{a: {set: {b: 1}}}]\n");
  await deploy("id: parked\nname: parked\nversion: '1'\nfunctions: [{name: ask}]\nstates:\n- {name: Call, type: operation, start: {kind: default}, actions: [{functionRef: {refName: ask}}], end: {kind: default}}\n");
  const ids = { failed: (await call("/api/v1/definitions/failing/instances", "{}")).id, parked: (await call("/api/v1/definitions/parked/instances", "{}")).id };
  const jobs = await call("/api/v1/jobs", JSON.stringify({ workflow: "team.board", clients: ["ada"], definition: { title: "A lamp" } }));
  ids.job = jobs.items[0].id;

  const wrong = [];
  for (const [role, may] of Object.entries(deeds)) {
    const page = await openPage(t, server, "/");
    await signIn(page, tokens[role]);
    await page.getByText(`(${role})`).waitFor();
    for (const [screen, offers] of Object.entries(screens)) {
      await follow(page, screen.replace(/^\/instances\/(\w+)$/, (_, name) => "/instances/" + ids[name]));
      const shown = ([name, ...rest]) => {
        const text = rest.join(" ");
        return name === "text" ? page.getByText(text) : page.getByRole(name, { name: text, exact: true });
      };
      const { read, ...others } = offers;
      // Each says what it shows, or that the role may not see it.
      const refusal = page.getByText(new RegExp(`^The role ${role} may`));
      await (read && may.includes("read") ? shown(read.split(" ")) : refusal.or(page.locator("main button")).first()).first().waitFor();
      for (const [deed, list] of Object.entries(others))
        for (const what of list) {
          const it = shown(what.split(" ")).first();
          if (may.includes(deed)) await it.waitFor();
          else if (await it.isVisible()) wrong.push(`${role} on ${screen}: ${what}`);
        }
    }
    await page.context().close();
  }
  assert.deepEqual(wrong, []);
});
