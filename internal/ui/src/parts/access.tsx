// What the page offers to whom. The server decides; this only saves people from writing
// something that is refused afterwards.
import { signal } from "@preact/signals";

export interface Session {
  needed: boolean;
  name?: string;
  role?: string;
}

/** Who the page acts for; undefined until the server has told. */
export const session = signal<Session | undefined>(undefined);

export type Deed = "operate" | "start" | "deploy" | "retire" | "send";

const roles: Record<Deed, string[]> = {
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

/** What a button gets that does such a thing: nothing, or that it is disabled and why. */
export function barred(deed: Deed): { disabled?: boolean; title?: string } {
  return may(deed) ? {} : { disabled: true, title: `The role ${session.value!.role} may not do this` };
}

/** Tells those who may change nothing so, before they try. */
export function OnlyLooking() {
  if (session.value?.role !== "viewer") return null;
  return <p class="looking">Read-only: with the role viewer, nothing can be started or changed.</p>;
}
