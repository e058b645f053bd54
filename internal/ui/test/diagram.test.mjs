// The viewer of diagrams: what is seen at first, moving about, the trail of an instance, and
// workflows inside of others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { many } from "./gallery-data.mjs";
import { openPage, shot, startServer, until } from "./harness.mjs";

/** A definition of many states that an instance goes through at once, up to those that wait for an answer. */
function walk(n, calls) {
  const name = (i) => "Step" + String(i).padStart(3, "0");
  const states = Array.from({ length: n }, (_, i) => ({
    name: name(i),
    ...(i < n - calls ? { type: "inject", data: { at: i } } : { type: "operation", actions: [{ functionRef: { refName: "work" } }] }),
    ...(i === 0 && { start: { kind: "default" } }),
    ...(i === n - 1 ? { end: { kind: "default" } } : { transition: { nextState: name(i + 1) } }),
  }));
  return JSON.stringify({ id: "walk", version: "1.0", name: "Of the tests", functions: [{ name: "work" }], states });
}

const trip = `id: trip
version: "1.0"
name: Of the tests
functions: [{name: book}, {name: cancel}]
retries: [{name: often, maxAttempts: 3, delay: PT0.01S}]
states:
- {name: Flight, type: operation, start: {kind: default}, compensatedBy: CancelFlight, actions: [{functionRef: {refName: book}}], transition: {nextState: Hotel}}
- {name: CancelFlight, type: operation, usedForCompensation: true, actions: [{functionRef: {refName: cancel}}]}
- {name: Hotel, type: operation, compensatedBy: CancelHotel, actions: [{functionRef: {refName: book}}], onErrors: [{error: "*", retryRef: often, transition: {nextState: GiveUp, compensateBefore: true}}], transition: {nextState: Insure}}
- {name: CancelHotel, type: operation, usedForCompensation: true, actions: [{functionRef: {refName: cancel}}]}
- {name: Insure, type: subflow, workflowId: insurance, waitForCompletion: true, onErrors: [{error: "*", transition: {nextState: GiveUp, compensateBefore: true}}], transition: {nextState: Tell}}
- {name: Tell, type: inject, data: {told: true}, end: {kind: default}}
- {name: GiveUp, type: inject, data: {gone: true}, end: {kind: default}}
`;
const insurance = `id: insurance
version: "1.0"
name: Of the tests
functions: [{name: quote}, {name: pay}]
states:
- {name: Quote, type: operation, start: {kind: default}, actions: [{functionRef: {refName: quote}}], transition: {nextState: Pay}}
- {name: Pay, type: operation, actions: [{functionRef: {refName: pay}}], end: {kind: default}}
`;

const report = `id: report
version: "1.0"
name: Of the tests
events: [{name: Written, type: report.written, source: test, kind: produced}, {name: Read, type: report.read, source: test, kind: consumed}]
states:
- {name: Write, type: inject, start: {kind: default}, data: {written: true}, transition: {nextState: Wait, produceEvents: [{eventRef: Written}]}}
- {name: Wait, type: event, onEvents: [{eventRefs: [Read]}], end: {kind: default}}
`;

let server;
before(async () => (server = await startServer({ files: { "many.json": many("many", 40), "huge.json": many("huge", 1000), "walk.json": walk(1000, 3), "trip.yaml": trip, "insurance.yaml": insurance, "report.yaml": report } })));
after(() => server.stop());

async function answer(name, body) {
  const call = await until(`a call of ${name}`, async () => (await server.api("GET", "/api/v1/calls?parked=true")).body.items.find((c) => c.function === name));
  const r = await server.api("POST", `/api/v1/instances/${encodeURIComponent(call.instance)}/calls/${call.ticket}`, body);
  assert.equal(r.status, 200, JSON.stringify(r.body));
}

const state = (page, name) => page.locator(`[data-state="${name}"]`);
const frameOf = (page) => page.locator(".canvas:not([hidden]) .frame");

/** Waits until a state is within what is seen. */
const seen = (page, name) =>
  until(`${name} to be in sight`, async () => {
    const [box, frame] = [await state(page, name).locator(".ls-box").boundingBox(), await frameOf(page).boundingBox()];
    return box && frame && box.x >= frame.x && box.y >= frame.y && box.x + box.width <= frame.x + frame.width && box.y + box.height <= frame.y + frame.height && box;
  });

const percent = async (page) => Number.parseInt(await page.locator(".canvas:not([hidden]) .percent").innerText());

test("a large diagram begins where it failed, and is moved by mouse and keys", async (t) => {
  const { id } = await server.begin("many");
  for (const body of [{ result: {} }, { result: {} }, { error: { name: "Boom" } }]) await answer("work", body);
  await server.reach(id, "failed");
  const page = await openPage(t, server, "/instances/" + id);
  await page.getByRole("button", { name: "Step020, failed", exact: true }).waitFor();
  const at = await seen(page, "Step020");
  assert.ok((await percent(page)) >= 70, "it can be read");
  assert.ok((await frameOf(page).boundingBox()).height <= 720);
  await accessible(page, "a diagram");

  // The path: the states and the ways between them, and not those that were not taken.
  const way = (from, to) => page.locator(`.ls-edge[data-from="${from}"][data-to="${to}"]`);
  assert.match(await way("Step013", "Step014").getAttribute("class"), /taken/);
  assert.match(await way("Step019", "Step020").getAttribute("class"), /taken/);
  assert.doesNotMatch(await way("Step013", "Step016").getAttribute("class"), /taken/);
  assert.doesNotMatch(await way("Step020", "Step021").getAttribute("class"), /taken/);

  // The mouse drags it, which selects nothing; the wheel moves it; with Ctrl it zooms.
  const frame = await frameOf(page).boundingBox();
  await page.mouse.move(frame.x + 40, frame.y + 60);
  await page.mouse.down();
  await page.mouse.move(frame.x + 40, frame.y + 120, { steps: 4 });
  await page.mouse.up();
  assert.ok(Math.abs((await state(page, "Step020").locator(".ls-box").boundingBox()).y - at.y - 60) < 3);
  await page.mouse.wheel(0, 100);
  await until("the wheel to move it", async () => (await state(page, "Step020").locator(".ls-box").boundingBox()).y < at.y);
  const before = await percent(page);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await until("the wheel to zoom", async () => (await percent(page)) > before);

  // A click on the map shows that place.
  await page.locator(".map").scrollIntoViewIfNeeded();
  const map = await page.locator(".map").boundingBox();
  for (const name of ["Step039", "Step000"]) {
    const [box, all] = [await state(page, name).locator(".ls-box").boundingBox(), await page.locator(".frame svg > g").first().boundingBox()];
    const part = (start, length, from, size) => Math.min(0.98, Math.max(0.02, (start + length / 2 - from) / size));
    await page.mouse.click(map.x + map.width * part(box.x, box.width, all.x, all.width), map.y + map.height * part(box.y, box.height, all.y, all.height));
    await seen(page, name);
  }

  // Keys: of the frame, and from state to state.
  await frameOf(page).focus();
  await page.keyboard.press("0");
  const least = await percent(page);
  assert.ok(least < before);
  await page.keyboard.press("+");
  assert.ok((await percent(page)) > least);
  await state(page, "Step020").focus();
  await page.keyboard.press("ArrowDown");
  await until("the next state to have the focus", () => state(page, "Step021").evaluate((g) => g === document.activeElement));
  await seen(page, "Step021");
  await page.getByRole("tooltip").getByText("→ Step022").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Step021" }).waitFor();

  await page.getByRole("combobox", { name: "Find a state" }).fill("p03");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await seen(page, "Step031");

  await page.getByRole("button", { name: "Full screen" }).click();
  await until("it to fill the screen", async () => (await page.locator(".diagram").boundingBox()).height >= 880);
  await shot(page, "diagram-full-screen");
  await page.getByRole("button", { name: "Full screen" }).click();
  await until("it to be in the page again", async () => (await frameOf(page).boundingBox()).height <= 720);
});

test("undone states, attempts, and the workflow inside", async (t) => {
  const { id } = await server.begin("trip");
  const busy = { error: { name: "Busy" } };
  for (const [name, body] of [
    ["book", { result: { flight: "LH1" } }],
    ["book", busy],
    ["book", busy],
    ["book", { result: { hotel: "Ritz" } }],
    ["quote", { result: {} }],
    ["pay", { error: { name: "Declined" } }],
    ["cancel", { result: {} }],
    ["cancel", { result: {} }],
  ])
    await answer(name, body);
  await server.reach(id, "completed");
  const page = await openPage(t, server, "/instances/" + id, { height: 1100 });
  for (const says of ["Flight, undone", "Hotel, undone, attempt 3", "CancelHotel, done", "Insure, caught", "GiveUp, done", "Tell"]) await page.getByRole("button", { name: says, exact: true }).waitFor();
  const taken = await page.locator(".ls-edge.taken").evaluateAll((all) => all.map((g) => `${g.dataset.from ?? ""}>${g.dataset.to ?? ""}`));
  assert.deepEqual(taken.sort(), [">Flight", "Flight>CancelFlight", "Flight>Hotel", "GiveUp>", "Hotel>CancelHotel", "Hotel>Insure", "Insure>GiveUp"].sort());
  await shot(page, "diagram-undone");

  // What is pointed at is told: data of a state, the whole text of a line.
  await state(page, "Hotel").hover();
  await page.getByRole("tooltip").getByText('{"flight":"LH1","hotel":"Ritz"}').waitFor();
  await page.locator('.ls-edge[data-from="Hotel"][data-to="GiveUp"] .ls-label').first().hover();
  await page.getByRole("tooltip").getByText("any error, after 3 retries, undo first").waitFor();
  await page.getByRole("tooltip").getByText("not taken").waitFor();
  assert.equal(await page.getByRole("tooltip").locator(".fact").count(), 0);
  const point = async (from, to) => {
    // In the middle of a line, where nothing lies over it.
    const at = await page.locator(`.ls-edge[data-from="${from}"][data-to="${to}"] path`).first().evaluate((path) => {
      const p = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
      return { x: p.x, y: p.y };
    });
    await page.mouse.move(at.x, at.y);
  };
  await point("Flight", "Hotel");
  await page.getByRole("tooltip").getByText("taken once").waitFor();
  await page.getByRole("tooltip").getByText('Data {"flight":"LH1"}').waitFor();
  await point("Insure", "GiveUp");
  await page.getByRole("tooltip").getByText(/^Error /).waitFor();

  // The workflow inside, as its instance stands, and back.
  await page.getByRole("button", { name: "Open the diagram of insurance, which Insure runs" }).click();
  await page.getByRole("img", { name: "Pay, failed" }).waitFor();
  assert.match(await page.locator('.level .ls-edge[data-from="Quote"]').getAttribute("class"), /taken/);
  await page.getByRole("link", { name: id + ":4.1" }).waitFor();
  await accessible(page, "a workflow inside");
  await page.getByRole("button", { name: "‹ Back" }).click();
  await page.getByRole("button", { name: "Flight, undone" }).waitFor();
  assert.equal(await page.locator(".level").count(), 0);

  const small = await openPage(t, server, "/definitions/trip", { width: 390, height: 844, dark: true });
  await small.getByRole("button", { name: "Insure", exact: true }).waitFor();
  assert.equal(await small.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.ok(await small.locator(".tabs").evaluate((e) => e.scrollWidth <= e.clientWidth), "every tab is there");
  await state(small, "Insure").focus();
  await small.keyboard.press("o"); // of a definition, its diagram
  await small.getByRole("img", { name: "Quote", exact: true }).waitFor();
  await shot(small, "diagram-small");
});

test("the event of a way out belongs to the visit that it ends", async (t) => {
  const { id } = await server.begin("report");
  await server.reach(id, "waiting");
  const page = await openPage(t, server, "/instances/" + id);
  await page.getByRole("button", { name: "Wait, waiting", exact: true }).waitFor();
  await page.getByRole("button", { name: "Write, done", exact: true }).waitFor();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByRole("button", { name: /^Event Written event sent: sent at/ }).waitFor();
  assert.equal(await timeline.getByRole("button", { name: /^State Write: / }).count(), 1);

  // Nothing here took it, which is no concern: it may be for others.
  await page.goto(server.url + "/events");
  const row = page.getByRole("row", { name: /^report\.written / });
  assert.equal(await row.locator(".status").getAttribute("class"), "status", "no colour of its own");
  assert.equal((await row.locator(".status").innerText()).trim(), "produced");
  await page.getByLabel("Unmatched only").check();
  await page.getByText("No event matches the filter.").waitFor();
  assert.equal(await page.getByRole("region", { name: /^Unmatched/ }).count(), 0);
});

test("texts stay in their boxes in a wide font", async (t) => {
  const page = await openPage(t, server, "/definitions/trip");
  await page.getByRole("button", { name: "Insure", exact: true }).waitFor();
  const outside = () =>
    page.evaluate(() => {
      const out = [];
      const inside = (text, box) => {
        const [a, b] = [text.getBBox(), box.getBBox()];
        if (a.x < b.x - 0.5 || a.x + a.width > b.x + b.width + 0.5) out.push(text.textContent);
      };
      document.querySelector(".frame svg").setAttribute("font-family", "monospace");
      for (const g of document.querySelectorAll(".frame .ls-node")) for (const text of g.querySelectorAll("text[class^=ls-]")) inside(text, g.querySelector(".ls-box"));
      for (const g of document.querySelectorAll(".frame .ls-edge")) for (const text of g.querySelectorAll("text.ls-label")) inside(text, g.querySelector(".ls-pill"));
      return out;
    });
  assert.deepEqual(await outside(), []);
  // Without what keeps them in, the font is wide enough for this to mean something.
  await page.evaluate(() => document.querySelectorAll(".frame text").forEach((text) => text.removeAttribute("textLength")));
  assert.notDeepEqual(await outside(), []);
});

test("a thousand states: the frame stays small, and moving it touches no state", async (t) => {
  const page = await openPage(t, server, "/definitions/huge");
  await page.getByRole("button", { name: "Step999", exact: true }).waitFor({ state: "attached" });
  await seen(page, "Step000");
  assert.ok((await frameOf(page).boundingBox()).height <= 720);
  assert.ok((await page.locator(".map *").count()) < 10, "the map has no element for each state");
  await page.evaluate(() => {
    globalThis.touched = [];
    const svg = document.querySelector(".frame svg");
    new MutationObserver((all) => globalThis.touched.push(...all.filter((m) => m.target !== svg).map((m) => m.target.nodeName))).observe(svg, { subtree: true, attributes: true, childList: true });
  });
  const frame = await frameOf(page).boundingBox();
  await page.mouse.move(frame.x + 20, frame.y + 100);
  const start = await state(page, "Step000").locator(".ls-box").boundingBox();
  for (let i = 0; i < 10; i++) await page.mouse.wheel(0, 50);
  await until("it to have moved", async () => (await state(page, "Step000").locator(".ls-box").boundingBox()).y < start.y - 400);
  await page.getByRole("button", { name: "Zoom in" }).click();
  assert.deepEqual(await page.evaluate(() => globalThis.touched), []);
  await page.getByRole("combobox", { name: "Find a state" }).fill("step777");
  await page.keyboard.press("Enter");
  await seen(page, "Step777");
  // All of it is seen at once, and from there a state is a few steps away.
  await frameOf(page).focus();
  await page.keyboard.press("0");
  for (const name of ["Step000", "Step500", "Step999"]) await seen(page, name);
  for (let i = 0; i < 12 && (await percent(page)) < 70; i++) await page.keyboard.press("+");
  assert.ok((await percent(page)) >= 70);
});

test("an instance with a thousand visited states: a change touches only the states that it is about", async (t) => {
  const { id } = await server.begin("walk");
  const page = await openPage(t, server, "/instances/" + id);
  await page.getByRole("button", { name: "Step997, waiting", exact: true }).waitFor();
  await seen(page, "Step997");
  await page.getByRole("button", { name: "Step000, done", exact: true }).waitFor({ state: "attached" });
  assert.equal(await page.locator(".frame .visited").count(), 998);
  // An element that is not opaque has a layer of its own: with a thousand of them each picture takes half a second.
  const layers = await page.locator(".frame svg g").evaluateAll((all) => all.filter((g) => getComputedStyle(g).opacity !== "1" || getComputedStyle(g).filter !== "none").length);
  assert.equal(layers, 0);
  assert.equal(await page.locator(".frame .ls-edge.taken").count(), 998);
  await page.evaluate(() => {
    globalThis.touched = new Set();
    const watch = new MutationObserver((all) => {
      for (const m of all) globalThis.touched.add(m.target.closest("[data-state]")?.dataset.state ?? m.target.closest(".ls-edge")?.dataset.from);
    });
    watch.observe(document.querySelector(".frame svg > g"), { subtree: true, attributes: true, childList: true });
  });
  await answer("work", { result: {} });
  await page.getByRole("button", { name: "Step998, waiting", exact: true }).waitFor();
  await answer("work", { result: {} });
  await page.getByRole("button", { name: "Step998, done", exact: true }).waitFor();
  assert.deepEqual((await page.evaluate(() => [...globalThis.touched])).sort(), ["Step997", "Step998", "Step999"]);
});
