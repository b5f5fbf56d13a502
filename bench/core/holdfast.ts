/** Holdfast's machines for the workloads: the pure step, with its immutable result. */
import { defineMachine, type Machine, start, step } from "holdfast";
import { type Contestant, context, type Workload } from "./workload.ts";

type Context = typeof context;
type Ev = { type: string; data?: { cost: number } };

const spend = (draft: { spent: number; turns: number }, { event }: { event: Ev }) => {
  draft.spent += event.data?.cost ?? 0;
  draft.turns += 1;
};

const lifecycle = defineMachine<Context, Ev>({
  id: "lifecycle",
  start: context,
  initial: "idle",
  states: {
    idle: { on: { plan: "planning" } },
    planning: {
      on: { execute: { target: "executing", guard: ({ context: { goal } }) => goal !== "", update: spend } },
    },
    executing: { on: { reflect: "reflecting" } },
    reflecting: { on: { replan: "planning", finish: "done" } },
    done: { on: { reset: "idle" } },
  },
});

const hierarchy = defineMachine<Context, Ev>({
  id: "hierarchy",
  start: context,
  initial: "work",
  on: { home: ".work" },
  states: {
    work: {
      initial: "draft",
      on: { up: "rest" },
      states: {
        draft: {
          initial: "outline",
          states: {
            outline: { on: { next: "text" } },
            text: { on: { next: { target: "review", update: spend } } },
          },
        },
        review: { initial: "reading", states: { reading: {}, noting: {} } },
      },
    },
    rest: {
      initial: "short",
      on: { down: { target: "work", update: spend } },
      states: { short: {}, long: {} },
    },
  },
});

const region = (event: string, update?: typeof spend) => ({
  initial: "off",
  states: {
    off: { on: { [event]: update === undefined ? { target: "on" } : { target: "on", update } } },
    on: { on: { all: "off" } },
  },
});

const parallel = defineMachine<Context, Ev>({
  id: "parallel",
  start: context,
  type: "parallel",
  states: { a: region("one"), b: region("two", spend), c: region("three"), d: region("four", spend) },
});

const machines: Record<Workload["name"], Machine<Context, Ev>> = { lifecycle, hierarchy, parallel };

export function holdfast({ name }: Workload): Contestant {
  const machine = machines[name];
  const options = { at: 0 };
  let { state } = start(machine, undefined, options);
  return {
    take(event) {
      state = step(machine, state, event, options).state;
    },
    read: () => state.context,
  };
}

const small = defineMachine({
  id: "small",
  start: () => ({ n: 0 }),
  initial: "idle",
  states: { idle: { on: { plan: "planning" } }, planning: { on: { stop: "idle" } } },
});

/** A state after its first step, as small as a useful one gets. */
export function holdfastState(): unknown {
  const options = { at: 0 };
  return step(small, start(small, undefined, options).state, { type: "plan" }, options).state;
}
