import { lazy, Suspense } from "preact/compat";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { needsToken } from "./api";
import { connection } from "./live";
import { place } from "./router";
import { SignIn, Whoami } from "./parts/signin";
import { Announcer } from "./parts/announcer";
import { Home } from "./pages/home";
import { Definitions } from "./pages/definitions";
import { Definition } from "./pages/definition";
import { Instances } from "./pages/instances";
import { Instance } from "./pages/instance";
import { Events } from "./pages/events";
import { Board } from "./pages/board";
import { Nodes } from "./pages/nodes";
import { NotFound } from "./pages/notfound";

// The editor is large and few need it at once.
const Playground = lazy(() => import("./pages/playground"));

const menu = [
  ["/", "Home"],
  ["/definitions", "Definitions"],
  ["/instances", "Instances"],
  ["/events", "Events"],
  ["/board", "Board"],
  ["/nodes", "Nodes"],
  ["/playground", "Playground"],
] as const;

export function App() {
  const [top = "", id] = place.value.parts;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/" aria-label="Lockstep, home">
          <img src="/icon.svg" alt="" width="22" height="22" /> Lockstep
        </a>
        <nav aria-label="Main">
          {menu.map(([href, name]) => (
            <a href={href} aria-current={href === "/" + top ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Whoami />
        <Connection />
      </header>
      <main id="main" tabIndex={-1}>
        <Suspense fallback={<p class="quiet">Loading…</p>}>{pageOf(top, id)}</Suspense>
      </main>
      <SignIn />
      <Announcer />
    </>
  );
}

function pageOf(top: string, id?: string): ComponentChildren {
  switch (top) {
    case "":
      return <Home />;
    case "definitions":
      return id ? <Definition key={id} id={id} /> : <Definitions />;
    case "instances":
      return id ? <Instance key={id} id={id} /> : <Instances />;
    case "events":
      return <Events />;
    case "board":
      return <Board workflow={id} />;
    case "nodes":
      return <Nodes />;
    case "playground":
      return <Playground />;
  }
  return <NotFound />;
}

/** Sets the title of the window. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Lockstep` : "Lockstep";
  }, [title]);
}

function Connection() {
  const text = needsToken.value ? "signed out" : { connecting: "connecting", live: "live", lost: "server does not answer" }[connection.value];
  return (
    <span class={"connection " + connection.value} role="status">
      {text}
    </span>
  );
}
