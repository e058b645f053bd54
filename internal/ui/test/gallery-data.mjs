// The data of the gallery, which strains every screen: large definitions, long names, a foreach over
// a thousand items, ten thousand failures of five causes, unmatched events, jobs, schedules.
import { createServer } from "node:http";
import { startServer, until } from "./harness.mjs";

/** A definition of many states, with ways ahead, back and on errors. */
export function many(id, n, operation) {
  const name = (i) => "Step" + String(i).padStart(3, "0");
  const states = [];
  for (let i = 0; i < n; i++) {
    const s = { name: name(i), type: "inject", data: { at: i } };
    const next = { nextState: name(i + 1) };
    if (i % 10 === 3) {
      const long = "{{ $[?(@.total > 1000 && @.customer.country == 'DE' && @.customer.rating >= 4 && @.reviewed == true)] }}";
      Object.assign(s, { type: "switch", data: undefined, dataConditions: [{ condition: long, transition: { nextState: name(Math.min(i + 3, n - 1)) } }], default: { transition: next } });
    } else if (i % 10 === 0) {
      Object.assign(s, { type: "operation", data: undefined, actions: [{ functionRef: { refName: "work" } }], onErrors: [{ error: "Gone", transition: { nextState: name(n - 1) } }] });
    }
    if (i === 0) s.start = { kind: "default" };
    if (i === n - 1) s.end = { kind: "default" };
    else if (s.type !== "switch") s.transition = next;
    states.push(s);
  }
  return JSON.stringify({ id, version: "1.0", name: "Of the tests", functions: [{ name: "work", operation }], states });
}

export const name80 = "settle-the-invoices-of-all-subsidiaries-and-partners-before-the-end-of-the-month";

/** An event starts an instance, which fails at once with one of five causes. */
const settle = `document: {dsl: 1.0.3, namespace: default, name: settle-the-invoices-of-all-subsidiaries-before-the-month-ends, version: 1.0.0}
schedule: {on: {one: {with: {type: invoice.due}}}}
do:
- route:
    switch:
${[0, 1, 2, 3].map((n) => `    - c${n}: {when: "\${ .[0].n % 5 == ${n} }", then: cause${n}}`).join("\n")}
    - c4: {then: cause4}
${["Card declined", "Address is not known", "Quantity out of range", "The warehouse does not answer within the time that its contract allows", "Refused"]
  .map((title, n) => `- cause${n}:\n    raise: {error: {type: "https://shop.example.com/cause${n}", status: 500, title: ${title}, detail: "${"the answer of the service was not what its description says, ".repeat(3)}/quantity must be at least ${n}"}}`)
  .join("\n")}
`;

const yearly = (name, cron) => `document: {dsl: 1.0.3, namespace: default, name: ${name}, version: 1.0.0}
schedule: {cron: ${cron}}
do:
- read: {set: {ok: true}}
`;

const approval = `document: {dsl: 1.0.3, namespace: default, name: approval, version: 1.0.0}
do:
- ask: {listen: {to: {one: {with: {type: approval.given, subject: "\${ .order }"}}}}}
`;

const notify = `document: {dsl: 1.0.3, namespace: default, name: notify, version: 1.0.0}
do:
- tell: {emit: {event: {with: {source: "https://shop.example.com/notify", type: shop.notified, data: {order: "\${ .order }"}}}}}
`;

const files = (at) => ({
  "forty.json": many("forty", 40, at + "/work"),
  "four-hundred.json": many(name80, 400, at + "/work"),
  "settle.yaml": settle,
  "approval.yaml": approval,
  "notify.yaml": notify,
  "rates.yaml": yearly("rates", "0 6 * * *"),
  "leap.yaml": yearly("every-leap-day-the-accounts-of-four-years-are-looked-at-again", "0 0 29 2 *"),
  "paused.yaml": yearly("paused", '"*/15 8-17 * * 1-5"'),
  "shop.yaml": `document: {dsl: 1.0.3, namespace: default, name: shop, version: 1.0.0, title: Sell what is in stock}
input: {schema: {format: json, document: {type: object, required: [order], properties: {order: {type: object, title: Order, properties: {id: {type: string, description: "As it stands on the invoice"}, express: {type: boolean, default: false}, lines: {type: array, items: {type: integer}}}}}}}}
do:
- reserve:
    try:
    - stock: {call: http, with: {method: post, endpoint: "${at}/stock/reserve", body: {order: "\${ .order }"}}, output: {as: "$input + {stock: .}"}}
    catch: {retry: {delay: {milliseconds: 50}, limit: {attempt: {count: 3}}}}
- nap: {wait: {milliseconds: 400}}
- charge: {call: http, with: {method: post, endpoint: "${at}/charge/orders", body: {order: "\${ .order }"}}}
`,
  "scores.yaml": `id: scores
version: "1.0"
specVersion: "0.8"
name: Scores
start: Score
functions: [{name: score, type: custom, operation: "rest:post:${at}/score"}]
states:
- {name: Score, type: foreach, inputCollection: "\${ .items }", iterationParam: item, outputCollection: "\${ .scores }", mode: parallel, batchSize: 50,
   actions: [{functionRef: {refName: score, arguments: {n: "\${ .item.n }"}}}], end: true}
`,
  "trip.yaml": `id: trip
version: "1.0"
name: A trip that may be undone
functions: [{name: book, operation: "${at}/book"}, {name: cancel, operation: "${at}/cancel"}, {name: insure, operation: "${at}/charge"}]
states:
- {name: Flight, type: operation, start: {kind: default}, compensatedBy: CancelFlight, actions: [{functionRef: {refName: book}}], transition: {nextState: Hotel}}
- {name: CancelFlight, type: operation, usedForCompensation: true, actions: [{functionRef: {refName: cancel}}]}
- {name: Hotel, type: operation, compensatedBy: CancelHotel, actions: [{functionRef: {refName: book}}], transition: {nextState: Insure}}
- {name: CancelHotel, type: operation, usedForCompensation: true, actions: [{functionRef: {refName: cancel}}]}
- {name: Insure, type: operation, actions: [{functionRef: {refName: insure}}], onErrors: [{error: "*", transition: {nextState: GiveUp, compensateBefore: true}}], transition: {nextState: Tell}}
- {name: Tell, type: inject, data: {told: true}, end: {kind: default}}
- {name: GiveUp, type: inject, data: {gone: true}, end: {kind: default}}
`,
});

/** The service that the definitions call. */
function service() {
  const held = []; // calls that are not answered
  let asked = 0;
  let busy = true; // until the first request for stock
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      const answer = (status, value) => {
        response.writeHead(status, { "Content-Type": "application/json", "X-Request-Id": `req-${++asked}` });
        response.end(JSON.stringify(value));
      };
      const n = text && request.url.startsWith("/score") ? JSON.parse(text).n : 0;
      if (request.url.startsWith("/stock")) return busy ? ((busy = false), answer(503, { message: "busy" })) : answer(200, { reserved: true });
      if (request.url.startsWith("/charge")) return answer(402, { error: "CardDeclined", code: "E1", message: "no money. ".repeat(40), decline: { by: "issuer" } });
      if (n >= 950) return held.push(response);
      return answer(n === 17 ? 422 : 200, { message: `scored ${n}` });
    });
  });
  return {
    listen: () => new Promise((done) => server.listen(0, "127.0.0.1", () => done(`http://127.0.0.1:${server.address().port}`))),
    close: () => (server.closeAllConnections(), server.close()),
  };
}

/** Starts a server with all of it. shown has the ids of instances by what their pictures show. */
export async function startGallery() {
  const remote = service();
  const at = await remote.listen();
  const server = await startServer({ examples: ["hello.yaml", "order.yaml", "jobs/kanban.yaml", "jobs/firmware.yaml"], files: files(at), args: ["--call-timeout", "10m"] });
  const begin = async (definition, input, name) => (await server.api("POST", `/api/v1/definitions/${definition}/instances?name=${encodeURIComponent(name)}`, input)).body.id;
  const send = (events) => server.api("POST", "/api/v1/events", events, { "Content-Type": "application/cloudevents-batch+json" });
  const events = (n, id, type, more) => Array.from({ length: n }, (_, i) => ({ specversion: "1.0", id: `${id}-${i}`, source: "https://shop.example.com/orders", type, data: { n: i }, ...more?.(i) }));
  for (let part = 0; part < 10; part++) await send(events(1_000, `due-${part}`, "invoice.due"));
  const shown = {
    failed: await begin("shop", { order: { id: "A-1038", lines: [1, 2, 3] } }, "Order A-1038"),
    foreach: await begin("scores", { items: Array.from({ length: 1000 }, (_, n) => ({ n })) }, "Scores of November"),
    forty: await begin("forty", {}, "A long way"),
    large: await begin(name80, {}, "A workflow of four hundred states with a name of exactly eighty characters in it"),
    undone: await begin("trip", { guest: "Ada" }, "Trip of Ada"),
    waiting: await begin("approval", { order: "A-1038" }, "Approval of A-1038"),
    done: await begin("hello", { name: "Ada" }, ""),
  };
  for (let i = 0; i < 30; i++) await begin("hello", { name: "Ada" }, `Greeting ${i}`);
  for (let i = 0; i < 5; i++) await begin("notify", { order: `A-${i}` }, `Notice ${i}`);
  await send(events(40, "given", "approval.given", (i) => ({ subject: `B-${i}` })));
  await send(events(60, "shipped", "shop.order.shipped.to.the.address.of.the.customer"));
  await send(events(3, "aproval", "aproval.given"));
  const clients = Array.from({ length: 60 }, (_, i) => `controller-of-the-packaging-line-${i}`);
  await server.api("POST", "/api/v1/jobs", { workflow: "team.board", clients, definition: { title: "Show how far a foreach is, and which of its items have failed, on the page" } });
  await server.api("POST", "/api/v1/jobs", { workflow: "firmware.update", clients, definition: { title: "Release 2.5" } });
  const jobs = (await server.api("GET", "/api/wfx/v1/jobs?limit=60&workflow=firmware.update")).body.content ?? [];
  const ways = [[], ["DOWNLOADING"], ["DOWNLOADING", "BROKEN"], ["DOWNLOADING", "DOWNLOADED"]];
  for (const [i, job] of jobs.entries()) {
    for (const state of ways[i % ways.length]) {
      await fetch(`${server.south}/api/wfx/v1/jobs/${job.id}/status`, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ state, progress: 40, message: state === "BROKEN" ? "the disk is full: 12 MiB are missing" : "half of it" }) });
    }
  }
  shown.job = jobs[1]?.id;
  await server.api("POST", "/api/v1/schedules/paused/pause", { reason: "the office moves" });
  await until("ten thousand to fail", async () => (await server.api("GET", "/api/v1/stats")).body.statuses.failed >= 10_000);
  await until("the foreach", async () => ((await server.api("GET", "/api/v1/instances/" + shown.foreach)).body.progress?.[0]?.done ?? 1000) >= 940);
  const stop = async () => {
    await server.stop();
    remote.close();
  };
  return { server, shown, stop };
}
