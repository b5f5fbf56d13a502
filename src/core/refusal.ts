/** Why a step is refused, in words that say what happened, to what, and what was possible instead. */
import { HoldfastError } from "../errors.ts";
import type { Configuration, Contract, StateNode } from "./chart.ts";
import { upwards } from "./configuration.ts";
import { isKnown } from "./deferral.ts";
import { descriptorMatches, type Event } from "./event.ts";
import { showValue } from "./json.ts";
import type { State, Timer } from "./state.ts";
import type { Work } from "./work.ts";

/** The event keys that some active state listens to, those of the platform aside. */
export function possibleEvents(configuration: Configuration): string[] {
  const keys = new Set<string>();
  for (const leaf of configuration.leaves) {
    for (const node of upwards(leaf)) {
      for (const { descriptors } of node.transitions) for (const key of descriptors) keys.add(key);
    }
  }
  return [...keys].filter((key) => !/^(done|error|after|unknown)\./.test(key)).sort();
}

export function refuseUnhandled(work: Work, event: Event): HoldfastError {
  const { chart, configuration } = work;
  const heard = possibleEvents(configuration);
  const possible = heard.filter((key) => !descriptorMatches(key, event.type, chart.matching));
  const type = JSON.stringify(event.type);
  const states = configuration.paths.join(", ");
  const known = isKnown(work, event.type);
  const guarded = possible.length < heard.length;
  const what = known
    ? `${type} cannot be taken in ${states}${guarded ? ", where no guard lets it through" : ""}`
    : `The machine ${JSON.stringify(chart.id)} has no event ${type}, in ${states} or elsewhere`;
  return new HoldfastError(
    known ? "EVENT_UNHANDLED" : "EVENT_UNKNOWN",
    `${what}: ${possible.length === 0 ? "nothing else is possible here" : `possible here: ${possible.join(", ")}`}`,
    { details: { event: event.type, configuration: configuration.paths, possible, guarded } },
  );
}

export function refuseInvariant(
  work: Work,
  state: StateNode,
  contract: Contract,
  cause: unknown,
): HoldfastError {
  const owner = state.parent === undefined ? "the machine" : JSON.stringify(state.path);
  return new HoldfastError(
    "INVARIANT_VIOLATED",
    `The step on ${JSON.stringify(work.given.type)} was refused: it would break the invariant ${JSON.stringify(contract.name)} of ${owner}`,
    { details: { invariant: contract.name, state: state.path, event: work.given.type }, cause },
  );
}

export function refuseEnded(state: State, event: Event): HoldfastError {
  const { status, reason, configuration } = state;
  const ended =
    status === "failed"
      ? `has failed (${showValue(reason)}) in ${configuration.join(", ")}`
      : `is ${status} in ${configuration.join(", ")}`;
  return new HoldfastError(
    "RUN_ENDED",
    `The run ${ended} and cannot take ${JSON.stringify(event.type)}; start a new one`,
    { details: { status, event: event.type, ...(reason === undefined ? {} : { reason }) } },
  );
}

export function refuseEarly(timer: Timer, at: number): HoldfastError {
  return new HoldfastError(
    "TIMER_EARLY",
    `The timer ${timer.key} for ${JSON.stringify(timer.event.type)} is due at ${timer.due}, and it is only ${at}`,
    { details: { key: timer.key, due: timer.due, at } },
  );
}
