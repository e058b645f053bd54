import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { accessible } from "./axe.mjs";
import { editor, openPage, rewrite, shot, startServer, until, written } from "./harness.mjs";

const shop = `id: shop
version: "1.0"
name: Shop
dataInputSchema: input.json
states:
- {name: Take, type: inject, start: {kind: default}, data: {taken: true}, end: {kind: default}}
`;
const input = {
  type: "object",
  required: ["customer", "items", "payment"],
  properties: {
    customer: {
      type: "object",
      title: "Customer",
      required: ["name"],
      properties: { name: { type: "string", description: "As it stands on the parcel." }, email: { type: "string", format: "email" }, born: { type: "string", format: "date" } },
    },
    items: {
      type: "array",
      items: { type: "object", required: ["sku", "count"], properties: { sku: { type: "string", pattern: "^[A-Z]{2}-[0-9]+$" }, count: { type: "integer", minimum: 1, default: 1 } } },
    },
    priority: { enum: ["low", "normal", "high"], default: "normal" },
    gift: { type: "boolean" },
    payment: {
      oneOf: [
        { title: "Card", type: "object", required: ["kind", "card"], properties: { kind: { const: "card" }, card: { type: "string" } } },
        { title: "Invoice", type: "object", required: ["kind", "vat"], properties: { kind: { const: "invoice" }, vat: { type: "string" } } },
      ],
    },
    tags: { type: "array", items: { type: "string" } },
    more: { description: "Anything else." },
  },
};

let server;
before(
  async () =>
    (server = await startServer({
      examples: ["hello.yaml", "retry.yaml", "jobs/kanban.yaml", "v08/order.yaml", "v08/invoices.yaml"],
      files: { "shop.yaml": shop, "input.json": JSON.stringify(input) },
    })),
);
after(() => server.stop());

test("a definition with errors shows them at their lines, and is deployed once it has none", async (t) => {
  const page = await openPage(t, server, "/definitions");
  await page.getByRole("link", { name: "Deploy a definition" }).click();
  const box = editor(page, "Definition");
  await rewrite(box, "id: broken\nversion: '1.0'\nname: Broken\nstates:\n- name: A\n  type: injct\n  start: {kind: default}\n  end: {kind: default}\n- name: B\n  type: delay\n  timeDelay: PT1S\n  transition: {nextState: C}\n");
  const places = page.locator(".places li");
  await places.filter({ hasText: "injct" }).waitFor();
  assert.match(await places.filter({ hasText: "injct" }).innerText(), /greet\.yaml:6:\d+[\s\S]*did you mean "inject"/);
  assert.match(await places.filter({ hasText: '"C"' }).innerText(), /12:\d+/);
  await page.locator(".cm-lint-marker-error").nth(1).waitFor();
  await shot(page, "definition-errors");
  await accessible(page, "a definition with errors");

  // A remark leads to its place, and reviewing it anyway loses nothing.
  await page.getByRole("button", { name: /^Go to greet\.yaml:12:/ }).first().click();
  await until("the line to be gone to", () => box.evaluate((e) => e.getRootNode().activeElement === e));
  await page.getByRole("button", { name: "Review and deploy" }).click();
  const review = page.getByRole("dialog", { name: "Deploy" });
  await review.getByText("Nothing can be deployed until this is corrected.").waitFor();
  assert.equal(await review.getByRole("button", { name: "Deploy", exact: true }).count(), 0);
  await review.getByRole("button", { name: /^Go to greet\.yaml:6:/ }).first().click();
  await review.waitFor({ state: "hidden" });

  // What was written is there after a reload, and can be repaired and deployed.
  await page.reload();
  await box.getByText("injct").waitFor();
  await rewrite(box, "id: repaired\nversion: '1.0'\nname: Repaired\nstates:\n- name: A\n  type: inject\n  start: {kind: default}\n  data: {a: 1}\n  end: {kind: default}\n");
  await page.getByText("Valid: repaired version 1.0.").waitFor();
  await box.press("Control+Enter");
  await review.getByRole("row", { name: /repaired 1\.0 new greet\.yaml/ }).waitFor();
  await review.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL("**/definitions/repaired");
  await page.getByRole("button", { name: "A", exact: true }).waitFor();
});

test("start by a form: nested, with choices and lists, and what the server refuses stands at its field", async (t) => {
  const page = await openPage(t, server, "/definitions/shop");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Start shop 1.0" });
  const start = dialog.getByRole("button", { name: /^Start/ });
  const customer = dialog.getByRole("group", { name: /^Customer/ });
  await customer.getByLabel("email").fill("ada@example.com");
  await dialog.getByRole("button", { name: "Add to items" }).click();
  await start.click(); // what surely does not fit is said before it is sent
  await customer.getByText("is required").waitFor();
  await dialog.getByText("The input does not fit its schema: 3 errors.").waitFor();
  await shot(page, "definition-start-form");
  await accessible(page, "a form with errors");
  assert.ok(await customer.getByLabel("name").evaluate((e) => e === document.activeElement), "the first field with an error has the focus");

  await customer.getByLabel("name").fill("Ada");
  await customer.getByLabel("born").fill("1815-12-10");
  const sku = dialog.getByLabel("sku");
  await sku.fill("lamp");
  await dialog.getByLabel("count").fill("2");
  await dialog.getByLabel("priority").selectOption("high");
  await dialog.getByLabel("Kind of payment").selectOption("Invoice");
  await dialog.getByLabel("vat").fill("DE1");
  await dialog.getByRole("button", { name: "Add to tags" }).click();
  await dialog.getByRole("textbox", { name: /^tags 1/ }).fill("new");
  await rewrite(editor(page, "more (JSON)"), '{"a": [1, 2]}');
  await start.click();
  await dialog.getByText(/must match the pattern/).first().waitFor(); // of the server
  assert.equal(await sku.getAttribute("aria-invalid"), "true");
  assert.equal(await dialog.locator("[aria-invalid=true]").count(), 1);

  // The same as JSON, and back: nothing is lost.
  await dialog.getByRole("button", { name: "JSON", exact: true }).click();
  const box = editor(page, "Input");
  await box.getByText("lamp").waitFor();
  await page.locator(".cm-lint-marker-error").waitFor();
  const json = JSON.parse(await written(box));
  const wanted = {
    customer: { name: "Ada", email: "ada@example.com", born: "1815-12-10" },
    items: [{ sku: "lamp", count: 2 }],
    priority: "high",
    payment: { kind: "invoice", vat: "DE1" },
    tags: ["new"],
    more: { a: [1, 2] },
  };
  assert.deepEqual(json, wanted);
  await dialog.getByRole("button", { name: "Form", exact: true }).click();
  await sku.fill("LA-7");
  await dialog.getByText("Name, labels and id").click();
  await dialog.getByLabel("Name", { exact: true }).fill("Lamp for Ada");
  await dialog.getByLabel(/^Labels/).fill("region=eu, order=A-1");
  await start.click();
  await page.waitForURL("**/instances/*");
  const instance = await server.reach(page.url().split("/").pop(), "completed");
  assert.equal(instance.name, "Lamp for Ada");
  assert.deepEqual(instance.labels, { region: "eu", order: "A-1" });
  assert.deepEqual(instance.output, { ...wanted, items: [{ sku: "LA-7", count: 2 }], taken: true });
});

test("start with JSON, with what is wrong in it at its line; by keyboard", async (t) => {
  const page = await openPage(t, server, "/definitions/hello?start=1", { width: 390, dark: true });
  const box = editor(page, "Input");
  await rewrite(box, '{\n  "name": "Ada",\n}');
  await page.locator(".places li").getByText(/3:/).waitFor();
  await rewrite(box, "[1]");
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await written(box), "[1]");
  await accessible(page, "start, narrow and dark");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  await box.click();
  await page.keyboard.press("Escape"); // leaves the editor, and not the dialog
  await until("the editor to be left", () => box.evaluate((e) => e.getRootNode().activeElement !== e));
  assert.ok(await page.getByRole("dialog").isVisible());
  await rewrite(box, '{"name": "Ada"}');
  await box.press("Control+Enter");
  await page.waitForURL("**/instances/*");
  assert.equal((await server.reach(page.url().split("/").pop(), "completed")).definition.id, "hello");
});

test("a new version begins with the current one, and its changes are seen before it is deployed", async (t) => {
  const page = await openPage(t, server, "/definitions/shop");
  await page.getByRole("link", { name: "New version" }).click();
  const box = editor(page, "Definition");
  await box.getByText("dataInputSchema").waitFor();
  await page.getByRole("tab", { name: "input.json" }).waitFor(); // its files come along
  await rewrite(box, shop.replace("type: inject", "type: injct"));
  await page.locator(".places li").filter({ hasText: "injct" }).waitFor();
  await page.locator(".cm-lint-marker-error").first().waitFor();
  await rewrite(box, shop.replace('"1.0"', '"1.1"').replace("taken: true", "taken: now"));
  await page.getByText("Valid: shop version 1.1.").waitFor();
  await page.getByRole("button", { name: "Review and deploy" }).click();
  const review = page.getByRole("dialog", { name: "Deploy" });
  await review.getByRole("row", { name: /shop 1\.1 new version/ }).waitFor();
  await review.locator(".diff .plus").getByText('+version: "1.1"').waitFor();
  await review.locator(".diff .minus").getByText('-version: "1.0"').waitFor();
  assert.equal(await review.locator("details").count(), 1, "the schema did not change");
  await shot(page, "definition-review");
  await accessible(page, "a review");
  await review.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL("**/definitions/shop");
  await page.getByLabel("Version", { exact: true }).getByText("1.1 (current)").waitFor({ state: "attached" });

  // What it was deployed with, and what it looked like before.
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByRole("button", { name: "input.json" }).click();
  await editor(page, "input.json").getByText("customer").first().waitFor();
  await page.getByRole("link", { name: "Source" }).click();
  await editor(page, "Source").getByText("taken").waitFor();
  await page.getByRole("link", { name: "Functions" }).click();
  await page.getByText("It calls no function.").waitFor();
});

test("a folder is deployed as a whole: definitions, their sub-workflows and an OpenAPI file", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "lockstep-folder-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const write = (name, text) => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  };
  const sub = (id) => `id: ${id}\nversion: "1.0"\nname: ${id}\nstates:\n- {name: Do, type: inject, start: {kind: default}, data: {${id}: true}, end: {kind: default}}\n`;
  write("parcel.yaml", `id: parcel
version: "1.0"
name: Parcel
functions: [{name: book, operation: "apis/post.yaml#book"}]
states:
- {name: Pack, type: subflow, start: {kind: default}, waitForCompletion: true, workflowId: pack, transition: {nextState: Label}}
- {name: Label, type: subflow, waitForCompletion: true, workflowId: label, transition: {nextState: Book}}
- {name: Book, type: operation, actions: [{functionRef: {refName: book}}], end: {kind: default}}
`);
  write("subs/pack.yaml", sub("pack"));
  write("subs/label.yaml", sub("label").replace("type: inject", "type: injct"));
  write("apis/post.yaml", "openapi: 3.0.0\ninfo: {title: Post, version: '1'}\nservers: [{url: 'https://post.example.com'}]\npaths: {/b: {post: {operationId: book, responses: {'200': {description: ok}}}}}\n");
  write("README.md", "read me\n");
  write(".git/config", "not a part of it\n");

  const page = await openPage(t, server, "/definitions?deploy=1");
  await page.getByLabel("Choose a folder").setInputFiles(dir);
  await page.getByRole("tab", { name: "subs/label.yaml (1 wrong)" }).waitFor();
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["README.md", "apis/post.yaml", "parcel.yaml", "subs/label.yaml (1 wrong)", "subs/pack.yaml"].sort());
  await page.getByRole("button", { name: "Review and deploy" }).click();
  const review = page.getByRole("dialog", { name: "Deploy" });
  await review.locator(".places li").getByText(/subs\/label\.yaml:5:/).waitFor();
  assert.equal((await server.api("GET", "/api/v1/definitions/parcel")).status, 404, "nothing is deployed");
  await review.getByRole("button", { name: "Close" }).click();
  await page.getByRole("tab", { name: "subs/label.yaml (1 wrong)" }).click();
  await rewrite(editor(page, "subs/label.yaml"), sub("label"));
  await page.getByText("Valid: 3 definitions.").waitFor();
  await page.getByRole("button", { name: "Review and deploy" }).click();
  await review.getByRole("row", { name: /parcel 1\.0 new parcel\.yaml/ }).waitFor();
  await review.getByText("Not used by any definition: README.md.").waitFor();
  await review.getByText("parcel@1.0/apis/post.yaml (new)").waitFor();
  await shot(page, "definition-folder");
  await review.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("heading", { name: "Deployed" }).waitFor();
  await page.getByRole("link", { name: "parcel", exact: true }).click();
  await page.getByRole("link", { name: "Functions" }).click();
  await page.getByRole("row", { name: /^book openapi .*yes/ }).waitFor();
  for (const id of ["pack", "label"]) assert.equal((await server.api("GET", "/api/v1/definitions/" + id)).status, 200);
});

test("versions, what differs, and where instances are", async (t) => {
  const text = (await server.api("GET", "/api/v1/definitions/hello/source")).body;
  await server.deploy(text.replace('version: "1.0"', 'version: "1.1"').replace("Hello, ", "Good morning, "));
  const page = await openPage(t, server, "/definitions/hello?tab=versions");
  await page.getByLabel("What differs from 1.0 to 1.1").waitFor();
  assert.match(await page.locator(".diff .plus").first().innerText(), /^\+version: "1.1"/);
  assert.match(await page.locator(".diff .minus").first().innerText(), /^-version: "1.0"/);
  await page.getByLabel("From", { exact: true }).selectOption("1.1");
  await page.getByText("The documents are identical.").waitFor();
  await page.waitForURL(/from=1\.1/);
  await shot(page, "definition-versions");

  const heat = await openPage(t, server, "/definitions/retry");
  await heat.getByText("No instance is in any state now").waitFor();
  const { id } = await server.begin("retry", { card: 1 });
  const { state } = await server.reach(id, "waiting");
  await heat.getByRole("button", { name: `${state}, 1 now, 0 failed` }).waitFor(); // by itself
  await heat.getByRole("button", { name: `${state}, 1 now, 0 failed` }).press("Enter");
  await heat.waitForURL("**state=" + state);
  await shot(heat, "definition-heat");
});

test("a definition is asked for its schedule only where it has one", async (t) => {
  const asked = [];
  for (const id of ["hello", "ticking"]) {
    if (id === "ticking") await server.deploy("document: {dsl: 1.0.3, namespace: default, name: ticking, version: 1.0.0}\nschedule: {cron: \"0 0 29 2 *\"}\ndo:\n- tick: {set: {ok: true}}\n");
    const page = await openPage(t, server, "/nodes");
    page.on("response", (r) => r.url().includes("/api/v1/schedules/") && asked.push(`${id} ${r.status()}`));
    await page.goto(server.url + "/definitions/" + id);
    await page.getByRole("heading", { name: id, level: 1 }).waitFor();
    await (id === "hello" ? page.getByRole("heading", { name: "Diagram" }).or(page.locator(".diagram")).first() : page.getByText("0 0 29 2 *").first()).waitFor();
  }
  assert.deepEqual([...new Set(asked)], ["ticking 200"]);
});

test("a near miss is first, however many unmatched events came after it", async (t) => {
  await server.deploy("document: {dsl: 1.0.3, namespace: default, name: near-waiter, version: 1.0.0}\ndo:\n- wait: {listen: {to: {one: {with: {type: near.paid, order: \"7\"}}}}}\n");
  const { id } = await server.begin("near-waiter");
  await server.reach(id, "waiting");
  const send = (events) => server.api("POST", "/api/v1/events", JSON.stringify(events), { "Content-Type": "application/cloudevents-batch+json" });
  const sent = await send([{ specversion: "1.0", id: "near-1", source: "shop", type: "near.paid", order: "8" }]);
  assert.equal(sent.status, 202, JSON.stringify(sent.body));
  for (let batch = 0; batch < 3; batch++) {
    const r = await send(Array.from({ length: 70 }, (_, i) => ({ specversion: "1.0", id: `noise-${batch}-${i}`, source: "https://machines.example.com/hall", type: `noise.${i % 3}.of.the.machines.in.the.hall.behind.the.office` })));
    assert.equal(r.status, 202, JSON.stringify(r.body));
  }
  const page = await openPage(t, server, "/events");
  const unmatched = page.getByRole("region", { name: /^Unmatched the newest 200, and 1 older near miss$/ });
  const first = unmatched.getByRole("listitem").first();
  await first.getByRole("button", { name: /near\.paid 1 near miss/ }).waitFor();
  await first.getByText("order", { exact: false }).first().waitFor();
  await shot(page, "events-near");

  // On a phone the count stands behind the type, and the button of an event beside its first cell.
  await page.setViewportSize({ width: 390, height: 844 });
  const group = unmatched.getByRole("button", { name: /^noise\.0/ });
  const heightOf = async (of) => (await of.boundingBox()).y;
  const type = await group.locator("b").boundingBox();
  assert.ok((await heightOf(group.locator(".pill"))) < type.y + type.height, "the count has a line of its own");
  const event = page.locator("table.events tbody tr").first();
  assert.ok((await heightOf(event.getByRole("button"))) < (await heightOf(event.locator(".status"))), "the button has a line of its own");
  assert.ok((await heightOf(event.locator("time"))) < (await heightOf(event.locator(".cut"))), "the time has a line of its own");
});

test("an event is sent, and it is told what became of it", async (t) => {
  const page = await openPage(t, server, "/events?send=1");
  const form = page.getByRole("form", { name: "Send an event" });
  await form.getByLabel("Type").fill("nobody.wants.this");
  await form.getByLabel("Id").fill("e-1");
  await rewrite(editor(page, "Data"), "{oops");
  await form.locator(".cm-lint-marker-error").waitFor();
  await form.locator(".places li").getByText("1:2").waitFor();
  await rewrite(editor(page, "Data"), '{"amount": 3}');
  await form.getByLabel("Attributes").fill("orderid=42");
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText("Accepted. Unmatched: it is kept.").waitFor();
  const row = page.getByRole("row", { name: /nobody\.wants\.this/ });
  await row.getByText("unmatched").first().waitFor();
  const unmatched = page.getByRole("region", { name: /^Unmatched/ });
  await unmatched.getByText('no instance waits for events of type "nobody.wants.this"').waitFor();
  await unmatched.getByRole("button", { name: /nobody\.wants\.this 1/ }).click();
  await unmatched.getByRole("button", { name: "Data of e-1" }).click();
  assert.match(await unmatched.locator("pre").innerText(), /"orderid": "42"/);
  await unmatched.getByRole("button", { name: /nobody\.wants\.this 1/ }).click();
  await form.getByLabel("Id").fill("e-1");
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText("Duplicate").waitFor();
  await shot(page, "events");

  await page.getByRole("search").getByLabel("Type").fill("other");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("No event matches the filter.").waitFor();
  await page.waitForURL(/type=other/);
});

test("definitions of Serverless Workflow 0.8 and 0.9 are listed and drawn like others", async (t) => {
  const page = await openPage(t, server, "/definitions");
  await page.getByRole("row", { name: /order/ }).getByText("Serverless Workflow 0.8").waitFor();
  await page.getByRole("row", { name: /invoices/ }).getByText("Serverless Workflow 0.9").waitFor();
  await page.goto(`${server.url}/definitions/web-order`);
  for (const state of ["Reserve", "Charge", "Ship", "Refund", "Release", "Apologise"]) await page.getByRole("button", { name: new RegExp(`^${state}\\b`) }).waitFor();
  await page.getByText("Serverless Workflow 0.8").waitFor();
});

test("a search finds definitions and schedules beyond the first page", async (t) => {
  const scheduled = (name, cron, task) => `document: {dsl: 1.0.3, namespace: default, name: ${name}, version: 1.0.0}\nschedule: {cron: "${cron}"}\ndo: [{only: ${task}}]\n`;
  for (let n = 0; n < 201; n++) await server.deploy(scheduled(`fleet-${String(n).padStart(3, "0")}`, "0 0 29 2 *", "{set: {ok: true}}"));
  await server.deploy(scheduled("zz-soon", "0 * * * *", "{wait: PT720H}"));
  await server.deploy(scheduled("zz-fails", "0 0 29 2 *", '{raise: {error: {type: "https://example.com/no", status: 500}}}'));
  await server.reach((await server.begin("zz-soon")).id, "waiting");
  await server.reach((await server.begin("zz-fails")).id, "failed");

  const page = await openPage(t, server, "/definitions");
  await page.getByText("200 on this page").waitFor();
  const rows = page.locator("table.definitions tbody tr");
  const found = async (...names) => {
    await until(`only ${names} to be there`, async () => JSON.stringify(await rows.locator("a.name").allInnerTexts()) === JSON.stringify(names));
  };
  const kind = page.getByLabel("Kind");
  await page.getByLabel("Find").fill("zz-");
  await found("zz-fails", "zz-soon");
  await page.getByText(/^2 of 2\d\d$/).waitFor();
  await rows.filter({ hasText: "zz-soon" }).getByRole("link", { name: /^in / }).waitFor(); // the next start
  assert.equal((await server.api("POST", "/api/v1/definitions/zz-fails/pause", {})).status, 200);
  await page.reload();
  await rows.filter({ hasText: "zz-fails" }).getByText("paused", { exact: true }).waitFor();
  assert.equal(await rows.filter({ hasText: "zz-soon" }).getByText("active", { exact: true }).count(), 0, "only what is unusual has a status");
  await page.getByLabel("Find").fill("zz-");
  await kind.selectOption("With waiting instances");
  await found("zz-soon");
  await kind.selectOption("With failed instances");
  await found("zz-fails");
  await kind.selectOption("With running instances");
  await page.getByText("None has “zz-” in its id, name or dialect and is with running instances.").waitFor();
  await page.getByRole("link", { name: "Show all" }).click();
  await page.getByText("200 on this page").waitFor();
  await kind.selectOption("With a schedule");
  await page.getByRole("button", { name: /^Show \d+ more$/ }).click();
  await rows.filter({ hasText: "zz-soon" }).waitFor();

  await page.goto(server.url + "/");
  const soonest = page.getByRole("region", { name: "Next schedules" }).getByRole("listitem").first();
  await soonest.getByRole("link", { name: "zz-soon" }).waitFor();
});
