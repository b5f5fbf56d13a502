/**
 * The machines of the scripts: one that has everything a store has to keep (timers, delayed sends, sends to others, deferred
 * events, activities that are tried again and speak in pieces, children, texts that are kept apart, attributes), and the one
 * it hires.
 */
import { type ActivityScope, defineMachine, type Json, type MachineEntry } from "holdfast";

export interface Desk {
  readonly n: number;
  readonly notes: readonly Json[];
  readonly got: Json;
}

/** What the tool is asked for: how often it fails, and what it then gives. */
interface Job {
  readonly fails: number;
  readonly value: number;
}

/** Results above this are refused, as long as the code is not mended. */
export const resultMax = 50;

const clerk = defineMachine<{ readonly left: number }>({
  id: "clerk",
  start: ({ input }) => ({ left: input as number }),
  initial: "busy",
  states: {
    busy: {
      entry: { send: ({ context }) => ({ type: "note", data: `clerk ${context.left}`, to: "parent" }) },
      after: { "45s": "over" },
      on: { hurry: "over" },
    },
    over: { type: "final", output: ({ context }) => context.left * 2 },
  },
});

const keepNote = (draft: { notes: Json[] }, { event }: { event: { data?: Json } }): void => {
  draft.notes.push(event.data ?? null);
  if (draft.notes.length > 6) draft.notes.shift();
};

const keepResult = (draft: { got: Json }, { event }: { event: { data?: Json } }): void => {
  draft.got = event.data ?? null;
};

/** `code`: whether what was wrong with it was mended. */
export const deskWith = (code: { readonly isMended: boolean }) =>
  defineMachine<Desk>({
    id: "desk",
    start: ({ input }) => ({ n: (input as number | undefined) ?? 0, notes: [], got: null }),
    unhandled: "ignore",
    invariants: { covered: ({ context }) => context.n >= 0 },
    initial: "open",
    on: {
      note: { update: keepNote },
      unset: { actions: { cancel: ({ event }) => `alarm ${event.data as number}` } },
    },
    states: {
      open: {
        on: {
          add: {
            update: (draft, { event }) => {
              draft.n += event.data as number;
            },
          },
          double: { actions: { reply: ({ context }) => 2 * context.n } },
          tell: {
            actions: {
              send: ({ event }) => {
                const { run, data } = event.data as { run: string; data: Json };
                return { type: "note", data, to: { run } };
              },
            },
          },
          set: {
            actions: {
              send: ({ event }) => {
                const { n, delayMs } = event.data as { n: number; delayMs: number };
                return { type: "note", data: n, delay: delayMs, id: `alarm ${n}` };
              },
            },
          },
          call: { target: "calling", update: keepResult },
          hire: "hiring",
          nap: "asleep",
          end: "closed",
        },
      },
      asleep: { after: { "2m": "open" }, on: { wake: "open" }, defer: ["add", "double"] },
      calling: {
        invoke: {
          activity: "tool",
          id: "tool",
          input: ({ context }) => context.got,
          retry: { attempts: 3, first: "10s" },
          onDone: {
            target: "open",
            require: { small: ({ event }) => code.isMended || (event.data as number) <= resultMax },
            update: keepResult,
          },
          onError: "open",
        },
        on: { stop: "open" },
      },
      hiring: {
        invoke: {
          machine: clerk,
          id: "clerk",
          input: ({ context }) => context.n,
          onDone: { target: "open", update: keepResult },
        },
        on: { fire: "open", hurry: { actions: { send: { type: "hurry", to: { child: "clerk" } } } } },
      },
      closed: { type: "final", output: ({ context }) => context.n },
    },
  });

/** The desk with its tool, whose time is virtual. */
export function deskEntry(
  machine: ReturnType<typeof deskWith>,
  after: (ms: number, run: () => void) => unknown,
): Omit<MachineEntry, "machine"> & { readonly machine: typeof machine } {
  const tool = async (job: Json, { attempt, write }: ActivityScope): Promise<number> => {
    const { fails, value } = job as unknown as Job;
    await write(`attempt ${attempt}`);
    await new Promise<void>((resolve) => void after(5_000, resolve));
    if (attempt <= fails) throw new Error("busy");
    return value;
  };
  return { machine, activities: { tool: tool as never } };
}
