import { useState } from "preact/hooks";
import { api, ask } from "../api";
import { JsonEditor } from "../editor/json";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { ProblemBox, remarksOf } from "../parts/problem";
import { Places } from "../parts/source";
import { checkedJson, newId } from "./definition-start";

interface Accepted {
  accepted: number;
  duplicates: number;
  matched: number;
  events: { result: string; matched?: string[]; started?: string[]; why?: string[] }[];
}

/** A form that sends an event and tells what became of it. */
export function SendEvent(p: { sent: () => void }) {
  const [type, setType] = useState("");
  const [source, setSource] = useState("page");
  const [id, setId] = useState(newId);
  const [data, setData] = useState("{}");
  const [more, setMore] = useState("");
  const [error, setError] = useState<unknown>();
  const [told, setTold] = useState<Accepted>();
  const [busy, setBusy] = useState(false);
  const attributes = readAttributes(more);
  const wrong = data.trim() ? checkedJson(data) : [];
  const send = async () => {
    if (busy || wrong.length > 0 || attributes.error || !may("send")) return;
    setBusy(true);
    setError(undefined);
    setTold(undefined);
    const event: Record<string, unknown> = { specversion: "1.0", ...attributes.values, type: type.trim(), source: source.trim(), id: id.trim() };
    if (data.trim()) event.data = JSON.parse(data);
    try {
      const r = await ask<Accepted>(api("events"), { body: event, type: "application/cloudevents+json" });
      setTold(r.data);
      announce(summary(r.data));
      if (r.data.accepted) setId(newId()); // the next one is another event
      p.sent();
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  return (
    <form
      class="panel fields"
      aria-label="Send an event"
      onSubmit={(e) => {
        e.preventDefault();
        void send();
      }}
    >
      <div class="three">
        <div class="fields">
          <label for="send-type">Type</label>
          <input id="send-type" required value={type} placeholder="paid" onInput={(e) => setType(e.currentTarget.value)} />
        </div>
        <div class="fields">
          <label for="send-source">Source</label>
          <input id="send-source" required value={source} onInput={(e) => setSource(e.currentTarget.value)} />
        </div>
        <div class="fields">
          <label for="send-id">Id</label>
          <input id="send-id" required value={id} onInput={(e) => setId(e.currentTarget.value)} />
        </div>
      </div>
      <JsonEditor label="Data" value={data} optional onChange={setData} onSubmit={send} />
      <label for="send-more">Attributes, for correlation: name=value, one on each line</label>
      <textarea id="send-more" class="mono" rows={2} value={more} placeholder="orderid=42" spellcheck={false} onInput={(e) => setMore(e.currentTarget.value)} />
      {attributes.error && <p class="remark">{attributes.error}</p>}
      <ProblemBox error={error} />
      {remarksOf(error).length > 0 && <Places remarks={remarksOf(error)} />}
      {told && <Told told={told} />}
      <div class="bar">
        <button class="main" type="submit" aria-disabled={busy}>
          Send
        </button>
        <span class="quiet">The same source and id count as one event.</span>
      </div>
    </form>
  );
}

function readAttributes(text: string): { values: Record<string, string>; error?: string } {
  const values: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    const m = /^\s*([a-z0-9]+)\s*=(.*)$/.exec(line);
    if (!m) return { values, error: `“${line.trim()}” is not name=value; names have lower-case letters and digits only.` };
    values[m[1]!] = m[2]!.trim();
  }
  return { values };
}

function summary(a: Accepted): string {
  if (a.duplicates) return "Duplicate: an event with this source and id was accepted before.";
  return a.matched ? "Accepted, and matched." : "Accepted. Unmatched: it is kept.";
}

function Told(p: { told: Accepted }) {
  const e = p.told.events[0];
  const reached = [...(e?.matched ?? [])];
  return (
    <div class={p.told.matched ? "told" : "told none"}>
      {summary(p.told)}
      {reached.map((id) => (
        <div>
          reached <a href={"/instances/" + encodeURIComponent(id)}>{id}</a>
        </div>
      ))}
      {e?.started?.map((id) => (
        <div>
          started <a href={"/instances/" + encodeURIComponent(id)}>{id}</a>
        </div>
      ))}
      {e?.why && e.why.length > 0 && (
        <ul class="whynot">
          {e.why.map((why) => (
            <li>{why}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
