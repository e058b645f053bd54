import { useState } from "preact/hooks";
import { api, ask, type Instance } from "../api";
import { announce } from "../parts/announcer";
import { ProblemBox } from "../parts/problem";

/** Downloads the run as a scenario file. */
export function SaveScenario(p: { instance: Instance }) {
  const [note, setNote] = useState("");
  const [error, setError] = useState<unknown>();
  const possible = p.instance.job !== undefined || p.instance.status === "completed" || p.instance.status === "failed";
  const save = async () => {
    setError(undefined);
    try {
      const name = p.instance.definition.id.replace(/[^\w.-]+/g, "_") + "_test.yaml";
      download(name, (await ask<string>(api("instances", p.instance.id, "scenario"), { text: true })).data);
      const text = `Saved as ${name}. Beside its definition, lockstep test runs it.`;
      setNote(text);
      announce(text);
    } catch (e) {
      setError(e);
    }
  };
  return (
    <>
      <button type="button" onClick={save} disabled={!possible} title={possible ? undefined : "Once it completed or failed"}>
        Save as scenario
      </button>
      {note && <span class="quiet">{note}</span>}
      <ProblemBox error={error} />
    </>
  );
}

function download(name: string, text: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
