/** Holdfast's public entry: re-exports only. */

export type { ActivityCode, ActivityScope } from "./core/activity.ts";
export type * from "./core/bounds.ts";
export { compensationMachine } from "./core/compensation.ts";
export { asState } from "./core/compose.ts";
export type * from "./core/data-model.ts";
export type * from "./core/definition.ts";
export { durationMs } from "./core/duration.ts";
export type * from "./core/effect.ts";
export { type Event, type EventKind, type EventShape, type Matching, settledEvent } from "./core/event.ts";
export { type Comparison, compareDefinitions, type DefinitionChange } from "./core/evolve/compare.ts";
export { type Evolved, type EvolveOptions, evolve } from "./core/evolve/evolve.ts";
export type { MigrationScope } from "./core/evolve/mapping.ts";
export {
  defineMigration,
  type MappingParts,
  type Migration,
  type MigrationParts,
} from "./core/evolve/migration.ts";
export type { EvolutionProblem, EvolutionReport, Pending } from "./core/evolve/report.ts";
export type * from "./core/infer.ts";
export type { Failure, Received } from "./core/infer-handler.ts";
export type { ActivityTypes, MachineInput, MachineOutput } from "./core/infer-invoke.ts";
export type { Composed } from "./core/infer-state.ts";
export { freezeStates, type Json, type JsonObject, type Path } from "./core/json.ts";
export { defineMachine, type Implementations, type Machine, type MachineOf } from "./core/machine.ts";
export { apply, diff, type Patch } from "./core/patch.ts";
export type { Problem } from "./core/problem.ts";
export { can, hasTag, matches, nextEvents } from "./core/query.ts";
export { restore } from "./core/restore.ts";
export type { InputOf, OutputOf, Schema } from "./core/schema.ts";
export type * from "./core/scope.ts";
export type * from "./core/shorthand/definition.ts";
export { expand } from "./core/shorthand/expand.ts";
export { type SimulateOptions, type Simulation, simulate, type Turn } from "./core/simulate.ts";
export type * from "./core/state.ts";
export { type CancelOptions, cancel, type Outcome, resume, type Step, start, step } from "./core/step.ts";
export { type Due, type Outage, type ResumePolicy, resumedDue } from "./core/timer.ts";
export type * from "./core/trace.ts";
export { validate } from "./core/validate.ts";
export type { AskedOptions, StepOptions } from "./core/work.ts";
export { type ErrorCode, errors, HoldfastError, isHoldfastError, type Retry } from "./errors.ts";
export { limits } from "./limits.ts";
export type { Reconciled } from "./runtime/activity/attempts.ts";
export type { Chunk } from "./runtime/activity/stream.ts";
export type { LimitSource } from "./runtime/budget.ts";
export type { FlowOptions } from "./runtime/flow/flow.ts";
export type { DeadLetter, DeadLetters } from "./runtime/inbox/dead-letters.ts";
export type { AttemptBegun, AttemptOver, Observer } from "./runtime/observer.ts";
export type { DebounceContext } from "./runtime/platform/debounce-machine.ts";
export type { Deed } from "./runtime/platform/deed.ts";
export type { CatchUp, ScheduleContext, ScheduleDefinition } from "./runtime/platform/schedule-machine.ts";
export {
  type ActivityProfile,
  type ProfileOptions,
  profileOf,
  type RunProfile,
  type StateProfile,
  type Waits,
} from "./runtime/profile/journal.ts";
export type { HitRate, Measured } from "./runtime/profile/measure.ts";
export type { RuntimeProfile } from "./runtime/profile/profiler.ts";
export { showProfile } from "./runtime/profile/show.ts";
export { openReader, type PastStep, type Reader } from "./runtime/reader.ts";
export type { AnyMachine, MachineEntry } from "./runtime/registry.ts";
export {
  type Committed,
  type CommittedStep,
  createRuntime,
  type DebounceOptions,
  type End,
  type FollowOptions,
  type GivenEntry,
  type Observed,
  type PrunedRun,
  type Receipt,
  type Run,
  type Runtime,
  type RuntimeOptions,
  type Schedule,
  type ScheduledSend,
  type ScheduledStart,
  type ScheduleOptions,
  type Singleton,
  type SingletonPolicy,
  type StartOptions,
} from "./runtime/runtime.ts";
export type { Moved } from "./runtime/standing.ts";
export type { Entry } from "./store/journal.ts";
export type { RunHead } from "./store/records.ts";
export type * from "./store/search.ts";
