/**
 * The machines of the golden stores. They never change: stores were written with them by Holdfasts long gone, and the
 * hashes of their definitions stand in every entry. A store that needs something new gets a machine more.
 */
import { defineMachine, type Json } from "../../src/index.ts";

interface Clerk {
  readonly n: number;
  readonly log: readonly Json[];
}

/** Counts, takes notes, naps with a timer and lets notes wait meanwhile. */
export const clerk = defineMachine<Clerk>({
  id: "clerk",
  start: ({ input }) => ({ n: (input as number | undefined) ?? 0, log: [] }),
  initial: "open",
  states: {
    open: {
      on: {
        add: {
          update: (draft, { event }) => {
            draft.n += event.data as number;
          },
        },
        note: { update: (draft, { event }) => void draft.log.push(event.data as Json) },
        tell: {
          actions: {
            send: ({ event }) => ({ type: "note", data: "hello", to: { run: event.data as string } }),
          },
        },
        nap: "asleep",
        end: "closed",
      },
    },
    asleep: { after: { "2m": "open" }, defer: ["note"] },
    closed: { type: "final", output: ({ context }) => context.n },
  },
});

interface Caller {
  readonly got: Json;
}

const keep = (draft: { got: Json }, { event }: { event: { data?: Json } }): void => {
  draft.got = event.data ?? null;
};

/** Keeps the last thing it was told: its state stays small, however much its journal tells. */
export const parrot = defineMachine<Caller>({
  id: "parrot",
  start: { got: null },
  initial: "listening",
  states: { listening: { on: { say: { update: keep } } } },
});

/** Calls the activity `tool` and keeps what it gives. */
export const caller = defineMachine<Caller>({
  id: "caller",
  start: { got: null },
  initial: "calling",
  states: {
    calling: {
      invoke: {
        activity: "tool",
        input: "in",
        retry: { attempts: 3 },
        onDone: { target: "done", update: keep },
      },
    },
    done: { type: "final", output: ({ context }) => context.got },
  },
});

/** Waits for a caller of its own. */
export const family = defineMachine({
  id: "family",
  initial: "waiting",
  states: {
    waiting: { invoke: { machine: caller, id: "child", onDone: "over" } },
    over: { type: "final", output: "all done" },
  },
});

/** Refuses its tool's result as long as its code is not fixed, and is parked with it. */
export const pickyWith = (isFixed: () => boolean) =>
  defineMachine<Caller>({
    id: "picky",
    start: { got: null },
    initial: "calling",
    states: {
      calling: {
        invoke: {
          activity: "judge",
          input: "in",
          onDone: { target: "done", require: { fixed: isFixed }, update: keep },
        },
      },
      done: {},
    },
  });
