import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, needsToken, Problem, signedIn } from "../api";
import { session, type Session } from "./access";
import { forgetDrafts } from "./draft";
import { useLoad } from "./load";
import "./signin.css";

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
      <span>
        {s.name} ({s.role})
      </span>
      {s.role === "viewer" && (
        <span class="pill" title="With the role viewer, nothing can be started or changed.">
          Read-only
        </span>
      )}
      <button type="button" class="small" onClick={signOut}>
        Sign out
      </button>
    </span>
  );
}

/**
 * Asks for a token where the server needs one. The page behind it is not seen, and stays as it is:
 * once there is a token, it shows what its address says.
 */
export function SignIn() {
  const field = useRef<HTMLInputElement>(null);
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const before = document.title;
    document.title = "Sign in · Lockstep";
    field.current?.focus();
    return () => {
      document.title = before;
      document.getElementById("main")?.focus({ preventScroll: true });
    };
  }, []);
  const submit = async (e: Event) => {
    e.preventDefault();
    if (busy) return;
    if (!token.trim()) return setError("Enter a token.");
    setBusy(true);
    setError("");
    try {
      await ask("/api/v1/session", { body: { token: token.trim() } });
      enter();
      tabs.postMessage("in");
    } catch (problem) {
      setError(problem instanceof Problem && problem.status === 401 ? "This server does not know this token: it is mistyped, has expired, or was revoked." : (problem as Error).message);
      setBusy(false);
      field.current?.select();
    }
  };
  return (
    <main class="signin-screen">
      <div class="signin-brand">
        <img src="/icon.svg" alt="" width="32" height="32" /> Lockstep
      </div>
      <form class="signin" onSubmit={submit} noValidate>
        <h1>Sign in to {location.host}</h1>
        <label for="signin-token">Token</label>
        <input
          id="signin-token"
          ref={field}
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          value={token}
          aria-invalid={error !== ""}
          aria-describedby={error ? "signin-error" : undefined}
          onInput={(e) => setToken(e.currentTarget.value)}
        />
        {error && (
          <p class="wrong" id="signin-error" role="alert">
            {error}
          </p>
        )}
        <button class="main" type="submit" aria-disabled={busy}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
        <p class="quiet">This browser keeps a session, not the token, until it is closed or you sign out.</p>
      </form>
      <details class="signin-what">
        <summary>What is a token, and where do I get one?</summary>
        <p>
          A token says who you are, and which role you have: a viewer reads, an operator also starts, retries and stops instances, an author deploys definitions, an admin
          does everything.
        </p>
        <p>
          Whoever runs this server makes one with <code>lockstep token new --name NAME --role operator</code>. It begins with <code>ls_</code>, is shown once, and is
          the same that the command line uses.
        </p>
      </details>
    </main>
  );
}
