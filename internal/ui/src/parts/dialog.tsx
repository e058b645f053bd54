import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import "./dialog.css";

/** A modal dialog: Escape and Cancel close it, the focus goes back to where it was. */
export function Dialog(p: {
  title: string;
  onClose: () => void;
  onSubmit?: () => void;
  action?: string; // what the main button says
  leave?: string; // what the other one says
  danger?: boolean;
  busy?: boolean;
  wide?: boolean; // it shows documents
  children: ComponentChildren;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current!.showModal();
    return () => before?.isConnected && before.focus();
  }, []);
  return (
    <dialog
      ref={box}
      class={p.wide ? "wide" : undefined}
      aria-labelledby="dialog-title"
      onCancel={(e) => {
        e.preventDefault();
        p.onClose();
      }}
      onClose={() => {
        // Browsers let a second Escape close it without asking; whoever shows it decides.
        p.onClose();
        requestAnimationFrame(() => box.current?.isConnected && !box.current.open && box.current.showModal());
      }}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (!p.busy) p.onSubmit?.();
        }}
      >
        <h2 id="dialog-title">{p.title}</h2>
        {p.children}
        <div class="dialog-buttons">
          <button type="button" onClick={p.onClose}>
            {p.leave ?? (p.onSubmit ? "Cancel" : "Close")}
          </button>
          {p.onSubmit && (
            <button type="submit" class={p.danger ? "main danger" : "main"} aria-disabled={p.busy}>
              {p.action}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}
