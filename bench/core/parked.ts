/** What a parked run weighs in memory, its context aside from one number: prints bytes as JSON. */
import { freezeStates } from "holdfast";
import { createActor, initialTransition, setup, transition } from "xstate";
import { holdfastState } from "./holdfast.ts";

const count = 50_000;
freezeStates(false);

const machine = setup({ types: {} as { context: { n: number } } }).createMachine({
  context: { n: 0 },
  initial: "idle",
  states: { idle: { on: { plan: "planning" } }, planning: { on: { stop: "idle" } } },
});

const makers: Readonly<Record<string, () => unknown>> = {
  "holdfast state": () => holdfastState(),
  "xstate snapshot": () => transition(machine, initialTransition(machine)[0], { type: "plan" })[0],
  "xstate actor": () => {
    const actor = createActor(machine).start();
    actor.send({ type: "plan" });
    return actor;
  },
};

const make = makers[process.argv[2] ?? ""] as () => unknown;
const kept: unknown[] = new Array(count);
for (let index = 0; index < 100; index++) make();
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
for (let index = 0; index < count; index++) kept[index] = make();
globalThis.gc?.();
const bytes = (process.memoryUsage().heapUsed - before) / kept.length;
console.log(JSON.stringify({ bytes }));
