/** A parcel on its way: packed by a tool that fails now and then, carried for a while, and signed for. */
import { defineMachine } from "holdfast";
import { z } from "zod";

export const delivery = defineMachine({
  id: "delivery",
  version: 1,
  input: z.object({ to: z.string(), parcels: z.int() }),
  context: z.object({ to: z.string(), parcels: z.int(), label: z.string(), place: z.string() }),
  events: {
    moved: z.object({ place: z.string() }),
    signed: z.object({}).optional(),
    lost: z.object({}).optional(),
  },
  activities: {
    pack: { input: z.object({ parcels: z.int() }), output: z.object({ label: z.string() }) },
  },
  start: ({ input }) => ({ ...input, label: "", place: "the depot" }),
  initial: "packing",
  states: {
    packing: {
      invoke: {
        activity: "pack",
        input: ({ context }) => ({ parcels: context.parcels }),
        retry: { attempts: 6, first: "1s", max: "4s" },
        onDone: {
          target: "travelling",
          update: (draft, { event }) => {
            draft.label = event.data.label;
          },
        },
        onError: "failed",
      },
    },
    travelling: {
      type: "parallel",
      states: {
        van: {
          on: {
            moved: {
              update: (draft, { event }) => {
                draft.place = event.data.place;
              },
            },
          },
        },
        clock: {
          initial: "inTime",
          states: { inTime: { after: { "20s": "late" } }, late: { description: "Somebody should call." } },
        },
      },
      on: { signed: "delivered", lost: "failed" },
      after: { "2 minutes": "failed" },
    },
    delivered: { type: "final", output: ({ context }) => `${context.label} is with ${context.to}` },
    failed: { type: "final" },
  },
});
