// What the page offers to whom: what a role never may is not there. The server decides; this only
// keeps the page from offering what is refused afterwards.
import { signal } from "@preact/signals";
import { Empty } from "./head";

export interface Session {
  needed: boolean;
  name?: string;
  role?: string;
}

/** Who the page acts for; undefined until the server has told. */
export const session = signal<Session | undefined>(undefined);

export type Deed = "read" | "operate" | "start" | "deploy" | "retire" | "send";

const roles: Record<Deed, string[]> = {
  read: ["viewer", "operator", "author", "admin"],
  operate: ["operator", "admin"],
  start: ["operator", "author", "admin"],
  deploy: ["author", "admin"],
  retire: ["operator", "author", "admin"],
  send: ["event-producer", "operator", "admin"],
};

/** Whether the role may do something; as long as it is not known, it may. */
export function may(deed: Deed): boolean {
  const s = session.value;
  return !s?.needed || !s.role || roles[deed].includes(s.role);
}

/** What a button gets that does such a thing: nothing, or that it is not there. */
export function barred(deed: Deed): { hidden?: boolean; disabled?: boolean } {
  return may(deed) ? {} : { hidden: true, disabled: true };
}

/** Stands where someone came to do what the role never may: others are not offered the way here. */
export function NotAllowed(p: { deed: Deed; what: string }) {
  return (
    <Empty icon="key" title={`The role ${session.value?.role} may not ${p.what}`}>
      The roles that may: {roles[p.deed].join(", ")}.
    </Empty>
  );
}
