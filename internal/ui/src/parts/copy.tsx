import { useEffect, useState } from "preact/hooks";
import { announce } from "./announcer";
import "./copy.css";

/** Copies a text. Where the browser has no clipboard for the page (plain HTTP), it is selected and copied as by hand. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A small button that copies. text is asked for when it is pressed. */
export function Copy(p: { text: () => string; label: string; children?: string }) {
  const [done, setDone] = useState<"" | "Copied" | "Not copied">("");
  useEffect(() => {
    if (!done) return;
    const timer = window.setTimeout(() => setDone(""), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const press = async () => {
    const word = (await copy(p.text())) ? "Copied" : "Not copied";
    setDone(word);
    announce(word);
  };
  return (
    <button type="button" class="copy" aria-label={p.label} title={p.label} onClick={press}>
      {done || p.children || <CopyIcon />}
    </button>
  );
}

function CopyIcon() {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" fill="none" stroke="currentColor" stroke-width="1.4" aria-hidden="true">
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
    </svg>
  );
}
