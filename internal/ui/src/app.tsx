import { lazy, Suspense } from "preact/compat";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { needsToken } from "./api";
import { place } from "./router";
import { may, NotAllowed, type Deed } from "./parts/access";
import { folded, Side } from "./parts/shell";
import { SignIn } from "./parts/signin";
import { announce, Announcer } from "./parts/announcer";
import { Loading, PageHead } from "./parts/head";
import { Home } from "./pages/home";
import { Definitions } from "./pages/definitions";
import { Definition } from "./pages/definition";
import { Instances } from "./pages/instances";
import { Instance } from "./pages/instance";
import { Events } from "./pages/events";
import { Board } from "./pages/board";
import { Schedules } from "./pages/schedules";
import { Nodes } from "./pages/nodes";
import { NotFound } from "./pages/notfound";

// The editor is large and few need it at once.
const Playground = lazy(() => import("./pages/playground"));

export function App() {
  const { parts, path } = place.value;
  useArrival(path);
  return (
    <>
      {needsToken.value && <SignIn />}
      <a class="skip" href="#main" hidden={needsToken.value}>
        Skip to the content
      </a>
      <div class={folded() ? "shell folded" : "shell"} hidden={needsToken.value}>
        <Side />
        <main id="main" tabIndex={-1} class={parts[0] === "board" && parts[1] ? "wide" : undefined}>
          <Suspense fallback={<Loading />}>{pageOf(parts)}</Suspense>
        </main>
      </div>
      <Announcer />
    </>
  );
}

// Pages that show one thing have its name as the second part of their path.
const withOne = ["definitions", "instances", "board"];

function pageOf(parts: string[]): ComponentChildren {
  const [top, id] = parts;
  const most = withOne.includes(top ?? "") ? 2 : 1;
  if (parts.length > most || parts.includes("")) return <NotFound />;
  if (!may("read") && top !== "events") return <Barred title="Lockstep" deed="read" what="read what is here" />;
  switch (top) {
    case undefined:
      return <Home />;
    case "definitions":
      return id ? <Definition key={id} id={id} /> : <Definitions />;
    case "instances":
      return id ? <Instance key={id} id={id} /> : <Instances />;
    case "schedules":
      return <Schedules />;
    case "events":
      return <Events />;
    case "board":
      return <Board workflow={id} />;
    case "nodes":
      return <Nodes />;
    case "playground":
      return may("start") ? <Playground /> : <Barred title="Playground" deed="start" what="use the playground" />;
  }
  return <NotFound />;
}

/** A page that the role may not use. */
function Barred(p: { title: string; deed: Deed; what: string }) {
  useTitle(p.title);
  return (
    <>
      <PageHead title={p.title} />
      <NotAllowed deed={p.deed} what={p.what} />
    </>
  );
}

let titled = false;

/** Sets the title of the window, and says it to those who do not see that the page is another. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Lockstep` : "Lockstep";
    if (titled) announce(title || "Home");
    titled = true;
  }, [title]);
}

/**
 * Brings the focus to the heading of a page that was gone to, where keys go on from. A page
 * that has yet to load gets it as a whole, and its heading when that is there.
 */
function useArrival(path: string) {
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const main = document.getElementById("main")!;
    const at = document.activeElement;
    if (at !== main && main.contains(at)) return; // the page has put it somewhere
    main.focus({ preventScroll: true });
    const enter = () => {
      const heading = main.querySelector<HTMLElement>("h1");
      if (!heading) return false;
      if (document.activeElement === main) {
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }
      return true;
    };
    if (enter()) return;
    const drawn = new MutationObserver(() => enter() && drawn.disconnect());
    drawn.observe(main, { childList: true, subtree: true });
    return () => drawn.disconnect();
  }, [path]);
}
