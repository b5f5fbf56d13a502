/** How a command ends: the codes its process ends with, the same for all commands. */

export const exit = {
  /** It did what it was asked for; a worker that was told to stop left in good order. */
  done: 0,
  /** It could not, and says why; or `doctor` found something bad. */
  failed: 1,
  /** It was called wrongly. */
  misused: 2,
  /** A worker was told to stop, and its activities took longer than they were given: they are left to others. */
  undrained: 3,
} as const;

/** What a process ends with that was told by a signal to end at once, as shells know it: 130 for SIGINT, 143 for SIGTERM. */
export const exitOf = { SIGINT: 130, SIGTERM: 143 } as const;

export type Stop = keyof typeof exitOf;
