/**
 * What the victims do: one small machine for each promise that a kill could break. Numbers go in, and what was made of
 * each of them stays in the contexts, so that whoever looks later can tell what was lost, doubled or forgotten.
 *
 * - `count`: events with keys, and a tool that is tried again until it works.
 * - `nap`: a timer, and events that are deferred until it has fired.
 * - `boss`: a child run that reports to it, waits for a timer of its own and gives it a result.
 * - `ping` and `pong`: sends from run to run and back.
 * - `mail`: a tool that may happen once only.
 */
import { type ActivityScope, defineMachine, type MachineEntry } from "holdfast";
import type { Diary, Workshop } from "./changing.ts";
import { moment } from "./ledger.ts";

export interface Count {
  numbers: number[];
  /** The tool's answers, by the keys it was called with. */
  answers: string[];
}

export const count = defineMachine<Count>({
  id: "count",
  start: { numbers: [], answers: [] },
  initial: "open",
  on: { add: { update: (draft, { event }) => void draft.numbers.push(event.data as number) } },
  states: {
    open: { on: { call: "calling" } },
    calling: {
      defer: ["call"],
      invoke: {
        activity: "tool",
        retry: { attempts: 100, first: 1, max: 5 },
        onDone: { target: "open", update: (draft, { event }) => void draft.answers.push(event.data) },
      },
    },
  },
});

export interface Nap {
  naps: number[];
  wakes: number[];
  /** What was sent while it slept, or just before or after. */
  laters: number[];
}

export const nap = defineMachine<Nap>({
  id: "nap",
  start: { naps: [], wakes: [], laters: [] },
  initial: "awake",
  states: {
    awake: {
      on: {
        nap: { target: "asleep", update: (draft, { event }) => void draft.naps.push(event.data as number) },
        later: { update: (draft, { event }) => void draft.laters.push(event.data as number) },
      },
    },
    asleep: {
      defer: ["later", "nap"],
      after: [
        {
          delay: ({ context }) => context.naps.length % 12,
          target: "awake",
          update: (draft) => void draft.wakes.push(draft.naps.at(-1) as number),
          actions: { emit: { type: "woke", data: ({ context }) => context.naps.at(-1) as number } },
        },
      ],
    },
  },
});

const kid = defineMachine<{ n: number }>({
  id: "kid",
  start: ({ input }) => ({ n: input as number }),
  initial: "working",
  states: {
    working: {
      entry: { send: ({ context }) => ({ type: "begun", data: context.n, to: "parent" }) },
      after: { "2ms": "done" },
    },
    done: { type: "final", output: ({ context }) => ({ n: context.n, twice: 2 * context.n }) },
  },
});

export interface Boss {
  asked: number[];
  begun: number[];
  results: { n: number; twice: number }[];
}

export const boss = defineMachine<Boss>({
  id: "boss",
  start: { asked: [], begun: [], results: [] },
  initial: "idle",
  on: { begun: { update: (draft, { event }) => void draft.begun.push(event.data as number) } },
  states: {
    idle: {
      on: {
        delegate: {
          target: "delegating",
          update: (draft, { event }) => void draft.asked.push(event.data as number),
        },
      },
    },
    delegating: {
      defer: ["delegate"],
      invoke: {
        machine: kid,
        id: "kid",
        input: ({ context }) => context.asked.at(-1) as number,
        onDone: { target: "idle", update: (draft, { event }) => void draft.results.push(event.data) },
      },
    },
  },
});

export interface Ping {
  served: number[];
  back: number[];
}

export const ping = defineMachine<Ping>({
  id: "ping",
  start: { served: [], back: [] },
  initial: "playing",
  states: { playing: {} },
  on: {
    serve: {
      update: (draft, { event }) => void draft.served.push(event.data as number),
      actions: {
        send: ({ event }) => ({ type: "ball", data: event.data as number, to: { run: "pong" } }),
      },
    },
    back: { update: (draft, { event }) => void draft.back.push(event.data as number) },
  },
});

export interface Pong {
  balls: number[];
}

export const pong = defineMachine<Pong>({
  id: "pong",
  start: { balls: [] },
  initial: "playing",
  states: { playing: {} },
  on: {
    ball: {
      update: (draft, { event }) => void draft.balls.push(event.data as number),
      actions: {
        send: ({ event }) => ({ type: "back", data: event.data as number, to: { run: "ping" } }),
      },
    },
  },
});

export interface Mail {
  asked: number[];
  /** Keys of those that were sent. */
  sent: string[];
  /** Those of which nobody can say. */
  unknown: number[];
}

export const mail = defineMachine<Mail>({
  id: "mail",
  start: { asked: [], sent: [], unknown: [] },
  initial: "idle",
  states: {
    idle: {
      on: {
        mail: {
          target: "mailing",
          update: (draft, { event }) => void draft.asked.push(event.data as number),
        },
      },
    },
    mailing: {
      defer: ["mail"],
      invoke: {
        activity: "post",
        once: true,
        onDone: { target: "idle", update: (draft, { event }) => void draft.sent.push(event.data) },
        onUnknown: {
          target: "idle",
          update: (draft) => void draft.unknown.push(draft.asked.at(-1) as number),
        },
      },
    },
  },
});

/** Every run of a victim: its id is its machine's. */
export const machines = { count, nap, boss, ping, pong, mail } as const;
export type RunId = keyof typeof machines;

/** What runs keep: those of this file, and some of `changing.ts`. */
export interface Contexts {
  readonly count: Count;
  readonly nap: Nap;
  readonly boss: Boss;
  readonly ping: Ping;
  readonly pong: Pong;
  readonly mail: Mail;
  readonly diary: Diary;
  readonly shift: Workshop;
  readonly swap: Workshop;
}

/** The machines with their tools. Each says what it does before it does it: `tool KEY MOMENT`, or `post KEY`. */
export function machineEntries(say: (line: string) => void): MachineEntry[] {
  const activities = {
    /** Every other call fails at first. */
    tool: (_: never, { key, attempt }: ActivityScope) => {
      say(`tool ${key} ${moment()}`);
      if (attempt === 1 && /[02468]\./.test(key)) throw new Error("not yet");
      return key;
    },
    post: async (_: never, { key }: ActivityScope) => {
      say(`post ${key}`);
      await new Promise((resolve) => setImmediate(resolve));
      return key;
    },
  };
  return Object.values(machines).map((machine) => ({ machine: machine as never, activities }));
}
