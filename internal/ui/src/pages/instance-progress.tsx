import { type Progress } from "../api";

const count = (n: number) => n.toLocaleString("en");

/** An item for reading; what was cut is text already. */
export function itemText(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value);
}

/** How far a foreach is, and which of its items failed. */
export function ForeachProgress(p: { progress: Progress }) {
  const { state, total, done, failed, inFlight, failures = [] } = p.progress;
  const text = [`${count(done)} of ${count(total)} done`, failed > 0 && `${count(failed)} failed`, inFlight > 0 && `${count(inFlight)} in flight`].filter(Boolean).join(", ");
  return (
    <section class="panel foreach" aria-label={"Items of " + state}>
      <p>
        <b>{state}</b>: {text}
      </p>
      <progress max={Math.max(total, 1)} value={done} aria-label={text} />
      {failures.length > 0 && (
        <div class="scroll" tabIndex={0} role="group" aria-label="Failed items">
          <table>
            <thead>
              <tr>
                <th scope="col">Index</th>
                <th scope="col">Item</th>
                <th scope="col">Error</th>
              </tr>
            </thead>
            <tbody>
              {failures.map((f) => (
                <tr key={f.index}>
                  <td>{f.index}</td>
                  <td class="mono">
                    {itemText(f.item)}
                    {f.cut && "…"}
                  </td>
                  <td class="fault">
                    {f.error.name}
                    {f.error.code && ` (${f.error.code})`}
                    {f.error.detail && `: ${f.error.detail}`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {failed > failures.length && <p class="quiet">and {count(failed - failures.length)} more</p>}
        </div>
      )}
    </section>
  );
}
