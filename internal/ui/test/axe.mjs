// Looks at a page with axe, which knows the rules of accessibility that a program can check.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Fails unless axe finds nothing serious or critical on the page. */
export async function accessible(page, what) {
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap((v) => v.nodes.map((n) => ({ rule: v.id, impact: v.impact, at: n.target.flat().join(" "), help: n.failureSummary.replace(/\s+/g, " ") })));
  });
  const grave = found.filter((v) => ["serious", "critical"].includes(v.impact) && !allowed(v));
  assert.deepEqual(grave.map((v) => `${what}: ${v.rule} at ${v.at}: ${v.help}`), []);
}

/**
 * The label of a state in a diagram is its name, with which its accessible name begins. What
 * else stands in its box is not part of the label, which axe cannot know.
 */
function allowed(v) {
  return v.rule === "label-content-name-mismatch" && /#state-|data-state/.test(v.at);
}
