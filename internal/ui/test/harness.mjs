// What tests of the page share: a server of the real binary, a page in a real browser, and
// ways to wait for something instead of for a time.
//
//   import { after, before, test } from "node:test";
//   import { openPage, shot, startServer } from "./harness.mjs";
//
//   let server;
//   before(async () => (server = await startServer({ examples: ["hello.yaml"] })));
//   after(() => server.stop());
//   test("home", async (t) => {
//     const page = await openPage(t, server, "/");
//     await page.getByRole("heading", { name: "…" }).waitFor();
//     await shot(page, "home");
//   });
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { patience, release, theBrowser } from "./browser.mjs";

export const root = join(import.meta.dirname, "..", "..", "..");
const screenshots = join(import.meta.dirname, "screenshots");

/** The binary under test: LOCKSTEP_BIN, or one built here. */
export const binary = (() => {
  let built = process.env.LOCKSTEP_BIN;
  return () => {
    if (!built) {
      built = join(root, "bin", "lockstep-page");
      execFileSync("go", ["build", "-o", built, "./cmd/lockstep"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    }
    return built;
  };
})();

const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
after(release);

/**
 * Starts `lockstep dev` in a folder of its own, with a store of its own.
 * examples: files of examples/ to serve; files: {name: text}; args: more flags.
 */
export async function startServer({ examples = [], files = {}, args = [] } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "lockstep-page-"));
  const definitions = join(dir, "definitions");
  mkdirSync(definitions);
  for (const name of examples) {
    mkdirSync(dirname(join(definitions, name)), { recursive: true });
    cpSync(join(root, "examples", name), join(definitions, name), { recursive: true });
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(definitions, name), text);
  const server = new Server(dir, definitions, args);
  await server.start();
  return server;
}

/** A server process; url stays the same when it is started again. */
class Server {
  #child;
  #args;
  #at = { north: "127.0.0.1:0", south: "127.0.0.1:0" };
  log = "";

  constructor(dir, definitions, args) {
    this.dir = dir;
    this.definitions = definitions;
    this.#args = args;
  }

  async start() {
    const north = join(this.dir, "north");
    const south = join(this.dir, "south");
    rmSync(north, { force: true });
    rmSync(south, { force: true });
    const store = "sqlite:" + join(this.dir, "store.db");
    const child = spawn(
      binary(),
      ["dev", this.definitions, "--store", store, "--north", this.#at.north, "--south", this.#at.south, "--addr-file", north, "--south-addr-file", south, ...this.#args],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    this.#child = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (this.log += text));
    await until("the server to start", async () => {
      assert.equal(child.exitCode ?? child.signalCode, null, `the server ended: ${this.log}`);
      if (!existsSync(north) || !existsSync(south)) return false;
      this.#at = { north: readFileSync(north, "utf8").trim(), south: readFileSync(south, "utf8").trim() };
      this.url = "http://" + this.#at.north;
      this.south = "http://" + this.#at.south;
      return (await fetch(this.url + "/readyz")).ok;
    });
  }

  /** Ends the process at once, as a power cut does. */
  async kill(signal = "SIGKILL") {
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, "exit");
    }
  }

  /** Ends the server and removes what it kept. */
  async stop() {
    await this.kill("SIGTERM");
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Asks the API; the answer is {status, headers, body}. */
  async api(method, path, body, headers = {}) {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const type = typeof body === "string" ? "application/yaml" : "application/json";
    const r = await fetch(this.url + path, { method, body: text, headers: text === undefined ? headers : { "Content-Type": type, ...headers } });
    const answer = await r.text();
    const json = (r.headers.get("Content-Type") ?? "").includes("json");
    return { status: r.status, headers: r.headers, body: json && answer ? JSON.parse(answer) : answer };
  }

  /** Deploys a definition. */
  async deploy(text) {
    const r = await this.api("POST", "/api/v1/definitions", text);
    assert.ok(r.status < 300, `deploy: ${r.status} ${JSON.stringify(r.body)}`);
    return r.body;
  }

  /** Starts an instance and gives it. */
  async begin(definition, input = {}) {
    const r = await this.api("POST", `/api/v1/definitions/${definition}/instances`, input);
    assert.ok(r.status < 300, `start: ${r.status} ${JSON.stringify(r.body)}`);
    return r.body;
  }

  /** Waits until an instance has a status. */
  reach(id, status) {
    return until(`instance ${id} to be ${status}`, async () => {
      const r = await this.api("GET", `/api/v1/instances/${id}`);
      return r.body.status === status && r.body;
    });
  }
}

/** Waits until something is so. What fails meanwhile is told when the patience is over. */
export async function until(what, check) {
  const end = Date.now() + patience;
  for (let last; ; ) {
    try {
      const got = await check();
      if (got) return got;
      last = undefined;
    } catch (e) {
      if (e instanceof assert.AssertionError) throw e;
      last = e;
    }
    if (Date.now() > end) throw new Error(`waited in vain for ${what}${last ? ": " + last.message : ""}`, { cause: last });
    await new Promise((go) => setTimeout(go, 20)); // between two looks
  }
}

/**
 * Opens a page in a context of its own, which ends with the test. The test fails if the
 * page throws, complains, breaks its policy, or asks any other server for anything.
 */
export async function openPage(t, server, path = "/", { dark = false, width = 1280, height = 900, still = true, context } = {}) {
  const own = context ? null : await makeContext({ dark, width, height, still });
  const page = await (context ?? own).newPage();
  page.setDefaultTimeout(patience);
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(`error: ${e.stack ?? e.message}`));
  page.on("console", (m) => {
    // A refused request is the page's to show; everything else is a mistake.
    if (m.type() === "error" && !m.text().startsWith("Failed to load resource")) wrong.push(`console: ${m.text()}`);
  });
  page.on("request", (r) => {
    const url = new URL(r.url());
    if (!["data:", "blob:"].includes(url.protocol) && url.origin !== server.url) wrong.push(`external request: ${r.url()}`);
  });
  t.after(async () => {
    if (!page.isClosed()) await shot(page, "end of " + t.name.replace(/[^\w ]+/g, "")).catch(() => {}); // it may hang, which the test tells
    await own?.close();
    assert.deepEqual(wrong, [], "the page must not complain");
  });
  await page.goto(server.url + path);
  return page;
}

/** A browser context; pages of one share their storage, as the tabs of one person do. */
export async function newContext(t, options) {
  const context = await makeContext(options);
  t.after(() => context.close());
  return context;
}

async function makeContext({ dark = false, width = 1280, height = 900, still = true } = {}) {
  const browser = await theBrowser();
  return browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: still ? "reduce" : "no-preference",
    locale: "en-GB",
    timezoneId: "UTC",
  });
}

/** Keeps a picture of the whole page, for people to look at. */
export async function shot(page, name) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, name + ".png"), fullPage: true });
}

/** The editor of a name. */
export const editor = (page, name) => page.getByRole("textbox", { name, exact: true });

/** What an editor holds, as far as it is drawn. */
export const written = (box) => box.evaluate((e) => e.innerText);

/** Replaces what an editor holds. */
export async function rewrite(box, text) {
  await box.click();
  await box.page().keyboard.press("ControlOrMeta+a");
  await box.page().keyboard.press("Delete"); // Chromium would give what replaces coloured text a style, which the policy forbids
  await box.page().keyboard.insertText(text);
}
