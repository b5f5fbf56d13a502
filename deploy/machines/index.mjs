/**
 * What a worker runs until you put your own here: a machine that greets, by an activity, and ends. A worker takes the list
 * that is the default export, or every export that is a machine or has one with its activities.
 */
import { defineMachine } from "holdfast";

export const greeting = defineMachine({
  id: "greeting",
  version: 1,
  start: ({ input }) => ({ name: input?.name ?? "world" }),
  initial: "greeting",
  states: {
    greeting: {
      invoke: {
        activity: "greet",
        input: ({ context }) => context.name,
        timeout: "10s",
        onDone: "done",
        onError: "failed",
      },
    },
    done: { type: "final", output: ({ context }) => ({ greeted: context.name }) },
    failed: { type: "final" },
  },
});

const greet = (name) => {
  console.error(`hello, ${name}`);
};

export default [{ machine: greeting, activities: { greet } }];
