/**
 * An oven whose timers differ in what an outage does to them: one keeps to its deadline, one waits for what was left, and
 * one begins again. Reminders are delayed sends with the same three policies.
 */
import { defineMachine, type Machine } from "holdfast";
import type { Kind } from "./kind.ts";

export interface OvenContext {
  readonly baked: number;
  readonly beeps: readonly number[];
}

interface Reminder {
  readonly n: number;
  readonly delayMs: number;
  readonly resume: "deadline" | "remaining" | "restart";
}

const reminderOf = (event: { readonly data?: unknown }): Reminder => event.data as Reminder;

const baked = (draft: { baked: number }) => void draft.baked++;

export const ovenMachine = defineMachine<OvenContext>({
  id: "oven",
  start: { baked: 0, beeps: [] },
  initial: "cold",
  on: {
    remind: {
      actions: {
        send: ({ event }) => {
          const { n, delayMs, resume } = reminderOf(event);
          return { type: "beep", data: { n }, delay: delayMs, resume };
        },
      },
    },
    beep: { update: (draft, { event }) => void draft.beeps.push(reminderOf(event).n) },
    warm: ".warming",
    bake: ".baking",
    roast: ".roasting",
  },
  states: {
    cold: {},
    warming: { after: { "7s": { target: "cold", update: baked } } },
    baking: { after: { "12s": { target: "cold", update: baked, resume: "remaining" } } },
    roasting: { after: { "5s": { target: "cold", update: baked, resume: "restart" } } },
  },
});

export const oven: Kind = {
  machine: ovenMachine as unknown as Machine,
  runsMax: 2,
  rests: ["cold"],
  goesBack: true,
  forks: (context) => void (context.beeps as number[]).push(-1),
  stops: [{ state: "baking" }, { event: "beep" }],
  cancellable: true,
  input: () => ({}),
  order(n, random) {
    const type = random.pick(["warm", "bake", "bake", "roast", "remind", "remind"]);
    const resume = random.pick(["deadline", "remaining", "restart"]);
    return { type, data: { n, delayMs: random.pick([500, 4_000, 15_000, 40_000]), resume } };
  },
};
