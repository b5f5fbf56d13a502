/** Machines that tests of the server use: one that counts, one that asks a person, one that calls, and an agent. */
import { z } from "zod";
import { defineAgent, defineBoard, definePlanner } from "../../src/agent/index.ts";
import { defineMachine } from "../../src/index.ts";

/** Counts, naps, ends; its events have schemas. */
export const counter = defineMachine({
  id: "counter",
  description: "Counts what it is told.",
  context: z.object({ n: z.number() }),
  input: z.object({ from: z.number().optional() }).optional(),
  events: { add: z.number(), nap: {}, end: {}, read: {}, tell: {} },
  start: ({ input }) => ({ n: input?.from ?? 0 }),
  initial: "open",
  states: {
    open: {
      on: {
        add: {
          update: (draft, { event }) => {
            draft.n += event.data;
          },
        },
        read: { actions: { reply: ({ context }) => context.n } },
        tell: { actions: { send: { type: "add", data: 1, to: { run: "nobody" } } } },
        nap: "asleep",
        end: "closed",
      },
    },
    asleep: { after: { "1h": "open" }, defer: ["add"] },
    closed: { type: "final" },
  },
});

/** Waits for somebody to say yes, beside a region that goes on. */
export const expense = defineMachine({
  id: "expense",
  start: { amount: 40 },
  initial: "asking",
  states: {
    asking: {
      description: "Pay 40 €?",
      approval: { timeout: "2 days", onApproved: "paid", onRejected: "declined", onTimeout: "declined" },
      on: { note: {} },
    },
    paid: { on: { again: "asking" } },
    declined: {},
  },
});

/** Calls a tool that fails as often as it is told. */
export const caller = defineMachine({
  id: "caller",
  start: {},
  initial: "calling",
  states: {
    calling: {
      invoke: {
        id: "call",
        activity: "tool",
        retry: { attempts: 9, first: "10m", max: "1h" },
        onDone: "done",
        onError: "failed",
      },
    },
    done: {},
    failed: {},
  },
});

/** Wants to refund money, and asks first. */
export const agent = defineAgent({
  id: "helper",
  instructions: "Help.",
  model: async ({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "tool"
      ? { parts: [{ type: "text", text: "It is done." }] }
      : { parts: [{ type: "call", id: `call-${messages.length}`, tool: "refund", input: { euros: 40 } }] };
  },
  tools: { refund: { description: "Refunds.", run: async () => ({ ok: true }) } },
  approve: ["refund"],
});

export const board = defineBoard({ id: "board", keys: { price: { policy: "last-write" } } });

export const planner = definePlanner({
  id: "planner",
  decompose: async () => [{ id: "look" }, { id: "leap", needs: ["look"] }],
  work: async () => "done",
});
