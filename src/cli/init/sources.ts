/** The sources of a new project. */

export const machines = `/** What this project runs: machines, and the code that they call. */
import { expense } from "./src/expense.ts";
import { expenseOne } from "./src/expense-1.ts";
import { migration } from "./src/migration.ts";

const activities = {
  // The key is the same for every attempt, in every process: hand it to whatever you call.
  check: async ({ euros }: { euros: number }) => ({ isFine: euros > 0 }),
  pay: async ({ euros }: { euros: number }, { key }: { key: string }) => ({ receipt: \`\${key}: \${euros} euros\` }),
};

export default [
  { machine: expenseOne, activities },
  // Runs of the first version go on as runs of the second, as soon as they can.
  { machine: expense, activities, migrations: [migration], evolution: "upgrade" as const },
];
`;

export const machineOne = `/** The first version: runs of it may still be alive, so it stays. */
import { defineMachine } from "holdfast";
import { z } from "zod";

const Decision = z.object({ by: z.string(), note: z.string() }).partial().optional();

export const expenseOne = defineMachine({
  id: "expense",
  version: 1,
  input: z.object({ euros: z.number() }),
  context: z.object({ euros: z.number(), receipt: z.string() }),
  events: { approve: Decision, reject: Decision },
  activities: {
    pay: { input: z.object({ euros: z.number() }), output: z.object({ receipt: z.string() }) },
  },
  start: ({ input }) => ({ euros: input.euros, receipt: "" }),
  initial: "waiting",
  states: {
    waiting: { tags: ["approval"], on: { approve: "paying", reject: "rejected" } },
    paying: {
      invoke: {
        activity: "pay",
        input: ({ context }) => ({ euros: context.euros }),
        onDone: { target: "paid", update: (draft, { event }) => void (draft.receipt = event.data.receipt) },
        onError: "rejected",
      },
    },
    paid: { type: "final", output: ({ context }) => context.receipt },
    rejected: { type: "final" },
  },
});
`;

export const machine = `/** An expense: checked by a tool, approved by a person within two days, and paid once. */
import { defineMachine } from "holdfast";
import { z } from "zod";

const Euros = z.object({ euros: z.number() });
/** Who decided, and why. */
const Decision = z.object({ by: z.string(), note: z.string() }).partial().optional();

export const expense = defineMachine({
  id: "expense",
  version: 2,
  input: z.object({ title: z.string(), euros: z.number() }),
  context: z.object({ title: z.string(), euros: z.number(), receipt: z.string() }),
  events: { approve: Decision, reject: Decision },
  activities: {
    check: { input: Euros, output: z.object({ isFine: z.boolean() }) },
    pay: { input: Euros, output: z.object({ receipt: z.string() }) },
  },
  start: ({ input }) => ({ ...input, receipt: "" }),
  // A step that would break this does not commit.
  invariants: { aboveZero: ({ context }) => context.euros > 0 },
  initial: "checking",
  states: {
    checking: {
      invoke: {
        activity: "check",
        input: ({ context }) => ({ euros: context.euros }),
        retry: { attempts: 5, first: "1s" },
        onDone: [{ guard: ({ event }) => event.data.isFine, target: "approving" }, "rejected"],
        onError: "rejected",
      },
    },
    approving: {
      approval: { onApproved: "paying", onRejected: "rejected", timeout: "2 days", onTimeout: "rejected" },
    },
    paying: {
      invoke: {
        activity: "pay",
        input: ({ context }) => ({ euros: context.euros }),
        retry: { attempts: 3 },
        onDone: { target: "paid", update: (draft, { event }) => void (draft.receipt = event.data.receipt) },
        onError: "rejected",
      },
    },
    paid: { type: "final", output: ({ context }) => context.receipt },
    rejected: { type: "final" },
  },
});
`;

export const migration = `/** How a run of the first version becomes one of the second. */
import { defineMigration } from "holdfast";
import { expense } from "./expense.ts";
import { expenseOne } from "./expense-1.ts";

export const migration = defineMigration(expenseOne, expense, {
  context: ({ euros, receipt }) => ({ title: "an older expense", euros, receipt }),
  states: { waiting: "approving" },
});
`;

export const test = `/** The machine in virtual time: days pass in milliseconds, and it is killed wherever it can be. */
import assert from "node:assert/strict";
import test from "node:test";
import { evolve, start } from "holdfast";
import { harness } from "holdfast/testing";
import { expense } from "./expense.ts";
import { expenseOne } from "./expense-1.ts";
import { migration } from "./migration.ts";

const tools = { check: () => ({ isFine: true }), pay: () => ({ receipt: "R-1" }) };

test("what is approved is paid once, wherever it is killed", async () => {
  const world = await harness(expense, tools);
  await world.start({ title: "Train", euros: 80 });
  world.expect("approving");
  await world.send("approve");
  world.expect({ state: "paid", status: "done", output: "R-1" });
  world.expectCalls("pay", 1);
  await world.crashEverywhere();
  await world.close();
});

test("what nobody approves within two days is rejected", async () => {
  const world = await harness(expense, tools);
  await world.start({ title: "Train", euros: 80 });
  await world.advance("2 days");
  world.expect("rejected");
  await world.close();
});

test("a run of the first version goes on in the second", () => {
  const before = start(expenseOne, { euros: 80 }, { at: 0 }).state;
  const there = evolve(expenseOne, expense, before, { at: 1_000, migration });
  assert.equal(there.outcome, "moved");
  assert.deepEqual(there.outcome === "moved" && there.step.state.configuration, ["approving"]);
});
`;
