/**
 * A research agent as a statechart: it plans, searches and reads side by side, drafts, waits for a person, publishes. It
 * can be paused anywhere and resumes where it was; if it is withdrawn, what it reserved is released. What it calls
 * (models and tools) is named here and performed elsewhere: `worker.ts` does it durably, `simulated.ts` in virtual time.
 */
import { defineMachine, type Machine, type Recipe, type SettledEvent } from "holdfast";

export interface Research {
  readonly question: string;
  /** What to search for. */
  readonly plan: readonly string[];
  readonly findings: readonly string[];
  readonly source: string | null;
  readonly draft: readonly string[];
  /** The name the report will have, once one is reserved. */
  readonly reserved: string | null;
  readonly address: string | null;
  readonly remarks: readonly string[];
}

export type ResearchEvent =
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "approve"; readonly data: { readonly by: string } }
  | { readonly type: "revise"; readonly data: { readonly remark: string } }
  | { readonly type: "withdraw" };

export interface ResearchInput {
  readonly question: string;
}

/** Tries of a call that fails: the first wait is short, since somebody watches. */
const retry = { attempts: 5, first: "500ms", max: "30s" };

const keepFinding: Recipe<Research, SettledEvent> = (draft, { event }) =>
  void draft.findings.push(event.data);

export const researcher: Machine<Research, ResearchEvent, ResearchInput> = defineMachine<
  Research,
  ResearchEvent,
  ResearchInput
>({
  id: "researcher",
  version: 1,
  start: ({ input }) => ({
    question: input.question,
    plan: [],
    findings: [],
    source: null,
    draft: [],
    reserved: null,
    address: null,
    remarks: [],
  }),
  // An event that is not possible now is refused with a reason, not dropped.
  unhandled: "reject",
  limits: { steps: 60, time: "7 days", tokens: 10_000, cost: 0.5 },
  initial: "working",
  states: {
    working: {
      initial: "planning",
      on: { pause: "paused", withdraw: "withdrawing" },
      states: {
        planning: {
          invoke: {
            id: "plan",
            activity: "plan",
            input: ({ context }) => ({ question: context.question }),
            retry,
            onDone: {
              target: "gathering",
              update: (draft, { event }) => {
                draft.plan = event.data;
              },
            },
            onError: "#withdrawing",
          },
        },
        gathering: {
          type: "parallel",
          onDone: "drafting",
          states: {
            search: {
              initial: "searching",
              states: {
                searching: {
                  invoke: {
                    id: "search",
                    activity: "search",
                    input: ({ context }) => ({ query: context.plan[context.findings.length] ?? "" }),
                    retry,
                    timeout: "30s",
                    onDone: [
                      { guard: "moreToSearch", target: "searching", reenter: true, update: keepFinding },
                      { target: "found", update: keepFinding },
                    ],
                    onError: "#withdrawing",
                  },
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
                    input: ({ context }) => ({ question: context.question }),
                    retry,
                    onDone: {
                      target: "read",
                      update: (draft, { event }) => {
                        draft.source = event.data;
                      },
                    },
                    onError: "#withdrawing",
                  },
                },
                read: { type: "final" },
              },
            },
          },
        },
        drafting: {
          invoke: {
            id: "write",
            activity: "write",
            input: ({ context: { findings, source, remarks } }) => ({ findings, source, remarks }),
            retry,
            heartbeat: "30s",
            onDone: {
              target: "reserving",
              update: (draft, { event }) => {
                draft.draft = event.data;
              },
            },
            onError: "#withdrawing",
          },
        },
        reserving: {
          always: { guard: ({ context }) => context.reserved !== null, target: "approval" },
          invoke: {
            id: "reserve",
            activity: "reserve",
            retry,
            compensate: "release",
            onDone: {
              target: "approval",
              update: (draft, { event }) => {
                draft.reserved = event.data.name;
              },
            },
            onError: "#withdrawing",
          },
        },
        approval: {
          on: {
            approve: { guard: ({ event }) => event.data.by !== "researcher", target: "publishing" },
            revise: {
              target: "drafting",
              update: (draft, { event }) => void draft.remarks.push(event.data.remark),
            },
          },
          after: { "2 days": "#withdrawing" },
        },
        publishing: {
          invoke: {
            id: "publish",
            activity: "publish",
            input: ({ context }) => ({ name: context.reserved, text: context.draft.join("\n") }),
            // Publishing twice cannot be taken back, so it happens once at most, and is looked for when in doubt.
            once: true,
            reconcile: "findPublication",
            onDone: {
              target: "#published",
              update: (draft, { event }) => {
                draft.address = event.data.address;
              },
            },
            onError: "#withdrawing",
            onUnknown: {
              target: "approval",
              update: (draft) => void draft.remarks.push("It may be out already: look before you approve."),
            },
          },
        },
        memory: { type: "history", history: "deep", target: "planning" },
      },
    },
    paused: { on: { resume: "working.memory", withdraw: "withdrawing" } },
    withdrawing: {
      id: "withdrawing",
      entry: { compensate: true },
      on: { "done.invoke.compensation": "withdrawn" },
    },
    published: {
      id: "published",
      type: "final",
      output: ({ context: { address, draft } }) => ({ address, draft }),
    },
    withdrawn: { type: "final" },
  },
  guards: { moreToSearch: ({ context }) => context.findings.length + 1 < context.plan.length },
});
