/**
 * A desk takes one piece of work at a time and defers the rest; what is urgent goes first. Nothing that was deferred may
 * be forgotten, taken twice or taken out of turn. A desk can be closed, and takes nothing more then.
 */
import { defineMachine, defineMigration, type Machine, type MachineDefinition } from "holdfast";
import type { Kind } from "./kind.ts";

export interface DeskContext {
  /** The numbers of what was taken up, by type. */
  readonly taken: { readonly job: readonly number[]; readonly rush: readonly number[] };
  readonly notes: readonly number[];
}

const numberOf = (event: { readonly data?: unknown }): number => (event.data as { n: number }).n;

const definition: MachineDefinition<DeskContext> = {
  id: "desk",
  start: { taken: { job: [], rush: [] }, notes: [] },
  unhandled: "reject",
  priorities: { rush: 5, close: -5, note: 10 },
  initial: "idle",
  on: {
    note: { update: (draft, { event }) => void draft.notes.push(numberOf(event)) },
    close: "closed",
  },
  states: {
    idle: {
      on: {
        job: { target: "busy", update: (draft, { event }) => void draft.taken.job.push(numberOf(event)) },
        rush: { target: "busy", update: (draft, { event }) => void draft.taken.rush.push(numberOf(event)) },
      },
    },
    busy: {
      defer: ["job", "rush"],
      after: { "3s": "idle" },
      on: { ready: "idle" },
    },
    closed: { type: "final", output: ({ context }) => context.notes.length },
  },
};

export const deskMachine = defineMachine<DeskContext>(definition);

/** Takes what is urgent while it is busy, but for some of it, which it has no use for. */
const laterMachine = defineMachine<DeskContext>({
  ...definition,
  version: 2,
  states: {
    ...definition.states,
    busy: {
      defer: ["job"],
      after: { "3s": "idle" },
      on: {
        ready: "idle",
        rush: {
          guard: ({ event }) => numberOf(event) % 3 > 0,
          update: (draft, { event }) => void draft.taken.rush.push(numberOf(event)),
        },
      },
    },
  },
});

export const desk: Kind = {
  machine: deskMachine as unknown as Machine,
  runsMax: 2,
  rests: ["idle", "closed"],
  goesBack: true,
  forks: (context) => void (context.notes as number[]).push(-1),
  stops: [{ state: "busy" }, { event: "note" }],
  later: {
    machine: laterMachine as unknown as Machine,
    migration: defineMigration(deskMachine, laterMachine, { back: {} }),
  },
  cancellable: true,
  input: () => ({}),
  order(n, random) {
    const close = random.chance(0.03);
    return { type: close ? "close" : random.pick(["job", "job", "rush", "note", "ready"]), data: { n } };
  },
};
