import { useState } from "preact/hooks";
import { get, type Instance, type Page } from "../api";
import { announce } from "../parts/announcer";
import { ProblemBox } from "../parts/problem";
import { wholeHistory } from "./instance-history";
import { canSave, fileName, scenarioOf, type Run } from "./instance-scenario";

const most = 10_000; // records of one instance
const mostChildren = 50;

/** Downloads the run as a test. */
export function SaveScenario(p: { instance: Instance }) {
  const [note, setNote] = useState("");
  const [error, setError] = useState<unknown>();
  const possible = canSave(p.instance);
  const save = async () => {
    setError(undefined);
    try {
      const run = { instance: p.instance, records: await wholeHistory(p.instance.id, most) };
      download(fileName(p.instance), scenarioOf(run, await childrenOf(p.instance.id)));
      const text = `Saved as ${fileName(p.instance)}. Beside its definition, lockstep test runs it.`;
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

/** The instances below one, with their histories. */
async function childrenOf(id: string): Promise<Run[]> {
  const out: Run[] = [];
  for (const queue = [id]; queue.length > 0 && out.length < mostChildren; ) {
    const query = new URLSearchParams({ q: `parent:"${queue.shift()!.replace(/[\\"]/g, "\\$&")}"`, limit: String(mostChildren), order: "oldest" });
    for (const instance of (await get<Page<Instance>>("/api/v1/instances?" + query)).items) {
      out.push({ instance, records: await wholeHistory(instance.id, most) });
      queue.push(instance.id);
    }
  }
  return out;
}

function download(name: string, text: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
