import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon";
import "./popover.css";

/**
 * A button that opens something small under it: choices, a short form. Escape, a click elsewhere
 * and close, which its content gets, close it; the focus goes back to the button.
 */
export function Popover(p: { label: string; icon?: IconName; class?: string; right?: boolean; badge?: string; children: (close: () => void) => ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>(".popover input, .popover button, .popover a")?.focus();
    const away = (e: Event) => box.current?.contains(e.target as Node) || setOpen(false);
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  return (
    <div
      class="popover-box"
      ref={box}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || !open) return;
        e.stopPropagation();
        close();
      }}
    >
      <button type="button" class={p.class} ref={button} aria-expanded={open} onClick={() => setOpen(!open)}>
        {p.icon && <Icon name={p.icon} />}
        {p.label}
        {p.badge && <span class="pill">{p.badge}</span>}
      </button>
      {open && (
        <div class={p.right ? "popover right" : "popover"} role="group" aria-label={p.label}>
          {p.children(close)}
        </div>
      )}
    </div>
  );
}
