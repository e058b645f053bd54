import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "./menu.css";

export interface MenuItem {
  label: string;
  press: () => void;
  disabled?: boolean;
  title?: string;
}

/** A button that opens a list of actions. Arrow keys go through it, Escape closes it. */
export function Menu(p: { label: ComponentChildren; name: string; items: MenuItem[] }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    entries()[0]?.focus();
    const outside = (e: Event) => !box.current?.contains(e.target as Node) && setOpen(false);
    addEventListener("pointerdown", outside);
    addEventListener("focusin", outside);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("focusin", outside);
    };
  }, [open]);
  const entries = () => [...(box.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? [])];
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const keys = (e: KeyboardEvent) => {
    const list = entries();
    const at = list.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: list.length - 1 }[e.key];
    if (e.key === "Escape") close();
    else if (to === undefined) return;
    else list[(to + list.length) % list.length]?.focus();
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="action-menu" ref={box} onKeyDown={open ? keys : undefined}>
      <button type="button" ref={button} aria-haspopup="menu" aria-expanded={open} aria-label={p.name} onClick={() => setOpen(!open)}>
        {p.label}
      </button>
      {open && (
        <div class="action-list" role="menu" aria-label={p.name}>
          {p.items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              aria-disabled={item.disabled}
              title={item.title}
              onClick={() => {
                if (item.disabled) return;
                close();
                item.press();
              }}
            >
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
