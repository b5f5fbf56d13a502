/** XState's machines for the workloads: a running actor, and the pure transition function. */
import { type AnyStateMachine, createActor, initialTransition, setup, transition } from "xstate";
import { type Contestant, context, type Workload } from "./workload.ts";

type Context = typeof context;
type Ev = { type: string; data: { cost: number } };

const kit = setup({ types: {} as { context: Context; events: Ev } });

const spend = kit.assign(({ context: now, event }) => ({
  spent: now.spent + event.data.cost,
  turns: now.turns + 1,
}));

const lifecycle = kit.createMachine({
  context,
  initial: "idle",
  states: {
    idle: { on: { plan: "planning" } },
    planning: {
      on: { execute: { target: "executing", guard: ({ context: { goal } }) => goal !== "", actions: spend } },
    },
    executing: { on: { reflect: "reflecting" } },
    reflecting: { on: { replan: "planning", finish: "done" } },
    done: { on: { reset: "idle" } },
  },
});

const hierarchy = kit.createMachine({
  context,
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
            text: { on: { next: { target: "#review", actions: spend } } },
          },
        },
        review: { id: "review", initial: "reading", states: { reading: {}, noting: {} } },
      },
    },
    rest: {
      initial: "short",
      on: { down: { target: "work", actions: spend } },
      states: { short: {}, long: {} },
    },
  },
});

const region = (event: string, actions?: typeof spend) => ({
  initial: "off",
  states: {
    off: { on: { [event]: actions === undefined ? { target: "on" } : { target: "on", actions } } },
    on: { on: { all: "off" } },
  },
});

const parallel = kit.createMachine({
  context,
  type: "parallel",
  states: { a: region("one"), b: region("two", spend), c: region("three"), d: region("four", spend) },
});

const machines: Record<Workload["name"], AnyStateMachine> = { lifecycle, hierarchy, parallel };

/** `actor.send`: one live, mutable actor. */
export function xstateActor({ name }: Workload): Contestant {
  const actor = createActor(machines[name]).start();
  return { take: (event) => actor.send(event), read: () => actor.getSnapshot().context };
}

/** `transition`: state in, state and actions out, as Holdfast's step. */
export function xstatePure({ name }: Workload): Contestant {
  const machine = machines[name];
  let [snapshot] = initialTransition(machine);
  return {
    take(event) {
      [snapshot] = transition(machine, snapshot, event);
    },
    read: () => snapshot.context,
  };
}
