import { api, ask, type Instance } from "../api";
import { announce } from "../parts/announcer";

/** Whether a run can be kept as a scenario. */
export function canSave(i: Instance): boolean {
  return i.job !== undefined || i.status === "completed" || i.status === "failed";
}

/** Downloads the run as a scenario file; the answer says so. */
export async function saveScenario(i: Instance): Promise<string> {
  const name = i.definition.id.replace(/[^\w.-]+/g, "_") + "_test.yaml";
  download(name, (await ask<string>(api("instances", i.id, "scenario"), { text: true })).data);
  const text = `Saved as ${name}. Beside its definition, lockstep test runs it.`;
  announce(text);
  return text;
}

function download(name: string, text: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
