/**
 * A mill with several stones, each of which grinds when it is told to. What is ground shares keys with all other mills:
 * so many of a corn at a time, so many of all in a while, and what is urgent first.
 */
import { defineMachine, type Json, type Machine } from "holdfast";
import type { CrewContext } from "./crew.ts";
import type { Kind } from "./kind.ts";

/** The tool that grinds. */
export const grindTool = "grind";

interface Sack {
  readonly n: number;
  readonly corn: string;
  readonly urgency: number;
}

const sackOf = (event: { readonly data?: unknown }): Sack => event.data as Sack;

const stones = ["first", "second", "third", "fourth"];

const stone = (name: string) => ({
  initial: "idle",
  states: {
    idle: { on: { [`grind.${name}`]: "grinding" } },
    grinding: {
      invoke: {
        activity: grindTool,
        input: ({ event }: { event: { data?: unknown } }) => event.data as Json,
        concurrency: { limit: 2, key: ({ event }: { event: { data?: unknown } }) => sackOf(event).corn },
        rate: { limit: 4, per: "3s", key: "mills" },
        priority: ({ event }: { event: { data?: unknown } }) => sackOf(event).urgency,
        ...{ retry: { attempts: 3, first: 200, max: "1s", never: ["Fatal"] }, timeout: "4s" },
        onDone: {
          target: "idle",
          update: (draft: { answers: Json[] }, { event }: { event: { data: Json } }) =>
            void draft.answers.push(event.data),
        },
        onError: {
          target: "idle",
          update: (draft: { errors: Json[] }, { event }: { event: { data: Json } }) =>
            void draft.errors.push(event.data),
        },
      },
      on: { [`stop.${name}`]: "idle" },
    },
  },
});

const millMachine = defineMachine<CrewContext>({
  id: "mill",
  start: { answers: [], errors: [], unknowns: 0 },
  type: "parallel",
  states: Object.fromEntries(stones.map((name) => [name, stone(name)])) as never,
});

export const mill: Kind = {
  machine: millMachine as unknown as Machine,
  runsMin: 2,
  runsMax: 2,
  rests: stones.map((name) => `${name}.idle`),
  goesBack: true,
  forks: (context) => void (context.answers as Json[]).push("edited"),
  cancellable: true,
  input: () => ({}),
  order(n, random) {
    const type = `${random.chance(0.1) ? "stop" : "grind"}.${random.pick(stones)}`;
    const data = { n, corn: random.pick(["wheat", "wheat", "rye"]), urgency: random.between(0, 3) };
    return { type, data };
  },
};
