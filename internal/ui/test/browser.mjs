// The browser that the page is tested in.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

/** How long something may take before it counts as not happening. The machine may be busy. */
export const patience = Number(process.env.PAGE_PATIENCE ?? 60_000);

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts Chromium: as a server that several processes use, or for this one alone. */
export function launch({ server = false } = {}) {
  const executablePath = process.env.CHROMIUM ?? places.find(existsSync);
  if (!executablePath) throw new Error("no Chromium; install it, or say where it is with CHROMIUM=/path");
  const options = {
    executablePath,
    timeout: patience,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  };
  return server ? chromium.launchServer(options) : chromium.launch(options);
}

let connected;

/** The browser of the run, or one of this process's own. */
export function theBrowser() {
  const at = process.env.PAGE_BROWSER;
  connected ??= at ? chromium.connect(at) : launch();
  return connected;
}

/** Lets go of the browser. */
export async function release() {
  if (connected) await (await connected).close();
  connected = undefined;
}
