/** Whether somebody moves through time quickly: by a drag or a key that is held, not by a press now and then. */
import { useEffect, useRef, useState } from "react";

/** Longer than between two steps of a key that is held, shorter than one looks before the next press. */
const restMs = 150;

/** True from the second of two changes that follow closely, until it rests. */
export function useIsQuick(value: unknown): boolean {
  const [isQuick, setQuick] = useState(false);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  // biome-ignore lint/correctness/useExhaustiveDependencies: that it changed is all that counts.
  useEffect(() => {
    const now = performance.now();
    if (now - changedAt.current < restMs) setQuick(true);
    changedAt.current = now;
    const rest = window.setTimeout(() => setQuick(false), restMs);
    return () => window.clearTimeout(rest);
  }, [value]);
  return isQuick;
}
