import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api";
import { Editor } from "../editor/lazy";
import { announce } from "../parts/announcer";
import { Dialog } from "../parts/dialog";
import { number } from "../parts/format";
import { ProblemBox } from "../parts/problem";
import type { Texts } from "./playground-examples";
import { longestLink, toFragment } from "./playground-link";
import type { Played } from "./playground-result";

/** A link that carries what is written. */
export function Share(p: { texts: Texts; onClose: () => void }) {
  const [link, setLink] = useState<string | null>();
  const [copied, setCopied] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    toFragment(p.texts).then(
      (fragment) => setLink(fragment && `${location.origin}/playground#${fragment}`),
      () => setLink(null),
    );
  }, []);
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(link!);
      setCopied("The link is copied.");
      announce("The link is copied");
    } catch {
      setCopied("The link is selected: copy it with Ctrl+C.");
    }
  };
  return (
    <Dialog title="Share by link" leave="Close" action="Copy the link" onClose={p.onClose} onSubmit={link ? copy : undefined}>
      {link === undefined && <p class="quiet">Packing…</p>}
      {link === null && (
        <div class="problem" role="alert">
          <p>
            This is too much for a link: packed it has more than {number(longestLink)} characters, which mail and chat programs cut. Save a scenario and send the files, or deploy
            it.
          </p>
        </div>
      )}
      {link && (
        <>
          <p>Whoever opens it gets the definition, its files, the input, the mocks and the events as they are now. The link itself has all of it: no server keeps it.</p>
          <label class="field">
            <span>Link</span>
            <input ref={field} readOnly value={link} onFocus={(e) => e.currentTarget.select()} />
          </label>
          <p class="quiet" role="status">
            {copied || `${number(link.length)} characters`}
          </p>
        </>
      )}
    </Dialog>
  );
}

/** The run as a scenario file, with the files that it tests. */
export function SaveScenario(p: { texts: Texts; onClose: () => void }) {
  const [name, setName] = useState("as tried out in the playground");
  const [made, setMade] = useState<Played>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { data } = await ask<Played>("/api/v1/playground", { body: { ...p.texts, scenario: name.trim() || "it runs" } });
      if (!data.scenario) throw new Error("The definition has errors: correct them first.");
      setMade(data);
      announce("The scenario is ready");
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  const { scenario } = made ?? {};
  if (!scenario) {
    return (
      <Dialog title="Save as a scenario" action="Run and write it" busy={busy} onClose={p.onClose} onSubmit={make}>
        <p>A scenario is a test: this input, these mocks and events, and what comes of them. It expects what happens now.</p>
        <label class="field">
          <span>What it tests, in a few words</span>
          <input value={name} onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <ProblemBox error={error} />
      </Dialog>
    );
  }
  const files: [string, string][] = [[scenario.file, scenario.text], [scenario.definition, p.texts.definition], ...Object.entries(p.texts.files)];
  return (
    <Dialog title="Save as a scenario" wide onClose={p.onClose}>
      <p>
        {made!.run!.message} Put these files into one folder, then: <code>lockstep test {scenario.file}</code>
      </p>
      <p class="play-downloads">
        {files.map(([path, text], i) => (
          <button key={path} type="button" class={i === 0 ? "main" : undefined} onClick={() => download(path, text)}>
            Download {path}
          </button>
        ))}
      </p>
      <Editor label="Scenario" readOnly value={scenario.text} />
    </Dialog>
  );
}

function download(path: string, text: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  a.download = path.split("/").pop()!;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
