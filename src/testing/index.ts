/** What is for users' tests: a harness for machines, scripted activities, and a clock that waits to be told. */
export type { CrashOptions, CrashReport } from "./crash.ts";
export type { Expected, ExpectedPending, ExpectedStep, Matching } from "./expectation.ts";
export { type Harness, harness, type SendOptions, type Sent } from "./harness.ts";
export type { JournalStep, Recorded } from "./mirror.ts";
export { type Answer, answers, failing, later, never, type Script, type Scripted } from "./script.ts";
export type { HarnessOptions } from "./stage.ts";
export { type Surroundings, VirtualClock } from "./virtual-clock.ts";
export type { Call, Scripts } from "./world.ts";
