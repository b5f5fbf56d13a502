/**
 * A research agent as a statechart: it plans, executes two tool calls side by side, reflects, plans again if it must, and
 * waits for a person before it is done. It can be paused anywhere and resumes where it was. Its activities (model and
 * tool calls) are named here and performed elsewhere.
 */
import { defineMachine, type Machine } from "holdfast";

export interface Research {
  readonly question: string | null;
  readonly plan: readonly string[];
  readonly sources: readonly string[];
  readonly notes: readonly string[];
  readonly attempts: number;
  readonly tokens: number;
  readonly tokensMax: number;
}

export type ResearchEvent =
  | { readonly type: "ask"; readonly data: { readonly question: string } }
  | { readonly type: "spend"; readonly data: { readonly tokens: number } }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "approve"; readonly data: { readonly by: string } }
  | { readonly type: "revise"; readonly data: { readonly remark: string } };

export interface ResearchInput {
  readonly tokensMax: number;
}

const attemptsMax = 3;

export const researcher: Machine<Research, ResearchEvent, ResearchInput> = defineMachine<
  Research,
  ResearchEvent,
  ResearchInput
>({
  id: "researcher",
  version: 1,
  start: ({ input }) => ({
    question: null,
    plan: [],
    sources: [],
    notes: [],
    attempts: 0,
    tokens: 0,
    tokensMax: input.tokensMax,
  }),
  // An event that is not possible now is refused with a reason, not dropped.
  unhandled: "reject",
  invariants: { withinBudget: ({ context }) => context.tokens <= context.tokensMax },
  initial: "idle",
  states: {
    idle: {
      on: {
        ask: {
          target: "working",
          update: (draft, { event }) => {
            draft.question = event.data.question;
          },
        },
      },
    },
    working: {
      initial: "planning",
      on: {
        pause: "paused",
        spend: {
          update: (draft, { event }) => {
            draft.tokens += event.data.tokens;
          },
        },
      },
      states: {
        planning: {
          invoke: {
            id: "plan",
            activity: "plan",
            input: ({ context }) => ({ question: context.question, notes: context.notes }),
            onDone: {
              target: "executing",
              update: (draft, { event }) => {
                draft.plan = event.data;
                draft.attempts = 0;
              },
            },
            onError: "#failed",
          },
        },
        executing: {
          type: "parallel",
          onDone: "reflecting",
          states: {
            search: {
              initial: "calling",
              states: {
                calling: {
                  invoke: {
                    id: "search",
                    activity: "search",
                    input: ({ context }) => ({ query: context.question }),
                    onDone: {
                      target: "found",
                      update: (draft, { event }) => {
                        draft.sources.push(...event.data);
                      },
                    },
                    onError: { target: "waiting", update: "countAttempt" },
                  },
                  after: { "30s": { target: "waiting", update: "countAttempt" } },
                },
                waiting: {
                  always: { guard: "outOfAttempts", target: "#failed" },
                  after: { "5s": "calling" },
                },
                found: { type: "final" },
              },
            },
            reading: {
              initial: "opening",
              states: {
                opening: {
                  invoke: {
                    id: "read",
                    activity: "read",
                    onDone: {
                      target: "read",
                      update: (draft, { event }) => {
                        draft.notes.push(event.data);
                      },
                    },
                    onError: "#failed",
                  },
                },
                read: { type: "final" },
              },
            },
          },
        },
        reflecting: {
          always: [
            { guard: ({ context }) => context.sources.length >= 2, target: "approval" },
            { target: "planning" },
          ],
        },
        approval: {
          entry: { emit: { type: "approval.wanted", data: ({ context }) => context.notes } },
          on: {
            approve: { guard: ({ event }) => event.data.by !== "researcher", target: "#done" },
            revise: {
              target: "planning",
              update: (draft, { event }) => {
                draft.notes.push(`remark: ${event.data.remark}`);
              },
            },
          },
          after: { "2 days": "#failed" },
        },
        memory: { type: "history", history: "deep", target: "planning" },
      },
    },
    paused: { on: { resume: "working.memory" } },
    done: {
      id: "done",
      type: "final",
      output: ({ context }) => ({ answer: context.notes, sources: context.sources }),
    },
    failed: { id: "failed", type: "final" },
  },
  guards: { outOfAttempts: ({ context }) => context.attempts >= attemptsMax },
  updates: {
    countAttempt: (draft) => {
      draft.attempts += 1;
    },
  },
});
