/** Waiting by a clock, for as long as it is wanted. */
import type { Clock } from "./clock.ts";

/** Resolves after so long, or at once when the signal says that nobody waits any more; leaves nothing behind. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      stop();
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const stop = clock.after(ms, wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}
