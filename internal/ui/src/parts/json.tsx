import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Copy } from "./copy";
import { number } from "./format";
import { find, firstOpen, further, isTree, reveal, rowsOf, sizeOf, spoken, valueAt, type Row } from "./json-rows";
import "./json.css";

const height = 22; // of a line, in pixels: json.css has the same
const linesAtFirst = 40;
const most = 300; // lines that are drawn without a window over them
const longText = 160; // characters of a text in its line
const searchFrom = 15; // lines from which on there is a search

/**
 * A JSON value as a tree: folded, searched, and copied as a whole or in part. What is not seen is
 * not drawn, so that a value of a megabyte is as quick as a small one.
 */
export function Json(p: { value: unknown; label: string }) {
  if (p.value === undefined) return <p class="quiet">none</p>;
  if (!isTree(p.value) || sizeOf(p.value) === 0) {
    return (
      <div class="json small" role="region" aria-label={p.label} tabIndex={0}>
        <Scalar value={p.value} whole /> <Copy label={"Copy " + p.label} text={() => textOf(p.value)} />
      </div>
    );
  }
  return <Tree value={p.value} label={p.label} />;
}

function textOf(v: unknown): string {
  return typeof v === "string" ? v : JSON.stringify(v, null, 2);
}

/** The value that is shown; one that is equal but newly read is the same, so that what was opened stays open. */
function useSame(value: unknown): unknown {
  const kept = useRef(value);
  if (kept.current !== value && JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}

function Tree(p: { value: unknown; label: string }) {
  const value = useSame(p.value);
  const [open, setOpen] = useState(() => firstOpen(value, linesAtFirst));
  const [extent, setExtent] = useState(() => new Map<string, number>());
  const [at, setAt] = useState("");
  const [whole, setWhole] = useState<string>(); // the pointer of a long text that is shown in full
  const [search, setSearch] = useState("");
  const rows = useMemo(() => rowsOf(value, open, extent), [value, open, extent]);
  const found = useMemo(() => (search ? find(value, search) : []), [value, search]);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);

  const index = Math.max(0, rows.findIndex((r) => r.path === at && r.more === undefined));
  const windowed = rows.length > most;
  const view = 18;
  const first = windowed ? Math.max(0, Math.floor(top / height) - 10) : 0;
  const last = windowed ? Math.min(rows.length, first + view + 30) : rows.length;

  const go = (path: string, focus = true) => {
    const next = reveal(value, path, open, extent);
    setOpen(next.open);
    setExtent(next.extent);
    setAt(path);
    toLine.current = { path, focus };
  };
  const toLine = useRef<{ path: string; focus: boolean }>(null);
  // Before anything else happens: what had the focus may be gone, and the next key with it.
  useLayoutEffect(() => {
    const want = toLine.current;
    toLine.current = null;
    if (!want || !box.current) return;
    const i = rows.findIndex((r) => r.path === want.path && r.more === undefined);
    const y = i * height;
    if (y < box.current.scrollTop || y > box.current.scrollTop + box.current.clientHeight - 2 * height) box.current.scrollTop = Math.max(0, y - 4 * height);
    if (!want.focus) return;
    const focus = () => box.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(want.path)}"]`)?.focus({ preventScroll: true });
    if (!windowed) return focus();
    box.current.focus({ preventScroll: true }); // the line that had it may go; keys are taken meanwhile
    requestAnimationFrame(() => requestAnimationFrame(focus));
  });
  const toggle = (row: Row, to = !row.open) => {
    const next = new Set(open);
    if (to) next.add(row.path);
    else next.delete(row.path);
    setOpen(next);
    setAt(row.path);
    toLine.current = { path: row.path, focus: true }; // a tree that becomes large or small is drawn anew
  };
  const keys = (e: KeyboardEvent) => {
    if (e.target instanceof HTMLButtonElement || e.ctrlKey || e.metaKey || e.altKey) return;
    const row = rows[index]!;
    const to = (i: number) => {
      let k = Math.max(0, Math.min(rows.length - 1, i));
      if (rows[k]?.more !== undefined) k = Math.max(0, k - 1);
      go(rows[k]!.path);
    };
    switch (e.key) {
      case "ArrowDown":
        to(rows[index + 1]?.more !== undefined ? index + 2 : index + 1);
        break;
      case "ArrowUp":
        to(index - 1);
        break;
      case "Home":
        to(0);
        break;
      case "End":
        to(rows.length - 1);
        break;
      case "ArrowRight":
        if (row.size && !row.open) toggle(row, true);
        else to(index + 1);
        break;
      case "ArrowLeft":
        if (row.open) toggle(row, false);
        else if (row.path) go(row.path.slice(0, row.path.lastIndexOf("/")));
        break;
      case "Enter":
      case " ":
        if (row.size) toggle(row);
        else if (isLong(row.value)) setWhole(whole === row.path ? undefined : row.path);
        break;
      default:
        return;
    }
    e.preventDefault();
  };
  const nth = found.indexOf(at);
  const next = (by: number) => found.length > 0 && go(found[(nth + by + found.length) % found.length]!, false);
  const large = rows.length >= searchFrom || rows.some((r) => r.size > 0 && !r.open);
  const lines = rows.slice(first, last).map((row, i) => (
    <Line
      key={row.path + (row.more ?? "")}
      row={row}
      chosen={index === first + i}
      hit={search !== "" && row.path === at && found.includes(at)}
      onToggle={() => toggle(row)}
      onChoose={() => setAt(row.path)}
      onMore={() => setExtent(further(extent, row.path))}
      onWhole={() => setWhole(whole === row.path ? undefined : row.path)}
    />
  ));
  return (
    <div class="json" role="region" aria-label={p.label}>
      <div class={large ? "json-bar" : "json-bar slim"}>
        {large && (
          <>
            <input
              type="search"
              placeholder="Search"
              aria-label={"Search in " + p.label}
              value={search}
              onInput={(e) => {
                const text = e.currentTarget.value;
                setSearch(text);
                const hits = text ? find(value, text) : [];
                if (hits.length > 0) go(hits[0]!, false);
              }}
              onKeyDown={(e) => {
                if (e.key !== "Enter") return;
                e.preventDefault();
                next(e.shiftKey ? -1 : 1);
              }}
            />
            {search && (
              <span class="quiet" role="status">
                {found.length === 0 ? "not found" : `${nth + 1} of ${found.length === 1000 ? "1,000+" : found.length}`}
              </span>
            )}
            <button type="button" class="bare" onClick={() => setOpen(open.size > 1 ? new Set([""]) : firstOpen(value, 2000))}>
              {open.size > 1 ? "Fold" : "Unfold"}
            </button>
          </>
        )}
        <span class="json-copy">
          {at && (
            <Copy label={`Copy path ${spoken(at)}`} text={() => spoken(at)}>
              Copy path
            </Copy>
          )}
          <Copy label={at ? `Copy value of ${spoken(at)}` : "Copy " + p.label} text={() => textOf(valueAt(value, at))}>
            {at ? "Copy value" : "Copy"}
          </Copy>
        </span>
      </div>
      <div class={"json-lines" + (windowed ? " windowed" : "")} ref={box} role="tree" tabIndex={-1} aria-label={p.label} onKeyDown={keys} onScroll={windowed ? (e) => setTop(e.currentTarget.scrollTop) : undefined}>
        {windowed ? (
          <div role="presentation" class="json-all" style={{ height: `${rows.length * height}px` }}>
            <div role="presentation" class="json-part" style={{ top: `${first * height}px` }}>
              {lines}
            </div>
          </div>
        ) : (
          lines
        )}
      </div>
      {whole !== undefined && (
        <div class="json-whole">
          <div class="json-bar">
            <span class="quiet mono">{spoken(whole)}</span>
            <span class="json-copy">
              <Copy label="Copy this text" text={() => String(valueAt(value, whole))}>
                Copy
              </Copy>
              <button type="button" class="bare" onClick={() => setWhole(undefined)}>
                Close
              </button>
            </span>
          </div>
          <pre tabIndex={0} role="region" aria-label={"The text at " + spoken(whole)}>
            {String(valueAt(value, whole))}
          </pre>
        </div>
      )}
    </div>
  );
}

function isLong(v: unknown): v is string {
  return typeof v === "string" && v.length > longText;
}

function Line(p: { row: Row; chosen: boolean; hit: boolean; onToggle: () => void; onChoose: () => void; onMore: () => void; onWhole: () => void }) {
  const { row } = p;
  const indent = { paddingLeft: `${row.depth * 1.1 + 0.25}rem` };
  if (row.more !== undefined) {
    return (
      <div class="json-line" role="none" style={indent}>
        <button type="button" class="bare" onClick={p.onMore}>
          {number(row.more)} more
        </button>
      </div>
    );
  }
  return (
    <div
      class={"json-line" + (p.chosen ? " chosen" : "") + (p.hit ? " hit" : "")}
      style={indent}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={row.size ? row.open : undefined}
      aria-selected={p.chosen}
      data-path={row.path}
      tabIndex={p.chosen ? 0 : -1}
      onClick={() => {
        if (window.getSelection()?.toString()) return; // someone marks a text
        if (row.size) p.onToggle();
        else p.onChoose();
      }}
    >
      <span class="json-fold" aria-hidden="true">
        {row.size ? (row.open ? "▾" : "▸") : ""}
      </span>
      {row.key !== undefined && (
        <>
          <span class={typeof row.key === "number" ? "json-index" : "json-key"}>{row.key}</span>
          <span class="json-mark">:</span>{" "}
        </>
      )}
      {isTree(row.value) ? (
        <span class="json-mark">
          {Array.isArray(row.value) ? (row.open ? "[" : "[…]") : row.open ? "{" : "{…}"}
          <span class="json-size"> {row.size === 0 ? "empty" : number(row.size) + (Array.isArray(row.value) ? " items" : row.size === 1 ? " key" : " keys")}</span>
        </span>
      ) : (
        <>
          <Scalar value={row.value} />
          {isLong(row.value) && (
            <button type="button" class="bare" onClick={(e) => (e.stopPropagation(), p.onWhole())}>
              Show all {number(row.value.length)} characters
            </button>
          )}
        </>
      )}
    </div>
  );
}

function Scalar(p: { value: unknown; whole?: boolean }) {
  const v = p.value;
  if (typeof v === "string") {
    const text = !p.whole && v.length > longText ? v.slice(0, longText) + "…" : v;
    return <span class="json-text">{JSON.stringify(text)}</span>;
  }
  if (isTree(v)) return <span class="json-mark">{JSON.stringify(v)}</span>;
  return <span class={v === null ? "json-null" : typeof v === "number" ? "json-number" : "json-flag"}>{JSON.stringify(v)}</span>;
}
