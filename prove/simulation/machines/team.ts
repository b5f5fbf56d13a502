/**
 * A team hires a member, a run of its own: it learns for a while, calls a tool, answers when it is nudged and hands over
 * its result. A member that is let go must stop with everything it has under way, its own apprentice included.
 */
import { defineMachine, type Json, type Machine } from "holdfast";
import type { Kind } from "./kind.ts";

export interface TeamContext {
  readonly results: readonly Json[];
  readonly heard: readonly number[];
}

const apprenticeMachine = defineMachine<{ n: number }>({
  id: "apprentice",
  start: ({ input }) => ({ n: input as number }),
  initial: "watching",
  states: {
    watching: { after: { "2s": "done" } },
    done: { type: "final", output: ({ context }) => context.n },
  },
});

export const memberMachine = defineMachine<{ n: number; heard: number[] }>({
  id: "member",
  start: ({ input }) => ({ n: input as number, heard: [] }),
  initial: "learning",
  on: {
    nudge: {
      update: (draft, { event }) => void draft.heard.push((event.data as { n: number }).n),
      actions: {
        send: ({ event }) => ({ type: "heard", data: event.data as Json, to: "parent" }),
      },
    },
  },
  states: {
    learning: {
      invoke: {
        machine: apprenticeMachine,
        id: "apprentice",
        input: ({ context }) => context.n,
        onDone: "working",
      },
    },
    working: {
      invoke: {
        activity: "fetch",
        input: ({ context }) => ({ n: context.n }),
        retry: { attempts: 4, first: 200, max: "2s", never: ["Fatal"] },
        timeout: "4s",
        onDone: "done",
        onError: "done",
      },
    },
    done: { type: "final", output: ({ context }) => context.n },
  },
});

export const teamMachine = defineMachine<TeamContext>({
  id: "team",
  start: { results: [], heard: [] },
  initial: "alone",
  states: {
    alone: {
      on: {
        hire: "together",
        // What a member says that was let go must not get here.
        heard: { update: (draft, { event }) => void draft.heard.push((event.data as { n: number }).n) },
      },
    },
    together: {
      invoke: {
        machine: memberMachine,
        id: "member",
        input: ({ event }) => (event.data as { n: number }).n,
        onDone: { target: "alone", update: (draft, { event }) => void draft.results.push(event.data) },
      },
      on: {
        nudge: {
          actions: {
            send: ({ event }) => ({ type: "nudge", data: event.data as Json, to: { child: "member" } }),
          },
        },
        heard: { update: (draft, { event }) => void draft.heard.push((event.data as { n: number }).n) },
        fire: "alone",
      },
    },
  },
});

export const team: Kind = {
  machine: teamMachine as unknown as Machine,
  runsMax: 2,
  rests: ["alone"],
  goesBack: true,
  forks: (context) => void (context.heard as number[]).push(-1),
  stops: [{ state: "together" }, { event: "heard" }],
  cancellable: true,
  input: () => ({}),
  order: (n, random) => ({
    type: random.pick(["hire", "hire", "nudge", "nudge", "nudge", "fire", "fire"]),
    data: { n },
  }),
};
