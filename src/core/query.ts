/** Questions about a state that change nothing. */
import { admitCall, admitEvent, admitState } from "./admit.ts";
import type { Event, EventShape } from "./event.ts";
import type { Machine } from "./machine.ts";
import { admitData } from "./payload.ts";
import { possibleEvents } from "./refusal.ts";
import { selectTransitions } from "./select.ts";
import type { State } from "./state.ts";
import { type StepOptions, Work } from "./work.ts";

/** Whether a transition would take the event right now, guards included. Guards that look at the time need `at`. */
export function can<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  state: State<NoInfer<Context>>,
  event: Event | NoInfer<Ev>,
  { at }: Pick<StepOptions, "at"> = { at: 0 },
): boolean {
  const before = state as unknown as State;
  admitCall(machine, at);
  const configuration = admitState(machine, before);
  const admitted = admitData(machine.chart, admitEvent(event));
  if (before.status !== "active") return false;
  const { model } = machine.chart;
  const work = new Work(machine.chart, before, configuration, admitted, { at });
  try {
    model.open?.(work);
    return selectTransitions(work, admitted).length > 0;
  } finally {
    model.close?.(work);
  }
}

/** The event keys that active states listen to, sorted; whether a guard lets them through, `can` tells. */
export function nextEvents<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  state: State<NoInfer<Context>>,
): string[] {
  const before = state as unknown as State;
  const configuration = admitState(machine, before);
  return before.status === "active" ? possibleEvents(configuration) : [];
}

/** Whether a state is active, given by its path: `a` matches while `a.b` is active. */
export function matches(state: Pick<State<unknown>, "configuration">, path: string): boolean {
  return state.configuration.some((leaf) => leaf === path || leaf.startsWith(`${path}.`));
}

/** Whether any active state carries the tag. */
export function hasTag<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  state: State<NoInfer<Context>>,
  tag: string,
): boolean {
  const configuration = admitState(machine, state as unknown as State);
  return [machine.chart.root, ...configuration.states].some(({ tags }) => tags.includes(tag));
}
