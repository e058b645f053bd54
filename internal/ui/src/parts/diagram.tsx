// The viewer of diagrams, of definitions and of instances: a frame with a drawing of the server,
// and in the same frame those of the workflows that its states run.
import { createContext, type ComponentType } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Canvas } from "./diagram-canvas";
import type { EdgeMark, Fact, NodeMark } from "./diagram-drawing";
import "./diagram.css";
import "./diagram-viewer.css";

export { linksOf, statesOf, type EdgeMark, type Fact, type Link, type NodeMark } from "./diagram-drawing";

/** What a nested diagram is told: which state runs which workflow, ID or ID@VERSION. */
export interface NestedProps {
  state: string;
  workflow: string;
}

export interface DiagramProps {
  svg: string;
  label?: string;
  marks?: Map<string, NodeMark>;
  /** The ways that were taken, by their keys; the rest of the drawing steps back. */
  edges?: Map<string, EdgeMark>;
  selected?: string;
  onSelect?: (state: string) => void;
  /** What else is known of a state, for its card. */
  facts?: (state: string) => Fact[];
  /** Shows the workflow that a state runs, as another Diagram. Without it none can be opened. */
  nested?: ComponentType<NestedProps>;
}

interface Level extends NestedProps {
  nested: ComponentType<NestedProps>;
}

const Inside = createContext<{ open: (level: Level) => void; full: boolean; onFull: () => void; active: boolean } | undefined>(undefined);

/**
 * A diagram as the server draws it. With onSelect its states are buttons. It is drawn once;
 * when marks change, only those do.
 */
export function Diagram(p: DiagramProps) {
  const outer = useContext(Inside);
  if (!outer) return <Viewer {...p} />;
  return <Canvas {...p} {...outer} open={(state, workflow) => p.nested && outer.open({ state, workflow, nested: p.nested })} />;
}

const deepest = 20;

function Viewer(p: DiagramProps) {
  const root = useRef<HTMLDivElement>(null);
  const [levels, setLevels] = useState<Level[]>([]);
  const [full, setFull] = useState(false);
  const onFull = () => void toggleFull(root.current!, full, setFull);
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement === root.current);
    document.addEventListener("fullscreenchange", changed);
    return () => document.removeEventListener("fullscreenchange", changed);
  }, []);
  const open = (level: Level) => {
    setLevels((old) => (old.length < deepest ? [...old, level] : old));
    focusFrame();
  };
  const back = (to: number) => {
    setLevels((old) => old.slice(0, to));
    focusFrame();
  };
  const focusFrame = () => queueMicrotask(() => requestAnimationFrame(() => root.current?.querySelector<HTMLElement>(".canvas:not([hidden]) .frame")?.focus({ preventScroll: true })));
  return (
    <div
      class={full ? "diagram full" : "diagram"}
      ref={root}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || e.defaultPrevented || (!full && levels.length === 0)) return;
        e.preventDefault();
        if (levels.length > 0) back(levels.length - 1);
        else onFull();
      }}
    >
      {levels.length > 0 && (
        <nav class="levels" aria-label="Workflows inside of each other">
          <button type="button" onClick={() => back(levels.length - 1)}>
            ‹ Back
          </button>
          <ol>
            <li>
              <button type="button" class="link" onClick={() => back(0)}>
                {p.label ?? "Diagram"}
              </button>
            </li>
            {levels.map((l, i) => (
              <li key={i}>
                {i < levels.length - 1 ? (
                  <button type="button" class="link" onClick={() => back(i + 1)}>
                    {l.state}: {l.workflow}
                  </button>
                ) : (
                  <span aria-current="step">
                    {l.state}: {l.workflow}
                  </span>
                )}
              </li>
            ))}
          </ol>
        </nav>
      )}
      <Canvas {...p} full={full} onFull={onFull} active={levels.length === 0} open={(state, workflow) => p.nested && open({ state, workflow, nested: p.nested })} />
      {levels.map((l, i) => (
        <Inside.Provider key={i} value={{ open, full, onFull, active: i === levels.length - 1 }}>
          <div class="level" hidden={i < levels.length - 1}>
            <l.nested state={l.state} workflow={l.workflow} />
          </div>
        </Inside.Provider>
      ))}
    </div>
  );
}

/** The whole screen if the browser can, else the whole window. */
async function toggleFull(root: HTMLElement, full: boolean, set: (full: boolean) => void) {
  if (full) {
    if (document.fullscreenElement) await document.exitFullscreen();
    set(false);
    return;
  }
  try {
    await root.requestFullscreen();
  } catch {
    // Phones have no full screen for a part of a page.
  }
  set(true);
}
