import type { Instance, Status } from "../api";
import { Icon } from "./icon";

/** A status: its word, in a colour, with a shape of its own. */
export function StatusMark(p: { status: Status }) {
  return (
    <span class={"status " + p.status}>
      <Icon name={p.status} size={12} /> {p.status}
    </span>
  );
}

/**
 * The status of an instance. A job that ended in a state of the group FAILED has completed as far
 * as the engine knows, and failed as far as people do.
 */
export function InstanceStatus(p: { of: Instance }) {
  const { status, job } = p.of;
  return <StatusMark status={status === "completed" && job?.group === "FAILED" ? "failed" : status} />;
}
