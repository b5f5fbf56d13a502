/**
 * Debugging: breakpoints and single steps. They stand in a run's head, so they hold wherever it goes on; a run that stops
 * at one is parked, so all that comes for it waits.
 */
import type { Event } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import { matches } from "../core/query.ts";
import type { State } from "../core/state.ts";
import type { Breakpoint, Debugging, RunHead } from "../store/records.ts";
import { isControl, returnOf } from "./control.ts";

/** The names of the reasons for which a run is parked though nothing is wrong with it. */
const stops: ReadonlySet<unknown> = new Set(["Paused", "Breakpoint", "Stepped"]);

/** Whether a run is parked since somebody wants to look at it. */
export function isStop(reason: JsonObject | undefined): boolean {
  return stops.has(reason?.name);
}

export const pauseReason: JsonObject = { name: "Paused", message: "Somebody paused the run" };

/** Why a run stops before it takes this event; undefined if it does not. */
export function stopBefore({ debug }: RunHead, event: Event): JsonObject | undefined {
  if (debug === undefined || debug.passes || isControl(event)) return undefined;
  const hit = debug.breakpoints.some((one) => "event" in one && one.event === event.type);
  return hit ? breakpointReason({ event: event.type }) : undefined;
}

/** Why a run stops after it has taken an event, with `head` as it was before; undefined if it does not. */
export function stopAfter(
  { debug }: RunHead,
  event: Event,
  before: State,
  after: State,
): JsonObject | undefined {
  if (debug === undefined || isControl(event) || after.status !== "active") return undefined;
  const entered = debug.breakpoints.find(
    (one) => "state" in one && matches(after, one.state) && !matches(before, one.state),
  );
  if (entered !== undefined) return breakpointReason(entered);
  if (debug.steps !== 1) return undefined;
  return { name: "Stepped", message: `The run has taken ${JSON.stringify(event.type)}` };
}

/** What stands in the head once an event was taken. */
export function debugAfter({ debug }: RunHead, event: Event): Debugging | undefined {
  if (isControl(event)) {
    if (event.type === "debug") return (event.data as { readonly debug?: Debugging }).debug;
    const steps = returnOf(event)?.steps;
    const breakpoints = debug?.breakpoints ?? [];
    if (steps !== undefined) return { breakpoints, steps, passes: true };
    return event.type === "retry" && debug !== undefined ? { breakpoints, passes: true } : debug;
  }
  if (debug === undefined) return undefined;
  const { breakpoints, steps } = debug;
  if (steps !== undefined && steps > 1) return { breakpoints, steps: steps - 1, passes: true };
  return breakpoints.length === 0 ? undefined : { breakpoints };
}

/** The event with which breakpoints are set. */
export const debugEvent = (breakpoints: readonly Breakpoint[]): Event => ({
  type: "debug",
  kind: "platform",
  data: (breakpoints.length === 0 ? {} : { debug: { breakpoints } }) as unknown as JsonObject,
});

function breakpointReason(breakpoint: Breakpoint): JsonObject {
  const [[what, name]] = Object.entries(breakpoint) as [[string, string]];
  const message = `The run came to its breakpoint at the ${what} ${JSON.stringify(name)}`;
  return { name: "Breakpoint", message, [what]: name };
}
