/** Every bound of the system, with its reason. A bound is tested at the limit and one past it. */
export const limits = {
  /** Microsteps of one step. Real charts need a handful; a thousand means the chart is going round in circles. */
  microstepsMax: 1_000,
  /** How much of a runaway loop its error shows: enough to see a cycle, short enough to read. */
  loopShownMax: 12,
  /** Deferred events of one run. They live in its state, so an endless backlog would make every step slow. */
  deferredMax: 1_000,
  /** Nesting of any JSON value. Deeper values overflow the stack of ordinary recursive code. */
  jsonDepthMax: 200,
  /** States of one machine. Far above any chart a person could read; keeps hostile definitions finite. */
  statesMax: 20_000,
  /** Nesting of states. Paths, diagrams and recursion stay sane below it. */
  stateDepthMax: 64,
  /** Configurations and plans a compiled machine remembers before it starts its cache afresh. */
  cachedMax: 10_000,
  /** Turns a simulation may need to come to rest without time passing; runs that keep sending to each other never do. */
  turnsMax: 100_000,
} as const;
