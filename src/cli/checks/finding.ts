/** What a check found. */

export interface Finding {
  /** What was looked at. */
  readonly check: string;
  /** `warning`: it works, and will not for ever or not for everybody. */
  readonly status: "good" | "warning" | "bad";
  readonly found: string;
  /** What to do, wherever it is not good. */
  readonly remedy?: string;
}

export const good = (check: string, found: string): Finding => ({ check, status: "good", found });
export const warning = (check: string, found: string, remedy: string): Finding => ({
  ...{ check, status: "warning", found, remedy },
});
export const bad = (check: string, found: string, remedy: string): Finding => ({
  ...{ check, status: "bad", found, remedy },
});

/** A number with its noun: `1 run`, `2 runs`; with the most that is counted, `1000 or more`. */
export function amount(count: number, noun: string, max = Number.POSITIVE_INFINITY): string {
  return `${count}${count >= max ? " or more" : ""} ${noun}${count === 1 ? "" : "s"}`;
}

export const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
