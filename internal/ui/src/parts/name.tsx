// What people call an instance, and how its id is shown beside that.
import type { Instance } from "../api";

/** The name that an instance was given, its key, or the device that a job is for. */
export function nameOf(row: Instance): string | undefined {
  return row.name || row.key || row.job?.client || (made.test(row.id) ? undefined : row.id);
}

/** What a list calls an instance: its name, else what it is a run of. Its id stands behind that. */
export function titleOf(row: Instance): string {
  return nameOf(row) ?? row.definition.id;
}

// Ids that the server makes: random, or a hash after the word for what they are of; those of
// children are their parent's with the call that started them.
const made = /^((?:[a-z]+:)?[0-9a-z]{8})(?:[0-9a-z]{8,}|(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})((?::\d+\.\d+)*)$/;

/** As much of an id as tells it from its neighbours. */
export function shortId(id: string): string {
  const m = made.exec(id);
  return m ? m[1]! + m[2]! : id;
}

/** A name with dots, such as the type of an event: a new line begins behind one. */
export function Dotted(p: { name: string }) {
  return (
    <>
      {p.name.split(/(?<=\.)/).map((part) => (
        <>
          {part}
          <wbr />
        </>
      ))}
    </>
  );
}

/** An id: short, grey, and whole in its title. */
export function Id(p: { id: string }) {
  return (
    <span class="id-text" title={p.id}>
      {shortId(p.id)}
    </span>
  );
}
