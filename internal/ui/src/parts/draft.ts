import { useState } from "preact/hooks";

const prefix = "lockstep-form:";

/**
 * A text that someone writes into a form. It is still there after going elsewhere and back,
 * in this tab, until it is forgotten.
 */
export function useDraft(name: string, start: string): [string, (text: string) => void, () => void] {
  const key = prefix + name;
  const [text, setText] = useState(() => read(key) ?? start);
  const write = (next: string) => {
    setText(next);
    keep(key, next === start ? null : next);
  };
  return [text, write, () => keep(key, null)];
}

function read(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // this browser keeps nothing
  }
}

function keep(key: string, text: string | null) {
  try {
    if (text === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // then it is there only while the form is
  }
}

/** Forgets what was written into forms: the next person is somebody else. */
export function forgetDrafts() {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  } catch {
    // nothing is kept
  }
}
