/** Waiting between two attempts to connect: the one place where the client has a timer. */

/** Resolves after so many milliseconds, or at once when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((over) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      over();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
