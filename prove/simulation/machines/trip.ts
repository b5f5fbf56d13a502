/**
 * A trip books one thing after the other, each of which can be undone. When something cannot be had, when the traveller
 * regrets it, or when the run is ended, what was booked is undone, the last thing first.
 */
import { defineMachine, type Json, type Machine } from "holdfast";
import type { Kind } from "./kind.ts";

/** The tool that books, and the one that undoes it. */
export const bookTool = "book";
export const unbookTool = "unbook";

const leg = (next: string) => ({
  invoke: {
    activity: bookTool,
    compensate: unbookTool,
    input: ({ event }: { event: { data?: unknown } }) => (event.data ?? null) as Json,
    retry: { attempts: 3, first: 200, max: "1s", never: ["Fatal"] },
    timeout: "4s",
    onDone: next,
    onError: "undoing",
  },
});

export const tripMachine = defineMachine({
  id: "trip",
  start: {},
  initial: "idle",
  on: { regret: "undoing" },
  states: {
    idle: { on: { plan: "flight" } },
    flight: leg("hotel"),
    hotel: leg("car"),
    car: leg("booked"),
    booked: { on: { more: "hotel", leave: "gone" } },
    undoing: {
      entry: { compensate: true },
      // Whoever plans again does not wait for what is being undone.
      on: { plan: "flight", "done.invoke.compensation": "idle" },
    },
    gone: { type: "final" },
  } as never,
});

export const trip: Kind = {
  machine: tripMachine as unknown as Machine,
  runsMax: 2,
  rests: ["idle", "booked", "undoing", "gone"],
  goesBack: true,
  forks: (context) => void Object.assign(context, { edited: true }),
  cancellable: true,
  input: () => ({}),
  order(n, random) {
    const type = random.chance(0.03)
      ? "leave"
      : random.pick(["plan", "plan", "plan", "more", "more", "regret"]);
    return { type, data: { n } };
  },
};
