import { useEffect, useRef } from "preact/hooks";
import { onChanges, onReset, type Change } from "../live";
import { throttle } from "./load";

/** Calls back when something that is wanted changed, at most once in a while; also after a gap. */
export function useLive(ms: number, wanted: (c: Change) => boolean, changed: () => void) {
  const now = useRef({ wanted, changed });
  now.current = { wanted, changed };
  useEffect(() => {
    const fire = throttle(ms, () => now.current.changed());
    const offs = [onChanges((changes) => changes.some((c) => now.current.wanted(c)) && fire()), onReset(fire)];
    return () => offs.forEach((off) => off());
  }, [ms]);
}
