import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, needsToken, signedIn } from "../api";
import { session, type Session } from "./access";
import { forgetDrafts } from "./draft";
import { useLoad } from "./load";
import { ProblemBox } from "./problem";

// All tabs have one cookie, so that who signs in or out in one does so in all.
const tabs = new BroadcastChannel("lockstep-session");
tabs.onmessage = (e) => {
  if (e.data === "in") enter();
  else leave();
};

function enter() {
  needsToken.value = false;
  signedIn.value++;
}

/** Nothing stays of what was read. */
function leave() {
  forgetDrafts();
  location.assign("/");
}

/** Who the page acts for, where the server wants to know. */
export function Whoami() {
  const read = useLoad((signal) => get<Session>("/api/v1/session", signal), [signedIn.value]);
  useEffect(() => {
    if (read.data) session.value = read.data;
  }, [read.data]);
  const s = read.data;
  if (!s?.needed || !s.name) return null;
  const signOut = async () => {
    await ask("/api/v1/session", { method: "DELETE" });
    tabs.postMessage("out");
    leave();
  };
  return (
    <span class="whoami">
      {s.name} ({s.role}){" "}
      <button type="button" onClick={signOut}>
        Sign out
      </button>
    </span>
  );
}

/** Asks for a token where the server needs one. What is behind it stays as it is. */
export function SignIn() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [token, setToken] = useState("");
  const [error, setError] = useState<unknown>();
  const open = needsToken.value;
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open) dialog.current?.close();
  }, [open]);
  const submit = async (e: Event) => {
    e.preventDefault();
    setError(undefined);
    try {
      await ask("/api/v1/session", { body: { token: token.trim() } });
      setToken("");
      enter();
      tabs.postMessage("in");
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="signin-title" onCancel={(e) => e.preventDefault()}>
      <form class="signin" onSubmit={submit}>
        <h2 id="signin-title">This server needs a token</h2>
        <p class="quiet">It is kept in a cookie that scripts cannot read, until the browser is closed.</p>
        <label for="signin-token">Token</label>
        <input id="signin-token" type="password" autocomplete="current-password" required value={token} onInput={(e) => setToken(e.currentTarget.value)} />
        <ProblemBox error={error} />
        <button class="main" type="submit">
          Sign in
        </button>
      </form>
    </dialog>
  );
}
