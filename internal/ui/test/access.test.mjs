// What holds for every page: it is accessible, small, asks nobody else, and keeps its policy.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { accessible } from "./axe.mjs";
import { openPage, shot, startServer, until } from "./harness.mjs";

let server;
const ids = {};
before(async () => {
  server = await startServer({ examples: ["hello.yaml", "order.yaml", "approval.yaml", "jobs/kanban.yaml"] });
  ids.hello = (await server.begin("hello", { name: "Ada" })).id;
  ids.order = (await server.begin("order", { item: "lamp", customer: "Ada", amount: 30 })).id;
  ids.approval = (await server.begin("approval", { request: "q-1" })).id;
  await server.deploy("id: failing\nversion: '1'\nname: Fails\nstates:\n- {name: Call, type: subflow, start: {kind: default}, waitForCompletion: true, workflowId: nowhere, end: {kind: default}}\n");
  ids.failed = (await server.begin("failing")).id;
  await server.api("POST", "/api/v1/jobs", { workflow: "team.board", clients: ["ada", "grace", "alan"], definition: { title: "A lamp" } });
  await server.api("POST", "/api/v1/events", { specversion: "1.0", id: "e1", source: "test", type: "nobody.waits", data: { a: 1 } }, { "Content-Type": "application/cloudevents+json" });
  await server.reach(ids.hello, "completed");
  await server.reach(ids.failed, "failed");
});
after(() => server.stop());

/** The pages, each with what comes last on it: it is from another request than the rest. */
const places = () => [
  ["home", "/", ".failures"],
  ["definitions", "/definitions", ".tally"],
  ["definition", "/definitions/order", ".diagram .badge"],
  ["instances", "/instances", ".instances"],
  ["instance completed", `/instances/${ids.hello}`, ".diagram .mark-done"],
  ["instance failed", `/instances/${ids.failed}`, ".diagram .mark-failed"],
  ["instance waiting", `/instances/${ids.approval}`, ".diagram .mark-waiting", ".why"],
  ["schedules", "/schedules", ".empty-state"],
  ["events", "/events", ".events"],
  ["board", "/board/team.board", "[data-card]"],
  ["nodes", "/nodes", "meter"],
  ["playground", "/playground?example=order", ".cm-content", ".diagram [role=button]"],
  ["definition source", "/definitions/order?tab=source", ".cm-content"],
  ["nothing here", "/nowhere"],
];

/** Waits until a page has said all that it says by itself. */
async function settled(page, ...what) {
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByRole("heading", { level: 1 }).waitFor();
  for (const part of what) await page.locator("main").locator(part).first().waitFor();
  await until("everything to be loaded", () => page.evaluate(() => !document.querySelector("main")?.textContent.includes("Loading")));
  await page.waitForLoadState("load");
}

/** Waits until the heading of a page that was gone to has the focus. */
const arrived = (page, name) =>
  until(`the heading ${name} to have the focus`, () => page.evaluate((name) => document.activeElement?.tagName === "H1" && document.activeElement.textContent === name, name));

for (const dark of [false, true]) {
  test(`axe finds nothing serious on any page, ${dark ? "dark" : "light"}`, async (t) => {
    const page = await openPage(t, server, "/", { dark });
    const wrong = [];
    for (const [name, path, ...what] of places()) {
      await page.goto(server.url + path);
      await settled(page, ...what);
      await shot(page, `page ${name}${dark ? " dark" : ""}`);
      await accessible(page, name).catch((e) => wrong.push(e.message));
    }
    assert.deepEqual(wrong, []);
  });
}

test("every page fits a narrow window, and keeps still for those who want that", async (t) => {
  const page = await openPage(t, server, "/", { width: 900, still: true });
  const wrong = [];
  for (const [name, path, ...what] of places()) {
    await page.goto(server.url + path);
    await settled(page, ...what);
    await shot(page, `page ${name} 900`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) wrong.push(`${name}: ${over} pixels too wide`);
    await page.setViewportSize({ width: 390, height: 844 });
    const overPhone = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (overPhone > 0) wrong.push(`${name}: ${overPhone} pixels too wide for a phone`);
    await page.setViewportSize({ width: 900, height: 900 });
    const moving = await page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running" && a.effect?.getTiming().duration !== 0).length);
    if (moving > 0) wrong.push(`${name}: ${moving} things move`);
  }
  assert.deepEqual(wrong, []);
});

test("from home to an instance and back by keyboard", async (t) => {
  const page = await openPage(t, server, "/");
  await settled(page);
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the content");
  const tabTo = async (wanted) => {
    for (let i = 0; i < 60; i++) {
      if ((await focused()) === wanted) {
        const outlined = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none");
        assert.ok(outlined, `${wanted}: the focus is visible`);
        return;
      }
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${wanted}`);
  };
  await tabTo("Instances");
  await page.keyboard.press("Enter");
  await arrived(page, "Instances");
  const row = page.locator(`a[href^="/instances/${ids.hello}"]`).first();
  await row.waitFor();
  const at = () => page.evaluate(() => document.activeElement?.getAttribute("href") ?? "");
  for (let i = 0; i < 80 && !(await at()).startsWith(`/instances/${ids.hello}`); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/instances/${ids.hello}*`);
  await settled(page);
  await page.goBack(); // the browser's own shortcut is not the page's to test
  await page.getByRole("heading", { level: 1, name: "Instances" }).waitFor();
});

test("the link over the header leads into the content", async (t) => {
  const page = await openPage(t, server, "/instances?q=status%3Acompleted");
  await settled(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until("the content to have the focus", () => page.evaluate(() => document.activeElement?.id === "main"));
  assert.equal(page.url(), server.url + "/instances?q=status%3Acompleted");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.querySelector("main").contains(document.activeElement)), "Tab goes on inside");
});

test("the heading of the page that a link leads to gets the focus", async (t) => {
  const page = await openPage(t, server, "/");
  await settled(page);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Nodes" }).click();
  await arrived(page, "Nodes");
});

test("an address that is none of the page's says so", async (t) => {
  const page = await openPage(t, server, "/");
  for (const path of ["//", "//x", "//x/y?q=1", "/instances//x", "/nodes/x", "/definitions/hello/more", `/instances/${ids.hello}/history`]) {
    await page.goto(server.url + path);
    await page.getByRole("heading", { level: 1, name: "There is nothing here" }).waitFor();
  }
  await page.getByRole("link", { name: "Go home" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await page.goto(server.url + "/instances/");
  await page.getByRole("heading", { level: 1, name: "Instances" }).waitFor();
});

const asBrowsers = { headers: { Accept: "text/html,*/*;q=0.8" } }; // others are not shown the page

test("the first load has at most 200 KB, and comes from this server alone", async (t) => {
  const page = await openPage(t, server, "/nowhere"); // what comes from others fails every test
  const files = new Set();
  page.on("response", (r) => new URL(r.url()).pathname.startsWith("/api/") || files.add(r.url()));
  await page.goto(server.url + "/");
  await settled(page);
  const sizes = {};
  for (const file of files) sizes[file] = gzipSync(Buffer.from(await (await fetch(file, asBrowsers)).arrayBuffer())).length;
  assert.ok(Object.keys(sizes).some((f) => f.endsWith(".js")), "a script was loaded");
  const total = Object.values(sizes).reduce((a, b) => a + b, 0);
  assert.ok(total <= 200 * 1024, `the first load has ${total} bytes: ${JSON.stringify(sizes)}`);
  // What few need at once comes when it is shown.
  const first = (await (await fetch(server.url + "/", asBrowsers)).text()).match(/\/assets\/[^"]+\.js/g);
  assert.equal(first.length, 1, `the document loads ${first}`);
  const script = await (await fetch(server.url + first[0], asBrowsers)).text();
  for (const part of ["home-chart", "editor", "playground"]) {
    assert.match(script, new RegExp(`import\\([^)]*/${part}-[\\w-]+\\.js`), `${part} is loaded when it is shown`);
  }
});

test("the policy is strict and holds for every file", async () => {
  const document = await (await fetch(server.url + "/", asBrowsers)).text();
  const assets = document.match(/\/assets\/[^"]+/g);
  assert.ok(assets.length >= 2, document);
  for (const path of ["/", "/instances/x", ...assets]) {
    const r = await fetch(server.url + path, asBrowsers);
    assert.equal(r.status, 200, path);
    const policy = r.headers.get("Content-Security-Policy");
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(;|$)/);
    assert.match(policy, /style-src 'self'(;|$)/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal(r.headers.get("X-Content-Type-Options"), "nosniff");
  }
  assert.doesNotMatch(document, /<style|<script(?![^>]*src=)|\son\w+=|\sstyle=/);
});

test("statuses are told apart without colour: by their words, by their shapes, and in forced colours", async (t) => {
  const begun = async (verb) => {
    const { id } = await server.begin("approval", { request: verb });
    await server.reach(id, "waiting");
    assert.equal((await server.api("POST", `/api/v1/instances/${id}/${verb}`, {})).status, 200);
  };
  for (const verb of ["pause", "cancel", "terminate"]) await begun(verb);
  const page = await openPage(t, server, "/instances");
  const statuses = ["completed", "failed", "waiting", "paused", "cancelled", "terminated"];
  const mark = (status) => page.locator(`tbody .status.${status}`).first();
  for (const status of statuses) assert.equal((await mark(status).innerText()).trim(), status);

  /** Which pixels of the mark before a status are drawn: it has these and no colours. */
  const shapeOf = async (status) => {
    const picture = await mark(status).locator("svg").screenshot();
    return page.evaluate(async (png) => {
      const image = new Image();
      image.src = "data:image/png;base64," + png;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [12, 12];
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0, 12, 12);
      const { data } = context.getImageData(0, 0, 12, 12);
      const light = Array.from({ length: 144 }, (_, i) => (data[4 * i] + data[4 * i + 1] + data[4 * i + 2]) / 3);
      return light.map((l) => (Math.abs(l - light[0]) > 60 ? "#" : ".")).join(""); // the corner is empty
    }, picture.toString("base64"));
  };
  const devtools = await page.context().newCDPSession(page);
  for (const seen of ["without colour", "in forced colours"]) {
    if (seen === "without colour") await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: "achromatopsia" });
    else {
      await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
      await page.emulateMedia({ forcedColors: "active" });
    }
    const shapes = {};
    for (const status of statuses) shapes[status] = await shapeOf(status);
    for (const [status, shape] of Object.entries(shapes)) assert.ok(shape.split("#").length > 6, `${status} is drawn ${seen}: ${shape}`);
    for (const a of statuses) for (const b of statuses) if (a < b) assert.ok([...shapes[a]].filter((pixel, i) => pixel !== shapes[b][i]).length > 4, `${a} and ${b} are alike ${seen}`);
    await shot(page, `instances ${seen}`);
  }
});
