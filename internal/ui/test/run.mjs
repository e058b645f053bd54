// Runs the tests of the page and tells of each on a line of JSON. One browser serves them
// all; each file has a process and a server of its own.
//
//   node test/run.mjs [part of a file's name]
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "node:test";
import { launch } from "./browser.mjs";

const here = import.meta.dirname;
const files = readdirSync(here)
  .filter((name) => name.endsWith(".test.mjs") && name.includes(process.argv[2] ?? ""))
  .sort()
  .map((name) => join(here, name));

const browser = await launch({ server: true });
process.env.PAGE_BROWSER = browser.wsEndpoint();

function tell(data, ok) {
  const { name, nesting, file, details, skip } = data;
  if (nesting > 0) return; // its parent tells
  const error = details?.error;
  const cause = error?.cause ?? error;
  const text = ok ? undefined : (cause?.stack ?? cause?.message ?? String(cause));
  process.stdout.write(
    JSON.stringify({ file: file ? relative(here, file) : "", name, ok, skip: skip === true ? "skipped" : skip || undefined, ms: details?.duration_ms, error: text }) + "\n",
  );
}

let failed = false;
const stream = run({ files, concurrency: 2 });
stream.on("test:pass", (data) => tell(data, true));
stream.on("test:fail", (data) => {
  failed = true;
  tell(data, false);
});
stream.on("test:stderr", (data) => process.stderr.write(data.message));
stream.on("test:stdout", (data) => process.stderr.write(data.message));
for await (const _ of stream);
await browser.close();
process.exitCode = failed ? 1 : 0;
