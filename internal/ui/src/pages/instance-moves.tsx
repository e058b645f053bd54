import { useState } from "preact/hooks";
import type { Instance } from "../api";
import { may } from "../parts/access";
import { announce } from "../parts/announcer";
import { ProblemBox } from "../parts/problem";
import { moveJob } from "./board-data";

/** Where a job can go from its state, and who may move it there: an operator, with a button. */
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
  return (
    <>
      <ul class="moves">
        {job!.allowed.map((m) => (
          <li key={m.actor + m.state}>
            {m.actor === "CLIENT" ? (
              <>
                the device may move it to <b>{m.state}</b>
              </>
            ) : may("operate") ? (
              <button type="button" aria-disabled={busy} onClick={() => move(m.state)}>
                Move it to {m.state}
              </button>
            ) : (
              <>
                an operator may move it to <b>{m.state}</b>
              </>
            )}
          </li>
        ))}
      </ul>
      <ProblemBox error={error} />
    </>
  );
}
