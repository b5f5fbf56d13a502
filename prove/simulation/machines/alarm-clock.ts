/**
 * An alarm clock with any number of alarms, each a delayed send to itself that can be taken back, and a nap that ends by
 * itself or is interrupted.
 */
import { defineMachine, defineMigration, type Machine, type MachineDefinition } from "holdfast";
import type { Kind } from "./kind.ts";

export interface AlarmContext {
  readonly rang: readonly number[];
  /** Alarms that were taken back before they rang. */
  readonly unset: readonly number[];
  readonly naps: number;
}

interface Setting {
  readonly n: number;
  readonly delayMs: number;
  /** The alarm to take back. */
  readonly of: number;
}

const settingOf = (event: { readonly data?: unknown }): Setting => event.data as Setting;

const definition: MachineDefinition<AlarmContext> = {
  id: "alarm-clock",
  start: { rang: [], unset: [], naps: 0 },
  unhandled: "ignore",
  initial: "awake",
  on: {
    set: {
      actions: {
        send: ({ event }) => {
          const { n, delayMs } = settingOf(event);
          return { type: "ring", data: { n }, delay: delayMs, id: `alarm ${n}` };
        },
      },
    },
    unset: {
      actions: [
        { cancel: ({ event }) => `alarm ${settingOf(event).of}` },
        { update: (draft, { event }) => void draft.unset.push(settingOf(event).of) },
      ],
    },
    ring: { update: (draft, { event }) => void draft.rang.push(settingOf(event).n) },
  },
  states: {
    awake: { on: { nap: "asleep" } },
    asleep: {
      after: { "8s": { target: "awake", update: (draft) => void draft.naps++ } },
      on: { wake: "awake", turn: { target: "asleep", reenter: true } },
    },
  },
};

export const alarmMachine = defineMachine<AlarmContext>(definition);

/** Never sleeps: a clock that does cannot become one like that. Its naps are counted by another name. */
const laterMachine = defineMachine<Omit<AlarmContext, "naps"> & { readonly slept: number }>({
  ...(definition as never as MachineDefinition<Omit<AlarmContext, "naps"> & { readonly slept: number }>),
  version: 2,
  states: { awake: {} },
});

export const alarmClock: Kind = {
  machine: alarmMachine as unknown as Machine,
  runsMax: 2,
  rests: ["awake"],
  goesBack: true,
  forks: (context) => void (context.unset as number[]).push(-1),
  stops: [{ state: "asleep" }, { event: "ring" }],
  later: {
    machine: laterMachine as unknown as Machine,
    migration: defineMigration(alarmMachine, laterMachine, {
      context: ({ naps, ...rest }) => ({ ...rest, slept: naps }),
      back: { context: ({ slept, ...rest }) => ({ ...rest, naps: slept }) },
    }),
  },
  cancellable: true,
  input: () => ({}),
  order(n, random) {
    const type = random.pick(["set", "set", "set", "unset", "nap", "wake", "turn"]);
    // Mostly one that was sent with it: that has not rung yet.
    const of = Math.max(1, n - (random.chance(0.6) ? random.between(1, 3) : random.between(0, 8)));
    return { type, data: { n, delayMs: random.pick([1, 30, 500, 4_000, 15_000, 40_000]), of } };
  },
};
