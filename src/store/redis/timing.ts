/**
 * How long Redis is waited for. This is about the patience of one process and never about the time of runs, so it reads
 * the machine's own clock; nothing that is stored or decided depends on it.
 */

/** Milliseconds from anywhere, that only go on. */
export const now = (): number => performance.now();

/** Calls back after so many milliseconds; the result takes it back. It does not keep a process from ending. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}

/** What was promised, or undefined if it failed or took too long; never an error. */
export function within<Answer>(ms: number, promised: Promise<Answer>): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    // An answer may have come while this process was busy: it is read before its time is called up.
    const timer = setTimeout(() => setImmediate(() => resolve(undefined)), ms);
    const end = (answer: Answer | undefined): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    promised.then(end, () => end(undefined));
  });
}
