/** Time, as a port: the one place where the runtime meets real clocks and timers. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back after so many milliseconds; the result takes it back. */
  after(ms: number, run: () => void): () => void;
  /** Calls back once whatever is going on now has run. */
  soon(run: () => void): void;
  /** Milliseconds from anywhere, with fractions, that only go on: to measure with. `now` serves where there is none. */
  stamp?(): number;
}

/** A timer of Node cannot wait longer; what comes later is woken in between and waits on. */
const timerMsMax = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      timer =
        left > timerMsMax
          ? setTimeout(() => wait(left - timerMsMax), timerMsMax)
          : setTimeout(run, Math.max(0, left));
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
  soon: (run) => {
    setImmediate(run);
  },
  stamp: () => performance.now(),
};
