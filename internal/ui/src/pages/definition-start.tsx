import { useRef, useState } from "preact/hooks";
import { api, ask, type Definition, type Instance } from "../api";
import { go } from "../router";
import { barred, may } from "../parts/access";
import { announce } from "../parts/announcer";
import { useDraft } from "../parts/draft";
import { ProblemBox } from "../parts/problem";
import { jsonRemark, Writing, type Remark } from "../parts/source";
import { remarksOf } from "./definition-deploy";

/** A JSON text that someone writes, and what is wrong with it. */
export function checkedJson(text: string): Remark[] {
  const wrong = jsonRemark(text);
  return wrong ? [wrong] : [];
}

/** Keeps the key of a request until what it says changes: sent twice, it has one effect. */
export function useKey(): (content: string) => string {
  const last = useRef({ content: "", key: "" });
  return (content) => {
    if (last.current.content !== content || !last.current.key) last.current = { content, key: "auto:" + newId() };
    return last.current.key;
  };
}

/** An id that nobody else has; randomUUID needs a secure context, which plain HTTP to another machine is not. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** Errors of the server with the line of what they point at in the text. */
export function placed(text: string, errors: Remark[]): Remark[] {
  return errors.map((d) => {
    const name = d.line || !d.pointer ? undefined : d.pointer.split("/").pop();
    const at = name ? text.indexOf(JSON.stringify(name)) : -1;
    if (at < 0) return d;
    const before = text.slice(0, at).split("\n");
    return { ...d, line: before.length, column: before[before.length - 1]!.length + 1, message: `${d.pointer}: ${d.message}` };
  });
}

/** Starts an instance, or creates a job. */
export function Start(p: { definition: Definition; version: string }) {
  return p.definition.dialect === "wfx" ? <StartJob workflow={p.definition.id} /> : <StartInstance {...p} />;
}

function StartInstance(p: { definition: Definition; version: string }) {
  const [text, setText, forget] = useDraft("start " + p.definition.id, "{}");
  const [refused, setRefused] = useState<{ error?: unknown; remarks: Remark[] }>({ remarks: [] });
  const [busy, setBusy] = useState(false);
  const key = useKey();
  const remarks = [...checkedJson(text), ...refused.remarks];
  const start = async () => {
    if (busy || checkedJson(text).length > 0 || !may("start")) return;
    setBusy(true);
    try {
      const path = api("definitions", p.definition.id, "instances") + (p.version ? "?version=" + encodeURIComponent(p.version) : "");
      const r = await ask<Instance>(path, { body: text, headers: { "Idempotency-Key": key(p.version + text) } });
      announce("Started");
      forget();
      go("/instances/" + encodeURIComponent(r.data.id));
    } catch (e) {
      const errors = placed(text, remarksOf(e));
      setRefused({ error: e, remarks: errors });
    }
    setBusy(false);
  };
  return (
    <form
      class="fields"
      onSubmit={(e) => {
        e.preventDefault();
        void start();
      }}
    >
      <Writing
        id="start-input"
        label="Input (a JSON object)"
        value={text}
        remarks={remarks}
        onInput={(t) => {
          setText(t);
          setRefused({ remarks: [] });
        }}
        onSubmit={start}
      />
      <ProblemBox error={refused.error} />
      <div class="bar">
        <button class="main" type="submit" aria-disabled={busy || checkedJson(text).length > 0} {...barred("start")}>
          Start
        </button>
        <span class="quiet">Ctrl+Enter starts.</span>
      </div>
    </form>
  );
}

function StartJob(p: { workflow: string }) {
  const [client, setClient, forgetClient] = useDraft("job client " + p.workflow, "");
  const [tags, setTags, forgetTags] = useDraft("job tags " + p.workflow, "");
  const [text, setText, forgetText] = useDraft("job " + p.workflow, "{}");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<{ id: string; client: string }>();
  const key = useKey();
  const create = async () => {
    if (busy || checkedJson(text).length > 0 || !may("start")) return;
    setBusy(true);
    setError(undefined);
    setMade(undefined);
    const body = { workflow: p.workflow, clients: [client.trim()], tags: words(tags), definition: JSON.parse(text) as unknown };
    try {
      const r = await ask<{ items: { id?: string; error?: string }[] }>(api("jobs"), { body, headers: { "Idempotency-Key": key(JSON.stringify(body)) } });
      const item = r.data.items[0];
      if (!item?.id) throw new Error(item?.error ?? "The job was not created.");
      setMade({ id: item.id, client: client.trim() });
      announce("The job is created");
      for (const forget of [forgetClient, forgetTags, forgetText]) forget();
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  return (
    <form
      class="fields"
      onSubmit={(e) => {
        e.preventDefault();
        void create();
      }}
    >
      <p class="quiet">An instance of this definition is a job: work that a device and operators advance together.</p>
      <label for="job-client">Client</label>
      <input id="job-client" required value={client} placeholder="the device that the job is for" onInput={(e) => setClient(e.currentTarget.value)} />
      <label for="job-tags">Tags</label>
      <input id="job-tags" value={tags} placeholder="eu, wave-1" onInput={(e) => setTags(e.currentTarget.value)} />
      <Writing id="job-definition" label="Definition of the job (a JSON object)" rows={6} value={text} remarks={checkedJson(text)} onInput={setText} onSubmit={create} />
      <ProblemBox error={error} />
      {made && (
        <p class="told">
          The job of {made.client} is created: <a href={"/instances/" + encodeURIComponent(made.id)}>{made.id}</a>. It is on the{" "}
          <a href={"/board/" + encodeURIComponent(p.workflow)}>board</a>.
        </p>
      )}
      <div class="bar">
        <button class="main" type="submit" aria-disabled={busy} {...barred("start")}>
          Create the job
        </button>
      </div>
    </form>
  );
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
