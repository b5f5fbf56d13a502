/** A machine typed by its schemas, as an author writes it: what it knows of itself is checked in `promises.ts`. */
import { z } from "zod";
import { defineMachine } from "../../src/index.ts";

export const Flight = z.object({ id: z.string(), price: z.number() });

export const booking = defineMachine({
  id: "booking",
  version: 1,
  input: z.object({ goal: z.string(), budget: z.number() }),
  context: z.object({
    goal: z.string(),
    budget: z.number(),
    options: z.array(Flight),
    choice: Flight.optional(),
    reference: z.string().optional(),
  }),
  events: { choose: z.object({ flight: z.string() }), abandon: z.object({}) },
  activities: {
    search: { input: z.object({ goal: z.string() }), output: z.array(Flight) },
    book: { input: Flight, output: z.object({ reference: z.string() }) },
  },
  start: ({ input }) => ({ ...input, options: [] }),
  invariants: { budgetHeld: ({ context }) => !context.choice || context.choice.price <= context.budget },
  initial: "searching",
  states: {
    searching: {
      invoke: {
        activity: "search",
        input: ({ context }) => ({ goal: context.goal }),
        retry: { attempts: 5, first: "1s", max: "1m" },
        timeout: "30s",
        onDone: {
          target: "choosing",
          update: (draft, { event }) => {
            draft.options = event.data;
          },
        },
        onError: "failed",
      },
    },
    choosing: {
      on: {
        choose: {
          guard: ({ context, event }) => context.options.some((option) => option.id === event.data.flight),
          target: "booking",
          update: (draft, { event }) => {
            draft.choice = draft.options.find((option) => option.id === event.data.flight);
          },
        },
      },
      after: { "2 days": "failed" },
    },
    booking: {
      invoke: {
        activity: "book",
        once: true,
        onUnknown: "checking",
        input: ({ context }) => context.choice!,
        onDone: {
          target: "booked",
          update: (draft, { event }) => {
            draft.reference = event.data.reference;
          },
        },
        onError: "choosing",
      },
    },
    checking: { on: { choose: "choosing" } },
    booked: { type: "final", output: ({ context }) => ({ reference: context.reference! }) },
    failed: { type: "final" },
  },
  on: { abandon: "failed" },
});
