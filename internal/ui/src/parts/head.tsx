// What screens begin with, and what they show while there is nothing.
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon";

/**
 * The head of a page: the kind of thing over its name, its status beside it, and what one comes
 * for at the right. A list has no kind: its title is one.
 */
export function PageHead(p: {
  kind?: string;
  kindHref?: string; // where all of the kind are
  title: ComponentChildren;
  status?: ComponentChildren;
  actions?: ComponentChildren;
  children?: ComponentChildren; // what is said under the title
}) {
  return (
    <header class="page-head">
      <div class="what">
        {p.kind && <p class="eyebrow">{p.kindHref ? <a class="calm" href={p.kindHref}>{p.kind}</a> : p.kind}</p>}
        <div class="title">
          <h1>{p.title}</h1>
          {p.status}
        </div>
        {p.children && <div class="under">{p.children}</div>}
      </div>
      {p.actions && <div class="acts">{p.actions}</div>}
    </header>
  );
}

/** Nothing is here: why, and what to do next. */
export function Empty(p: { icon?: IconName; title?: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      {p.icon && <Icon name={p.icon} size={20} />}
      {p.title && <h2>{p.title}</h2>}
      <div>{p.children}</div>
    </div>
  );
}

/** Stands where something is about to be. */
export function Loading(p: { lines?: number }) {
  return (
    <div class="skeleton">
      <span class="unseen">Loading…</span>
      {Array.from({ length: p.lines ?? 4 }, (_, i) => (
        <i key={i} />
      ))}
    </div>
  );
}
