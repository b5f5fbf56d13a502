/**
 * What the end-to-end tests and the screenshots run: an order with regions, timers, retries and an approval; two agents
 * with a scripted model, and one that only echoes, for long conversations; a board and a planner; a counter for long
 * journals; and one that always fails. Nothing here waits for a network.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { defineMachine } from "holdfast";
import { defineAgent, defineBoard, definePlanner } from "holdfast/agent";
import { z } from "zod";
import { scriptedModel } from "../../examples/agents/scripted-model.ts";

/** How fast the world answers: slow enough to be seen, fast enough for a test. */
const paceMs = Number(process.env.HOLDFAST_PACE ?? 40);

const order = defineMachine({
  id: "order",
  version: 1,
  description: "An order from its check to its delivery; large ones need a person.",
  context: z.object({
    item: z.string(),
    euros: z.number(),
    packed: z.boolean(),
    receipt: z.string().nullable(),
    notes: z.array(z.string()),
  }),
  input: z.object({ item: z.string(), euros: z.number() }),
  events: {
    approve: z.object({ by: z.string().optional(), note: z.string().optional() }),
    reject: z.object({ by: z.string().optional(), note: z.string().optional() }),
    note: z.object({ text: z.string() }),
    delivered: z.object({}),
  },
  start: ({ input }) => ({ item: input.item, euros: input.euros, packed: false, receipt: null, notes: [] }),
  initial: "checking",
  on: { note: { update: (draft, { event }) => void draft.notes.push(event.data.text) } },
  states: {
    checking: {
      description: "Is it in stock?",
      invoke: {
        id: "check",
        activity: "check",
        input: ({ context }) => ({ item: context.item }),
        onDone: "preparing",
        onError: "refused",
      },
    },
    preparing: {
      type: "parallel",
      states: {
        goods: {
          initial: "packing",
          states: {
            packing: {
              invoke: {
                id: "pack",
                activity: "pack",
                onDone: { target: "packed", update: (draft) => Object.assign(draft, { packed: true }) },
              },
            },
            packed: { type: "final" },
          },
        },
        money: {
          initial: "charging",
          states: {
            charging: {
              invoke: {
                id: "charge",
                activity: "charge",
                input: ({ context }) => ({ euros: context.euros }),
                retry: { attempts: 4, first: "60ms" },
                onDone: {
                  target: "charged",
                  update: (draft, { event }) => Object.assign(draft, { receipt: event.data }),
                },
              },
            },
            charged: { type: "final" },
          },
        },
      },
      onDone: [{ guard: ({ context }) => context.euros >= 100, target: "approving" }, "delivering"],
    },
    approving: {
      description: "Large orders are looked at by a person",
      approval: { timeout: "3 days", onApproved: "delivering", onRejected: "refused", onTimeout: "refused" },
    },
    delivering: { on: { delivered: "done" }, after: { "2 days": "lost" } },
    lost: { on: { delivered: "done" } },
    done: { type: "final", output: ({ context }) => ({ item: context.item, receipt: context.receipt }) },
    refused: { type: "final" },
  },
});

const counter = defineMachine({
  id: "counter",
  version: 1,
  description: "Counts what it is told.",
  start: { count: 0, last: "" },
  initial: "counting",
  states: {
    counting: {
      on: {
        tick: {
          update: (draft: { count: number; last: string }) => {
            draft.count++;
            draft.last = `tick ${draft.count}`;
          },
        },
        stop: "stopped",
      },
    },
    stopped: { type: "final" },
  },
});

const fragile = defineMachine({
  id: "fragile",
  version: 1,
  description: "Calls what never works.",
  initial: "trying",
  states: {
    trying: {
      invoke: {
        ...{ id: "call", activity: "call", retry: { attempts: 2, first: "20ms" }, onDone: "fine" },
        onError: { target: "trying", reenter: true },
      },
    },
    fine: { type: "final" },
  },
  limits: { steps: 6 },
});

const slowly = async () => void (await sleep(paceMs));

const support = defineAgent({
  id: "support",
  instructions: "Be kind. Money goes out by `refund` only.",
  model: scriptedModel(
    ({ said }) => {
      const last = said.at(-1);
      if (last?.role === "tool" && last.text.includes("paid back"))
        return { text: "It is done: the money is on its way back to you, and the boots may stay with you." };
      if (last?.role === "tool") return { text: "I am sorry, I was not allowed to pay that back." };
      const euros = Number(/(\d+) euros/.exec(last?.text ?? "")?.[1] ?? 0);
      if (euros === 0) return { text: "Good day. How can I help you with your order?" };
      return {
        text: "Let me ask for that.",
        calls: [{ tool: "refund", input: { euros, reason: "leaking boots" } }],
      };
    },
    { onWord: slowly },
  ),
  tools: {
    refund: {
      description: "Pays money back",
      input: z.object({ euros: z.number().positive(), reason: z.string() }),
      run: async ({ euros }: { euros: number }) => {
        await sleep(paceMs);
        return `${euros} euros paid back`;
      },
    },
  },
  approve: ["refund"],
  decideWithin: "2 days",
  whenBusy: "enqueue",
});

const papers: Readonly<Record<string, string>> = {
  "kelp-2019": "Holdfasts grip rock with haptera that grow into its pores.",
  "storm-2022": "In storms the rock breaks before the holdfast does.",
};

const researcher = defineAgent({
  id: "researcher",
  instructions: "Answer from papers, and from nothing else.",
  model: scriptedModel(
    ({ said }) => {
      const results = said.filter(({ role }) => role === "tool").length;
      if (results === 0)
        return {
          text: "I will look in both places.",
          calls: [
            { tool: "search", input: { for: "holdfast grip" } },
            { tool: "search", input: { for: "holdfast storm" } },
          ],
        };
      if (results === 1)
        return {
          text: "Two papers fit; I read them.",
          calls: Object.keys(papers).map((id) => ({ tool: "read", input: { id } })),
        };
      return { text: "Kelp holds by growing into the rock; in storms the rock gives way first." };
    },
    { onWord: slowly },
  ),
  plan: () => ({ steps: ["find papers", "read them", "answer"] }),
  tools: {
    search: {
      description: "Finds papers",
      input: z.object({ for: z.string() }),
      run: async (input: { for: string }) => {
        await sleep(paceMs);
        return Object.keys(papers).filter((id) => input.for.includes("storm") === id.startsWith("storm"));
      },
    },
    read: {
      description: "Reads a paper",
      input: z.object({ id: z.string() }),
      run: async ({ id }: { id: string }) => {
        await sleep(paceMs);
        return papers[id] ?? "There is no such paper.";
      },
    },
  },
  budget: { steps: 10, tokens: 20_000 },
});

const echo = defineAgent({
  id: "echo",
  model: ({ messages }) => {
    const [part] = messages.at(-1)?.parts ?? [];
    return { parts: [{ type: "text", text: part?.type === "text" ? `You said ${part.text}.` : "" }] };
  },
  whenBusy: "enqueue",
});

const desk = defineBoard({
  id: "desk",
  keys: { headline: { policy: "last-write" }, sources: { policy: { merge: "union" } } },
  leases: ["printer"],
});

const voyage = definePlanner({
  id: "voyage",
  decompose: () => [
    { id: "chart", title: "chart the route", estimateMs: 40 },
    { id: "stores", title: "take stores on board", estimateMs: 80 },
    { id: "sail", title: "set sail", needs: ["chart", "stores"], estimateMs: 20 },
  ],
  work: slowly,
});

/** Asks as soon as it begins. */
const leave = defineMachine({
  id: "leave",
  version: 1,
  description: "A day off, which somebody must grant.",
  start: {},
  initial: "asking",
  states: {
    asking: {
      description: "Grant a day off?",
      approval: { onApproved: "granted", onRejected: "refused" },
    },
    granted: { type: "final" },
    refused: { type: "final" },
  },
});

export { counter };
export const machines = [
  {
    machine: order,
    activities: {
      check: slowly,
      pack: async () => void (await sleep(paceMs * 3)),
      charge: async ({ euros }: { euros: number }, { attempt }: { attempt: number }) => {
        await sleep(paceMs);
        // The bank is never there at first.
        if (attempt < 3) throw Object.assign(new Error("The bank does not answer"), { code: "BANK_BUSY" });
        return `receipt for ${euros} euros`;
      },
    },
    attributes: ({ context }: { context: { item: string } }) => ({ item: context.item }),
  },
  counter,
  leave,
  {
    machine: fragile,
    activities: {
      call: () => Promise.reject(Object.assign(new Error("Nobody is there"), { code: "NOBODY" })),
    },
  },
  support,
  researcher,
  echo,
  desk,
  voyage,
];
