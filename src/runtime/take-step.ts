/** The step an event leads to: the machine's own, or the platform's for control events. */
import type { Event } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { State } from "../core/state.ts";
import { cancel, resume, type Step, start, step } from "../core/step.ts";
import type { Outage } from "../core/timer.ts";
import { isControl, returnOf } from "./control.ts";
import type { LiveRun } from "./live/live-run.ts";

type Take = (
  run: Pick<LiveRun, "machine">,
  state: State,
  event: Event,
  options: { at: number; run: string },
) => Step;

const steps: Readonly<Record<string, Take>> = {
  start: ({ machine }, state, event, options) => {
    if (state.seq > 0) throw new Error(`The run ${JSON.stringify(options.run)} has begun, and begins once`);
    return start(machine.machine, event.data, askedBy(event, options));
  },
  cancel: ({ machine }, state, event, options) => {
    const { data: reason } = event;
    const asked = askedBy(event, options);
    return cancel(
      machine.machine,
      state,
      reason === undefined ? asked : { ...asked, reason: reason as JsonObject },
    );
  },
  resume: ({ machine }, state, event, options) =>
    resume(machine.machine, state, (event.data as unknown as { outages: Outage[] }).outages, options),
  park: (_run, state) => unchanged(state),
  debug: (_run, state) => unchanged(state),
  snapshot: (_run, state) => unchanged(state),
  prune: (_run, state) => unchanged(state),
  retry: comeBack,
};

/** Who asks is told to a step that makes its event itself. */
const askedBy = <Options extends object>({ by }: Event, options: Options): Options & { by?: string } =>
  by === undefined ? options : { ...options, by };

/** The time in which a run was parked is an outage for its timers. */
function comeBack(
  { machine }: Pick<LiveRun, "machine">,
  state: State,
  event: Event,
  options: { at: number; run: string },
): Step {
  const { parkedAt } = returnOf(event) as { readonly parkedAt: number };
  const moved = resume(machine.machine, state, [{ from: parkedAt, until: options.at }], options);
  return moved.outcome === "ignored" ? unchanged(state) : moved;
}

/** Takes the step; throws only what `start` throws. */
export function takeStep(
  run: Pick<LiveRun, "machine">,
  state: State,
  event: Event,
  at: number,
  name: string,
): Step {
  const options = { at, run: name };
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
