// The bar at the side: where one can go, who one is, and how the page stands to the server.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { needsToken } from "../api";
import { connection } from "../live";
import { place } from "../router";
import { may, type Deed } from "./access";
import { Icon, type IconName } from "./icon";
import { keep, kept } from "./kept";
import { Whoami } from "./signin";
import "./shell.css";

const menu: [href: string, name: string, icon: IconName, ...deeds: Deed[]][] = [ // for whom may do one of these
  ["/", "Home", "home", "read"],
  ["/instances", "Instances", "instances", "read"],
  ["/definitions", "Definitions", "definitions", "read"],
  ["/events", "Events", "events", "read", "send"],
  ["/schedules", "Schedules", "schedules", "read"],
  ["/board", "Board", "board", "read"],
  ["/nodes", "Nodes", "nodes", "read"],
  ["/playground", "Playground", "playground", "start"],
];
const first = 4; // that are there at once on a phone; the others are behind one more touch

// Between phones and windows of this width there is no room for names.
const narrow = matchMedia("(max-width: 1023px)");
const tight = signal(narrow.matches);
narrow.addEventListener("change", (e) => (tight.value = e.matches));
const chosen = signal(kept("navigation") === "folded");

/** Whether the navigation shows its drawings alone. */
export function folded(): boolean {
  return tight.value || chosen.value;
}

export function Side() {
  const fold = folded();
  return (
    <header class="side">
      <a class="brand" href="/" aria-label="Lockstep, home">
        <img src="/icon.svg" alt="" width="22" height="22" /> <span>Lockstep</span>
      </a>
      <Navigation titles={fold} />
      <div class="foot">
        <Whoami />
        <div class="footline">
          {may("read") && <Connection />}
          <button
            type="button"
            class="icon small ghost fold-button"
            aria-expanded={!fold}
            aria-label={fold ? "Unfold the navigation" : "Fold the navigation"}
            title={fold ? "Unfold the navigation" : "Fold the navigation"}
            onClick={() => {
              chosen.value = !chosen.value;
              keep("navigation", chosen.value ? "folded" : undefined);
            }}
          >
            <Icon name={fold ? "expand" : "collapse"} />
          </button>
        </div>
      </div>
    </header>
  );
}

function Navigation(p: { titles: boolean }) {
  const { parts, path } = place.value;
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    if (!open) return;
    const away = (e: Event) => box.current?.contains(e.target as Node) || setOpen(false);
    const escape = (e: KeyboardEvent) => e.key === "Escape" && setOpen(false);
    document.addEventListener("pointerdown", away);
    document.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("keydown", escape);
    };
  }, [open]);
  const at = "/" + (parts[0] ?? "");
  const places = menu.filter(([, , , ...deeds]) => deeds.some(may));
  const link = ([href, name, icon]: (typeof menu)[number]) => (
    <a key={href} href={href} aria-current={href === at ? "page" : undefined} title={p.titles ? name : undefined}>
      <Icon name={icon} size={20} />
      <span class="place-name">{name}</span>
    </a>
  );
  return (
    <nav aria-label="Main">
      {places.slice(0, first).map(link)}
      <div class="more-places" ref={box} hidden={places.length <= first}>
        <button type="button" class={places.slice(first).some(([href]) => href === at) ? "more-button here" : "more-button"} aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="more" size={20} /> More
        </button>
        <div class={open ? "others open" : "others"}>{places.slice(first).map(link)}</div>
      </div>
    </nav>
  );
}

function Connection() {
  const text = needsToken.value ? "signed out" : { connecting: "connecting", live: "live", lost: "server does not respond" }[connection.value];
  return (
    <span class={"connection " + (needsToken.value ? "" : connection.value)} role="status" title={text}>
      <span>{text}</span>
    </span>
  );
}
