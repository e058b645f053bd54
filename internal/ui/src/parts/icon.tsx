// The drawings of the page. Each is on a field of 20 by 20, in lines of the colour of the text.

const shapes = {
  home: "M3 9.2 10 3.5l7 5.7M5 8v8.5h10V8M8.2 16.5v-4.6h3.6v4.6",
  definitions: "M3.5 3.5h5v4h-5zM11.5 12.5h5v4h-5zM6 7.5v7h5.5M8.5 5.5h5.5v7",
  instances: "M3.5 5h13M3.5 10h13M3.5 15h7.5M14 12.8v4.4l3.4-2.2z",
  schedules: "M3.5 5h13v11.5h-13zM3.5 8.5h13M7 3v3.4M13 3v3.4M10 10.6v2.6l1.8 1",
  events: "M11 2.8 4.8 11.2h4.7L8.8 17.2l6.4-8.6h-4.8z",
  board: "M3.5 3.5h3.6v13H3.5zM8.2 3.5h3.6v8.5H8.2zM12.9 3.5h3.6v10.5h-3.6z",
  nodes: "M3.5 3.5h13v5.2h-13zM3.5 11.3h13v5.2h-13zM6.3 6.1h.01M6.3 13.9h.01M9.5 6.1h4M9.5 13.9h4",
  playground: "M8 3v5L3.8 15.2a1.1 1.1 0 0 0 1 1.6h10.4a1.1 1.1 0 0 0 1-1.6L12 8V3M6.8 3h6.4M6 12.2h8",
  search: "M8.8 3.8a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM12.6 12.6l4 4",
  plus: "M10 4v12M4 10h12",
  close: "M5 5l10 10M15 5 5 15",
  check: "M4 10.5 8.2 14.7 16 6",
  left: "M12.2 4.5 6.8 10l5.4 5.5",
  right: "M7.8 4.5 13.2 10l-5.4 5.5",
  down: "M4.5 7.8 10 13.2l5.5-5.4",
  up: "M4.5 12.2 10 6.8l5.5 5.4",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
  menu: "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
  collapse: "M3.5 3.5h13v13h-13zM8 3.5v13M13.4 7.6 11 10l2.4 2.4",
  expand: "M3.5 3.5h13v13h-13zM8 3.5v13M11 7.6l2.4 2.4-2.4 2.4",
  filter: "M3.5 5.5h13M6 10h8M8.5 14.5h3",
  columns: "M3.5 4h13v12h-13zM8 4v12M12.3 4v12",
  bookmark: "M5.5 3.5h9v13L10 13.2 5.5 16.5z",
  clock: "M10 3.2a6.8 6.8 0 1 1 0 13.6 6.8 6.8 0 0 1 0-13.6zM10 6.2V10l2.6 1.8",
  calendar: "M3.5 5h13v11.5h-13zM3.5 8.5h13M7 3v3.4M13 3v3.4",
  info: "M10 3.2a6.8 6.8 0 1 1 0 13.6 6.8 6.8 0 0 1 0-13.6zM10 9.2v4.4M10 6.4h.01",
  warning: "M10 3.2 17.6 16.6H2.4zM10 8v4.2M10 14.4h.01",
  play: "M6 4v12l10-6z",
  pause: "M6.5 4.5v11M13.5 4.5v11",
  stop: "M5 5h10v10H5z",
  retry: "M15.8 8.2A6.3 6.3 0 1 0 16.3 11M16.3 4v4.4h-4.4",
  undo: "M7 4 3.5 7.5 7 11M3.5 7.5h8a4.5 4.5 0 0 1 0 9H7",
  skip: "M4 4.5v11l8-5.5zM15.5 4.5v11",
  trash: "M3.5 5.5h13M8 5.5V3.5h4v2M5.2 5.5l.8 11h8l.8-11M8.6 8.8v4.6M11.4 8.8v4.6",
  copy: "M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4",
  download: "M10 3.5v9M6.4 9 10 12.6 13.6 9M3.5 16.5h13",
  upload: "M10 12.6v-9M6.4 7.1 10 3.5l3.6 3.6M3.5 16.5h13",
  external: "M8 4.5H3.5v12h12V12M11.5 3.5h5v5M16.5 3.5 9 11",
  link: "M8.4 11.6a3 3 0 0 0 4.3 0l3-3a3 3 0 0 0-4.3-4.3l-1 1M11.6 8.4a3 3 0 0 0-4.3 0l-3 3a3 3 0 0 0 4.3 4.3l1-1",
  edit: "M4 16l.8-3.6 8.6-8.6 2.8 2.8-8.6 8.6zM11.6 5.6l2.8 2.8",
  maximize: "M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4",
  fit: "M3.5 6.5v-3h3M13.5 3.5h3v3M16.5 13.5v3h-3M6.5 16.5h-3v-3M7 8h6v4H7z",
  send: "M17 3 9 11M17 3l-5 14-3-6-6-3z",
  key: "M6.8 9.2a3.8 3.8 0 1 1 0 7.6 3.8 3.8 0 0 1 0-7.6zM9.5 10.5 16.5 3.5M13.2 6.8l2.4 2.4",
  user: "M10 3.5a3.2 3.2 0 1 1 0 6.4 3.2 3.2 0 0 1 0-6.4zM3.8 16.8c.6-3.4 3-5 6.2-5s5.6 1.6 6.2 5",
  leave: "M8 3.5H3.5v13H8M8 10h8.5M13.2 6.6 16.5 10l-3.3 3.4",
  // Statuses: each has a shape of its own beside its colour and its word.
  running: "M6 3.8v12.4L16.4 10z",
  waiting: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM10 6v4h3.6",
  paused: "M6.5 4v12M13.5 4v12",
  completed: "M3.6 10.6 8 15 16.4 5.6",
  failed: "M4.6 4.6l10.8 10.8M15.4 4.6 4.6 15.4",
  cancelled: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM5.2 14.8l9.6-9.6",
  terminated: "M4.6 4.6h10.8v10.8H4.6z",
} as const;

export type IconName = keyof typeof shapes;

const thick = new Set<IconName>(["running", "waiting", "paused", "completed", "failed", "cancelled", "terminated"]);
const filled = new Set<IconName>(["running", "terminated"]);

/** A drawing. It says nothing to a screen reader: the text beside it, or the name of its button, does. */
export function Icon(p: { name: IconName; size?: 12 | 16 | 20 }) {
  const dots = p.name === "more" || p.name === "nodes";
  return (
    <svg class="icon" width={p.size ?? 16} height={p.size ?? 16} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path
        d={shapes[p.name]}
        fill={filled.has(p.name) ? "currentColor" : "none"}
        stroke="currentColor"
        stroke-width={thick.has(p.name) ? 2.6 : dots ? 1.8 : 1.5}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
