/**
 * `map`: an activity or a child machine for every item of a list, a few at a time. It becomes a parallel state with one
 * region for each that may be under way at once:
 *
 *     reading: { map: { over, as: "paper", activity: "read", concurrency: 2, collect: "notes", onDone: "writing", onError: "failed" } }
 *
 *     reading: {
 *       type: "parallel",
 *       entry: { map: { begin: "reading", over, workers: 2, collect: "notes" } },
 *       exit: { map: { end: "reading" } },
 *       on: { "done.map.reading": "writing", "error.map.reading": "failed" },
 *       states: {
 *         worker1: {
 *           initial: "taking",
 *           states: {
 *             taking: { always: [{ guard: { item: { of: "reading", worker: 1 } }, target: "working" }, "finished"] },
 *             working: { invoke: { activity: "read", item: { of: "reading", worker: 1, as: "paper" }, onDone: { target: "taking", actions: { map: { settle: "reading", worker: 1 } } }, onError: … } },
 *             finished: { type: "final" },
 *           },
 *         },
 *         worker2: …
 */
import { limits } from "../../limits.ts";
import type { Parts } from "../compiler.ts";
import { doneMapType, errorMapType } from "../event.ts";
import { inside, show } from "../problem.ts";
import { shapes } from "../shape.ts";
import type { Expansion } from "./expansion.ts";

export function expandMap(parts: Parts, expansion: Expansion, written: string): void {
  const { over, as, concurrency = 1, tolerate, collect, onDone, onError } = parts;
  const name = expansion.path.join(".");
  const workers = concurrencyAt(concurrency, expansion, inside(written, "concurrency"));
  for (const [key, value] of Object.entries({ over, onDone, onError }))
    if (value === undefined) expansion.checker.problem(inside(written, key), "is missing", advice[key]);
  const rest = {
    ...(tolerate === undefined ? {} : { tolerate }),
    ...(collect === undefined ? {} : { collect }),
  };
  const begin = { map: { begin: name, over: over ?? [], workers, ...rest } };
  expansion.set("type", "parallel", written);
  expansion.from([...expansion.addBlock("entry", begin, written), "map"], written);
  expansion.addBlock("exit", { map: { end: name } }, written);
  if (onDone !== undefined) expansion.addHandlers(doneMapType(name), onDone, inside(written, "onDone"));
  if (onError !== undefined) expansion.addHandlers(errorMapType(name), onError, inside(written, "onError"));
  // Keys that nobody knows are reported already.
  const call = Object.fromEntries(Object.entries(parts).filter(([key]) => callKeys.includes(key)));
  const states: Record<string, unknown> = {};
  expansion.budget.workersLeft -= workers;
  for (let worker = 1; worker <= workers; worker++) {
    states[`worker${worker}`] = region(name, worker, as, call);
    expansion.from(["states", `worker${worker}`, "states", "working", "invoke"], written);
    expansion.from(["states", `worker${worker}`, "states", "working", "invoke", "item"], written);
  }
  expansion.set("states", states, written);
}

/** A region and the three states in it. */
export const statesPerWorker = 4;

// How many at a time is what a map has regions for, and no key of its items.
const callKeys = shapes.invocation.filter(
  (key) => shapes["map over a list"].includes(key) && !/^(on[A-Z]|concurrency)/.test(key),
);

const advice: Readonly<Record<string, string>> = {
  over: "give the list, or how to compute it",
  onDone: "say where it leads when all is done",
  onError: "say where it leads when more fails than is tolerated",
};

function concurrencyAt(given: unknown, { checker, budget }: Expansion, place: string): number {
  // Beyond what a machine can hold, one worker each is enough to be told so.
  if (budget.workersLeft <= 0) return 1;
  const most = limits.mapConcurrencyMax;
  if (Number.isSafeInteger(given) && (given as number) >= 1 && (given as number) <= most)
    return given as number;
  checker.problem(place, `is ${show(given)}`, `write a whole number from 1 to ${most}`);
  return 1;
}

/** A worker: takes its item and works on it until there is none for it. */
function region(name: string, worker: number, as: unknown, call: Parts): unknown {
  const item = { of: name, worker };
  const settled = { target: "taking", actions: { map: { settle: name, worker } } };
  const unknown = call.once === true ? { onUnknown: settled } : {};
  return {
    initial: "taking",
    states: {
      taking: { always: [{ guard: { item }, target: "working" }, "finished"] },
      working: {
        invoke: {
          ...call,
          item: as === undefined ? item : { ...item, as },
          onDone: settled,
          onError: settled,
          ...unknown,
        },
      },
      finished: { type: "final" },
    },
  };
}
