/** The border of a step: what callers hand in is looked at here, once, and refused with a reason if it is not right. */
import { HoldfastError } from "../errors.ts";
import type { Configuration } from "./chart.ts";
import { configurationOf } from "./configuration.ts";
import type { Event } from "./event.ts";
import { freezeDeep, showValue, toJson } from "./json.ts";
import type { Machine } from "./machine.ts";
import type { State } from "./state.ts";

/** What is asked of a machine here; its types of context and events do not matter. */
export type Runnable = Pick<Machine, "id" | "chart" | "missing">;

/** Throws if the machine lacks implementations, or the time is none. */
export function admitCall(machine: Runnable, at: number): void {
  if (machine.missing.length > 0) {
    throw new HoldfastError(
      "MACHINE_INVALID",
      `The machine ${JSON.stringify(machine.id)} has no ${machine.missing.join(", no ")}: bind what is missing with machine.implement`,
    );
  }
  if (!Number.isFinite(at)) {
    throw new HoldfastError(
      "TIME_INVALID",
      `A step needs the time as a number of milliseconds: { at }, not ${at}`,
    );
  }
}

/** The configuration a state is in; throws STATE_INVALID if the state is not one of this machine. */
export function admitState({ chart }: Runnable, state: State): Configuration {
  if (state.machine !== chart.id || state.version !== chart.version) {
    throw new HoldfastError(
      "STATE_INVALID",
      `A state of ${state.machine}@${state.version} was given to the machine ${chart.id}@${chart.version}: migrate it first`,
    );
  }
  const configuration = configurationOf(chart, state.configuration);
  if (configuration === undefined) {
    throw new HoldfastError(
      "STATE_INVALID",
      `The machine ${JSON.stringify(chart.id)} cannot be in ${JSON.stringify(state.configuration)}: the state is not one it made`,
    );
  }
  return configuration;
}

const eventFields: ReadonlySet<string> = new Set([
  "type",
  "data",
  "kind",
  "by",
  "sendId",
  "origin",
  "originType",
  "invokeId",
  "invocation",
  "timer",
  "replyTo",
  "raw",
] satisfies (keyof Event)[]);

/** The event, frozen, with its data made JSON; throws EVENT_INVALID or NOT_JSON. */
export function admitEvent(given: unknown, dataName = "event.data"): Event {
  const event = given as Event;
  if (typeof event !== "object" || event === null || typeof event.type !== "string" || event.type === "") {
    throw new HoldfastError("EVENT_INVALID", `An event is { type, data }, not ${showValue(given)}`);
  }
  for (const key in event) {
    if (!eventFields.has(key)) {
      throw new HoldfastError(
        "EVENT_INVALID",
        `The event ${JSON.stringify(event.type)} has a field ${JSON.stringify(key)}: put the payload in \`data\``,
      );
    }
    const value = event[key as keyof Event];
    if (typeof value !== "string" && key !== "data" && value !== undefined) {
      throw new HoldfastError(
        "EVENT_INVALID",
        `The event ${JSON.stringify(event.type)} has a field ${JSON.stringify(key)} that is not text`,
      );
    }
  }
  if (event.data === undefined) return freezeDeep(event);
  const data = toJson(event.data, [], dataName);
  return freezeDeep(data === event.data ? event : { ...event, data });
}
