import { useMemo, useRef, useState } from "preact/hooks";
import { api, ask, get, type Definition, type Instance } from "../api";
import { violations, type Json, type Violation } from "../editor/form-model";
import { JsonEditor, startText } from "../editor/json";
import type { Schema } from "../editor/schema";
import { go } from "../router";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { useDraft } from "../parts/draft";
import { useLoad } from "../parts/load";
import { ProblemBox, remarksOf } from "../parts/problem";
import { jsonRemark, type Remark } from "../parts/source";

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

/** Starts an instance, or creates a job. */
export function Start(p: { definition: Definition; version: string; onClose: () => void }) {
  const { definition: d } = p;
  const whole = useLoad((signal) => get<Definition>(api("definitions", d.id) + (p.version ? "?version=" + encodeURIComponent(p.version) : ""), signal), [d.id, p.version, d.digest]);
  const title = `Start ${d.id}${d.version ? " " + d.version : ""}`;
  if (d.dialect === "wfx") return <StartJob workflow={d.id} onClose={p.onClose} />;
  if (!whole.data) {
    return (
      <Dialog title={title} onClose={p.onClose}>
        {whole.error ? <ProblemBox error={whole.error} again={whole.again} /> : <p class="quiet">Loading…</p>}
      </Dialog>
    );
  }
  return <StartInstance title={title} definition={whole.data} version={p.version} onClose={p.onClose} />;
}

/** The errors of the parameters id, name and label, beside the fields that have them. */
const parameters = ["id", "name", "label"];

function StartInstance(p: { title: string; definition: Definition; version: string; onClose: () => void }) {
  const { id } = p.definition;
  const schema = useMemo(() => p.definition.inputSchema as Schema | undefined, [p.definition]);
  const [text, setText, forgetText] = useDraft("start " + id, startText(schema));
  const [name, setName, forgetName] = useDraft("start name " + id, "");
  const [labels, setLabels, forgetLabels] = useDraft("start labels " + id, "");
  const [ownId, setOwnId, forgetId] = useDraft("start id " + id, "");
  const [refused, setRefused] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const key = useKey();
  const [doubts, setDoubts] = useState<Violation[]>(); // what is wrong with this text by its schema
  const errors = useMemo<Remark[]>(() => (refused === undefined ? (doubts ?? []) : remarksOf(refused).filter((d) => d.pointer !== undefined || d.line !== undefined)), [refused, doubts]);
  const start = async () => {
    if (busy || checkedJson(text).length > 0 || !may("start")) return;
    // Some definitions take an input that violates their schema, and fail later or warn: it is asked once.
    const found = schema && !doubts ? violations(schema, schema, JSON.parse(text) as Json) : [];
    if (found.length) {
      setDoubts(found);
      return announce(`The input does not fit: ${found.length} ${found.length === 1 ? "error" : "errors"}`);
    }
    const query = new URLSearchParams();
    if (p.version) query.set("version", p.version);
    if (name.trim()) query.set("name", name.trim());
    if (ownId.trim()) query.set("id", ownId.trim());
    for (const label of labels.split(/[\n,]/)) if (label.trim()) query.append("label", label.trim().replace(/\s*=\s*/, "="));
    setBusy(true);
    try {
      const headers: Record<string, string> = ownId.trim() ? {} : { "Idempotency-Key": key(query + text) };
      const r = await ask<Instance>(api("definitions", id, "instances") + (query.size ? "?" + query : ""), { body: text, headers });
      announce("Started");
      for (const forget of [forgetText, forgetName, forgetLabels, forgetId]) forget();
      go("/instances/" + encodeURIComponent(r.data.id));
    } catch (e) {
      setRefused(e);
    }
    setBusy(false);
  };
  const changed = (set: (t: string) => void) => (e: { currentTarget: { value: string } }) => {
    set(e.currentTarget.value);
    setRefused(undefined);
  };
  const about = remarksOf(refused).find((d) => parameters.includes((d as { parameter?: string }).parameter ?? ""));
  return (
    <Dialog title={p.title} action={doubts ? "Start anyway" : "Start"} busy={busy || !may("start")} onClose={p.onClose} onSubmit={start}>
      <JsonEditor
        label="Input"
        value={text}
        schema={schema}
        errors={errors}
        onSubmit={start}
        onChange={(t) => {
          setText(t);
          if (refused) setRefused(undefined);
          if (doubts) setDoubts(undefined);
        }}
      />
      <details class="start-more" open={!!(name || labels || ownId || about) || undefined}>
        <summary>Name, labels and id</summary>
        <label class="field">
          <span>Name</span>
          <input value={name} placeholder="Order A-1038" maxLength={256} onInput={changed(setName)} />
        </label>
        <label class="field">
          <span>Labels: key=value, separated by commas</span>
          <input value={labels} placeholder="order=A-1038, region=eu" onInput={changed(setLabels)} />
        </label>
        <label class="field">
          <span>Id; without one the server chooses it</span>
          <input value={ownId} placeholder="order-A-1038" maxLength={128} autocomplete="off" spellcheck={false} onInput={changed(setOwnId)} />
        </label>
      </details>
      {doubts && !refused && (
        <div class="problem" role="alert">
          <p>The input does not fit its schema: {doubts.length === 1 ? "1 error" : `${doubts.length} errors`}.</p>
        </div>
      )}
      <ProblemBox error={refused} />
      <p class="quiet">Ctrl+Enter starts.</p>
    </Dialog>
  );
}

function StartJob(p: { workflow: string; onClose: () => void }) {
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
    <Dialog title={`New job of ${p.workflow}`} action="Create the job" leave={made ? "Close" : "Cancel"} busy={busy || !may("start")} onClose={p.onClose} onSubmit={create}>
      <p class="quiet">An instance of this definition is a job: work that a device and operators advance together.</p>
      <label class="field">
        <span>Client</span>
        <input required value={client} placeholder="the device that the job is for" onInput={(e) => setClient(e.currentTarget.value)} />
      </label>
      <label class="field">
        <span>Tags</span>
        <input value={tags} placeholder="eu, wave-1" onInput={(e) => setTags(e.currentTarget.value)} />
      </label>
      <JsonEditor label="Definition of the job" value={text} onChange={setText} onSubmit={create} />
      <ProblemBox error={error} />
      {made && (
        <p class="told">
          The job of {made.client} is created: <a href={"/instances/" + encodeURIComponent(made.id)}>{made.id}</a>. It is on the{" "}
          <a href={"/board/" + encodeURIComponent(p.workflow)}>board</a>.
        </p>
      )}
    </Dialog>
  );
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
