/** Machines that several tests of the runtime use. */
import { defineMachine, type Json, type MachineDefinition } from "../../src/index.ts";

export interface Counter {
  readonly n: number;
  readonly log: readonly Json[];
}

/** Counts and takes notes; `parts` are of its definition. */
export const counterWith = (parts: Partial<MachineDefinition<Counter>> = {}) =>
  defineMachine<Counter>({
    id: "counter",
    start: ({ input }) => ({ n: (input as number | undefined) ?? 0, log: [] }),
    unhandled: "reject",
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
          /** Sends a note to a run: `{ run, data }`. */
          tell: {
            actions: {
              send: ({ event }) => {
                const { run, data } = event.data as { run: string; data: Json };
                return { type: "note", data, to: { run } };
              },
            },
          },
          echo: { actions: { send: { type: "note", data: ({ event }) => event.data as Json } } },
          nap: "asleep",
          end: "closed",
        },
      },
      asleep: { after: { "2m": "open" }, defer: ["add", "note"] },
      closed: { type: "final", output: ({ context }) => context.n },
    },
    ...parts,
  });

export const counter = counterWith();

interface Caller {
  readonly got: Json;
}

/** Calls the activity `tool` and keeps what it gives; `options` are of the invocation, `parts` of the definition. */
export const callerWith = (options: object = {}, parts: Partial<MachineDefinition<Caller>> = {}) =>
  defineMachine<Caller>({
    id: "caller",
    start: { got: null },
    initial: "calling",
    states: {
      calling: {
        invoke: {
          activity: "tool",
          id: "call",
          input: "in",
          onDone: { target: "done", update: keep },
          onError: { target: "failed", update: keep },
          onUnknown: { target: "unknown", update: keep },
          ...options,
        },
        on: { stop: "stopped", note: { update: keep } },
      },
      done: { on: { again: "calling", note: { update: keep } } },
      failed: {},
      unknown: {},
      stopped: {},
    },
    ...parts,
  });

function keep(draft: { got: Json }, { event }: { event: { data?: Json } }): void {
  draft.got = event.data ?? null;
}
