import { signal } from "@preact/signals";

// A screen reader is told of what happens, but not more often than it can read out.
const text = signal("");
let next = "";
let timer = 0;

/** Says something to people who do not see the page change. */
export function announce(what: string) {
  next = what;
  if (timer) return;
  text.value = next;
  timer = window.setTimeout(() => {
    timer = 0;
    if (next !== text.value) announce(next);
  }, 3000);
}

export function Announcer() {
  return (
    <div class="unseen" aria-live="polite">
      {text.value}
    </div>
  );
}
