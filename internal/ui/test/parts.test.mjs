// What the page makes of times, numbers and names: pure functions, without a server.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createServer } from "vite";
import { root } from "./harness.mjs";

let vite, number, brief, bytes, span, passing, instant, clock, day, scaleOf, ticksOf, whole, seenAt, placeOf, offsetOf, titleOf;
before(async () => {
  // The clock of the page and the channel between its tabs never end; the test does.
  const { setInterval: every, BroadcastChannel: Channel } = globalThis;
  globalThis.setInterval = (...args) => every(...args).unref();
  globalThis.BroadcastChannel = class extends Channel {
    constructor(name) {
      super(name);
      this.unref();
    }
  };
  vite = await createServer({ root: join(root, "internal", "ui"), configFile: false, logLevel: "error", server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", optimizeDeps: { noDiscovery: true } });
  ({ number, brief, bytes, span, passing, instant, clock, day, offsetOf } = await vite.ssrLoadModule("/src/parts/format.ts"));
  ({ titleOf } = await vite.ssrLoadModule("/src/parts/name.tsx"));
  ({ scaleOf, ticksOf, whole, seenAt, placeOf } = await vite.ssrLoadModule("/src/pages/instance-scale.ts"));
});
after(() => vite.close());

test("numbers are written in one way, whatever the browser's language", () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(number), ["0", "999", "1,000", "1,234,567"]);
  assert.deepEqual([9999, 12345, 3_400_000].map(brief), ["9,999", "12.3K", "3.4M"]);
  assert.deepEqual([0, 999, 1000, 1536, 5 * 2 ** 20, 300 * 2 ** 30].map(bytes), ["0 B", "999 B", "1.0 KiB", "1.5 KiB", "5.0 MiB", "300 GiB"]);
});

test("an instant and a time of day have one form each", () => {
  const at = new Date(2026, 0, 31, 9, 5, 7, 42).getTime();
  assert.match(instant(at), /2026/);
  assert.match(instant(at), /09:05:07$/, "24 hours, to the second");
  assert.deepEqual(["minute", "second", "milli"].map((to) => clock(at, to)), ["09:05", "09:05:07", "09:05:07.042"]);
  assert.match(day(at, "weekday and date"), /Sat.*31|31.*Sat/);
});

test("only one module decides how numbers and times are written", () => {
  const sources = join(root, "internal", "ui", "src");
  const others = readdirSync(sources, { recursive: true }).filter((name) => /\.tsx?$/.test(name) && name !== join("parts", "format.ts"));
  assert.deepEqual(others.filter((name) => /toLocale\w*String|Intl\.(?!DateTimeFormat\(\)\.resolvedOptions)/.test(readFileSync(join(sources, name), "utf8"))), []);
});

test("durations: to a tenth of a second under ten, then in two units", () => {
  const told = { 0.4: "< 1 ms", 1: "1 ms", 999: "999 ms", 1000: "1s", 1249: "1.2s", 1250: "1.2s", 9999: "9.9s", 10_900: "10s", 60_000: "1m", 90_500: "1m 30s", 3_660_000: "1h 1m", 2_700_000: "45m", 90_000_000: "1d 1h" };
  for (const [ms, text] of Object.entries(told)) assert.equal(span(Number(ms)), text, `${ms} ms`);
  assert.equal(passing(1999), "1s", "what still runs is told in whole seconds");
});

test("labels of the timeline neither meet each other nor the end of the axis's part", () => {
  for (const lasting of [7, 90, 1234, 61_000, 3_700_000, 86_400_000 * 3]) {
    for (const count of [3, 6, 12]) {
      const scale = scaleOf(0, lasting, [], [], false);
      const ticks = ticksOf(scale, whole, 0, count);
      assert.ok(ticks.length > 0 && ticks.length <= count + 1, `${lasting} ms: ${ticks.length} marks for ${count}`);
      const places = ticks.map((t) => seenAt(whole, placeOf(scale, t)));
      for (let i = 1; i < places.length; i++) assert.ok(places[i] - places[i - 1] >= 100 / count - 1e-6, `${lasting} ms: marks at ${places}`);
      const labels = ticks.map((t) => offsetOf(t, ticks.length > 1 ? ticks[1] - ticks[0] : lasting));
      assert.equal(new Set(labels).size, labels.length, `${lasting} ms: ${labels}`);
    }
  }
  // Before a fold of idle time a label has room, or is not there.
  const folded = scaleOf(0, 1_000_000, [10, 400, 800, 999_900, 1_000_000], [], true);
  const i = folded.findIndex((p) => p.folded);
  assert.ok(i > 0, "the idle time is folded");
  const end = folded[i].at;
  for (const t of ticksOf(folded, whole, 0, 8)) {
    const at = placeOf(folded, t);
    assert.ok(at >= end || at + 0.5 / 8 <= end + 1e-9, `the label at ${t} runs into the fold`);
  }
});

test("an instance without a name is called what it is a run of", () => {
  const made = "01j9zk3v8q6m5n7p2r4s6t8v0w";
  const row = { id: made, definition: { id: "greet" } };
  assert.equal(titleOf(row), "greet");
  assert.equal(titleOf({ ...row, key: "A-1038" }), "A-1038");
  assert.equal(titleOf({ ...row, key: "A-1038", name: "The order" }), "The order");
  assert.equal(titleOf({ ...row, id: "order-7" }), "order-7", "an id that someone chose is a name");
});
