/** Scenarios of action lists that are made while acting. */
import { enqueueActions, type Given, machineOf, type Scenario, stateIn } from "./scenario.ts";

/** A machine of one state that does these actions on `go`. */
const doing = (actions: unknown, implementations = {}, context: object = { n: 0 }) =>
  machineOf({ context, initial: "a", states: { a: { on: { go: { actions } } } } }, implementations);

export const enqueueing: readonly Scenario[] = [
  {
    name: "assign and more",
    machine: doing(
      enqueueActions(({ enqueue }) => {
        enqueue.assign({ n: 1 });
        enqueue("told");
        enqueue.assign({ n: ({ context }: Given) => context.n + 1 });
      }),
    ),
    moves: ["go"],
  },
  {
    name: "only if a guard holds",
    machine: doing(
      enqueueActions(({ enqueue, check }) => {
        enqueue.assign({ n: ({ context }: Given) => context.n + 1 });
        if (check("big")) enqueue("big");
        else enqueue("small");
      }),
      { guards: { big: ({ context }: Given) => context.n >= 1 } },
    ),
    moves: ["go", "go"],
  },
  {
    name: "check with params",
    machine: doing(
      enqueueActions(({ enqueue, check }) => {
        if (check({ type: "atLeast", params: { least: 0 } })) enqueue("yes");
        if (check({ type: "atLeast", params: { least: 9 } })) enqueue("no");
      }),
      { guards: { atLeast: ({ context }: Given, params: { least: number }) => context.n >= params.least } },
    ),
    moves: ["go"],
  },
  {
    name: "raise",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              actions: enqueueActions(({ enqueue }) => {
                enqueue.raise({ type: "next" });
              }),
            },
            next: "b",
          },
        },
        b: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "raise with a delay, and cancel",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              actions: enqueueActions(({ enqueue }) => {
                enqueue.raise({ type: "later" }, { delay: 50, id: "x" });
                enqueue.raise({ type: "never" }, { delay: 20, id: "y" });
                enqueue.cancel("y");
              }),
            },
            later: "b",
            never: "c",
          },
        },
        b: {},
        c: {},
      },
    }),
    moves: ["go", 30, 30],
  },
  {
    name: "emit",
    machine: doing(
      enqueueActions(({ enqueue, event }) => {
        for (const i of [1, 2]) enqueue.emit({ type: "news", i, on: event.type });
      }),
    ),
    moves: ["go"],
  },
  {
    name: "by name, with params",
    machine: doing(
      { type: "many", params: { times: 3 } },
      {
        actions: {
          many: enqueueActions(({ enqueue }, params: { times: number }) => {
            for (let i = 0; i < params.times; i++) enqueue({ type: "one", params: { i } });
          }),
        },
      },
    ),
    moves: ["go"],
  },
  {
    name: "inside itself",
    machine: doing(
      enqueueActions(({ enqueue }) => {
        enqueue(
          enqueueActions(({ enqueue: inner }) => {
            inner("deep");
            inner.assign({ n: 9 });
          }),
        );
        enqueue("after");
      }),
    ),
    moves: ["go"],
  },
  {
    name: "in entry and exit",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          exit: enqueueActions(({ enqueue }) => {
            enqueue("left");
          }),
          on: { go: "b" },
        },
        b: {
          entry: enqueueActions(({ enqueue, context }) => {
            enqueue.assign({ n: context.n + 5 });
          }),
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "that asks where it is, while it enters",
    machine: machineOf({
      initial: "a",
      states: {
        a: { on: { go: "b" } },
        b: {
          entry: enqueueActions(({ enqueue, check }) => {
            if (check(stateIn("b"))) enqueue("inside");
            else enqueue("not yet");
          }),
        },
      },
    }),
    moves: ["go"],
    differs: { topic: "in-while-acting", in: ["actions"] },
  },
];
