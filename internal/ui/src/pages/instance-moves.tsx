import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { Instance } from "../api";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { ProblemBox } from "../parts/problem";
import { moveJob } from "./board-data";

/** Where a job can go from its state: moved by the device, or here by an operator, with a button. */
export function Moves(p: { instance: Instance; again: () => void }) {
  const { id, job } = p.instance;
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const move = async (to: string) => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      announce(`It is in ${await moveJob({ id, client: job!.client, state: job!.state }, to)} now`);
    } catch (e) {
      setError(e);
    }
    p.again();
    setBusy(false);
  };
  const statesOf = (actor: string) => job!.allowed.filter((m) => m.actor === actor).map((m) => m.state);
  const device = statesOf("CLIENT");
  const here = statesOf("WFX");
  return (
    <>
      {device.length > 0 && <p>The device may move it to {either(device)}.</p>}
      {here.length > 0 && !may("operate") && <p>An operator may move it to {either(here)}.</p>}
      {here.length > 0 && may("operate") && (
        <div class="bar">
          {here.map((state) => (
            <button key={state} type="button" aria-disabled={busy} onClick={() => move(state)}>
              Move it to {state}
            </button>
          ))}
        </div>
      )}
      <ProblemBox error={error} />
    </>
  );
}

/** The states as words: "A, B or C". */
function either(states: string[]) {
  return states.map((state, i) => (
    <Fragment key={state}>
      {i > 0 && (i === states.length - 1 ? " or " : ", ")}
      <b>{state}</b>
    </Fragment>
  ));
}
