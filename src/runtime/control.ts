/**
 * Control: the platform's own events, with which a run is ended, parked, brought back or told of an outage. Each is a
 * step with an entry like any other, so the journal shows who did what to a run.
 */
import type { Event } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { State } from "../core/state.ts";
import { cancel, type Step, start, step } from "../core/step.ts";
import { type Outage, resume } from "../core/timer.ts";
import type { LiveRun } from "./live-run.ts";

/** Ends the run from outside; `origin` is the parent run, if it is the one who wants it. */
export const cancelEvent = (origin?: string): Event => ({
  type: "cancel",
  kind: "platform",
  ...(origin === undefined ? {} : { origin }),
});

/** Ends the run because it has used up what it may. */
export const limitEvent = (reason: JsonObject): Event => ({ type: "limit", kind: "platform", data: reason });

/** Puts the run aside for a person; `refused` is the checkpoint of the result it could not take. */
export const parkEvent = (error: JsonObject, refused?: number): Event => ({
  type: "park",
  kind: "platform",
  data: refused === undefined ? { error } : { error, refused },
});

/** Brings a parked run back, with the result it could not take, if that is why it was parked. */
export const retryEvent = (result: Event | undefined): Event => ({
  type: "retry",
  kind: "platform",
  ...(result === undefined ? {} : { data: { result: result as unknown as JsonObject } }),
});

/** The result that a run which comes back is to be given again. */
export function refusedResult(event: Event): Event | undefined {
  if (event.type !== "retry" || !isControl(event)) return undefined;
  return (event.data as { result?: Event } | undefined)?.result;
}

/** Tells the run that nobody was there for a while. */
export const resumeEvent = (outages: readonly Outage[]): Event => ({
  type: "resume",
  kind: "platform",
  data: { outages: outages as unknown as JsonObject[] },
});

/** Whether an event is one of control, which also a parked run takes. */
export function isControl({ type, kind, invocation }: Event): boolean {
  return kind === "platform" && invocation === undefined && type in steps;
}

type Take = (run: LiveRun, state: State, event: Event, options: { at: number; run: string }) => Step;

const steps: Readonly<Record<string, Take>> = {
  start: ({ machine }, _, event, options) => start(machine.machine, event.data, options),
  cancel: ({ machine }, state, _, options) => cancel(machine.machine, state, options),
  limit: ({ machine }, state, event, options) =>
    cancel(machine.machine, state, { ...options, reason: event.data as JsonObject }),
  resume: ({ machine }, state, event, options) =>
    resume(machine.machine, state, (event.data as unknown as { outages: Outage[] }).outages, options),
  park: (_run, state) => unchanged(state),
  retry: (_run, state) => unchanged(state),
};

/** The step an event leads to: the machine's own, or the platform's for control events. */
export function takeStep(run: LiveRun, state: State, event: Event, at: number): Step {
  const options = { at, run: run.name.run };
  const take = isControl(event) ? steps[event.type] : undefined;
  return take === undefined
    ? step(run.machine.machine, state, event, options)
    : take(run, state, event, options);
}

function unchanged(state: State): Step {
  return {
    state,
    effects: [],
    outcome: "taken",
    error: undefined,
    errors: [],
    dropped: [],
    trace: undefined,
  };
}
