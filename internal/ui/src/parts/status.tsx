import type { Status } from "../api";

// Each status has a shape of its own beside its colour and its word.
const marks: Record<Status, string> = {
  running: "▶",
  waiting: "◔",
  paused: "‖",
  completed: "✓",
  failed: "✕",
  cancelled: "⊘",
  terminated: "■",
};

export function StatusMark(p: { status: Status }) {
  return (
    <span class={"status " + p.status}>
      <span aria-hidden="true">{marks[p.status]}</span> {p.status}
    </span>
  );
}
