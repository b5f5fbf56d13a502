/** How a check says that an invariant does not hold; the numbers are explained here once. */
export const invariants = {
  1: "an acknowledged event is consumed once or waits where it can be seen",
  2: "checkpoints have no gaps, and an event is in one entry at most",
  3: "stepping, the journal and the snapshots lead to the same state",
  4: "a step and all its effects exist together or not at all",
  5: "reading gives a state that was, and none older than what the reader was told",
  6: "a result is applied once and was given; what may happen once begins once; an attempt counts when it was made, and is made by whoever has the activity",
  7: "no write of an owner that was replaced is accepted, and of those who share a store one sees to each run",
  8: "after the storm everything that can go on comes to rest, and every call is answered",
  9: "a timer fires once, not early, and not after it was cancelled",
  12: "nothing begins for what was cancelled",
  13: "going back, forking and changing version happen as they were asked for, once; nothing pending is lost unsaid or begun twice, and a source stays as it is",
  14: "pieces of a stream are kept once, in order and without gaps, no later than their answer, and every reader hears the same",
  15: "a run is stepped by the definition of its version only, and takes all that is pending to another one",
  16: "tokens are neither made nor lost",
  17: "what was acknowledged survives the process and the power",
  19: "the digests chain every entry to the one before",
  20: "a run ends when it has used up what it may, and says why",
  21: "a reply is one that the run gave to this very question",
  22: "of what is sent together all is kept, or nothing",
  23: "what a run did is undone when it cannot go on, the last thing first and each once",
  24: "outages move timers as their policies say, and nothing else does",
  25: "what activities spend is counted once",
  26: "a run that refuses a result is parked, takes nothing, and is given it again when it comes back",
  27: "steps wait for a later commit only where the policy of their machine says so",
  28: "a run that is held stops where it was told to, and nowhere else",
  29: "what is removed, pruned or expired may go by the rules, goes wholly, and nothing else goes",
  30: "a backup holds all that was acknowledged before it began, and nothing that never was",
  31: "no more is under way at a time, or begins in a while, than may be, and what is urgent goes first",
} as const;

export type Invariant = keyof typeof invariants;

export type Report = (invariant: Invariant, text: string) => void;
