/** A machine that books flights, for tests of the harness: it asks, waits for a person, and does one thing only once. */
import { defineMachine, type InvokeActivity } from "../../src/index.ts";

/** A type, not an interface, so that it is JSON to the compiler. */
export type Flight = { readonly id: string; readonly price: number };

export interface Booking {
  readonly goal: string;
  readonly options: readonly Flight[];
  readonly choice: Flight | null;
  readonly reference: string | null;
}

export type BookingEvent =
  | { readonly type: "choose"; readonly data: { readonly flight: string } }
  | { readonly type: "abandon" }
  | { readonly type: "price" };

export interface BookingInput {
  readonly goal: string;
}

export const cheap: Flight = { id: "DL123", price: 400 };
export const dear: Flight = { id: "BA1", price: 900 };

/** `book` is what to add to the invocation that books. */
export const bookingWith = (book: Partial<InvokeActivity<Booking, BookingEvent>> = {}) =>
  defineMachine<Booking, BookingEvent, BookingInput>({
    id: "booking",
    start: ({ input }) => ({ goal: input.goal, options: [], choice: null, reference: null }),
    initial: "searching",
    states: {
      searching: {
        tags: ["busy"],
        invoke: {
          activity: "search",
          input: ({ context }) => ({ goal: context.goal }),
          retry: { attempts: 3, first: "1s" },
          timeout: "30s",
          onDone: {
            target: "choosing",
            update: (draft, { event }) => {
              draft.options = event.data;
            },
          },
          onError: "failed",
        },
        defer: ["choose"],
      },
      choosing: {
        entry: { emit: ({ context }) => ({ type: "found", data: context.options.length }) },
        on: {
          choose: {
            guard: ({ context, event }) => context.options.some(({ id }) => id === event.data.flight),
            target: "booking",
            update: (draft, { event }) => {
              draft.choice = draft.options.find(({ id }) => id === event.data.flight) ?? null;
            },
          },
          price: { actions: { reply: ({ context }) => context.options[0]?.price ?? 0 } },
        },
        after: { "2 days": "failed" },
      },
      booking: {
        invoke: {
          activity: "book",
          once: true,
          input: ({ context }) => ({ flight: context.choice?.id ?? "" }),
          onDone: {
            target: "booked",
            update: (draft, { event }) => {
              draft.reference = event.data.reference;
            },
          },
          onError: "choosing",
          onUnknown: "checking",
          ...book,
        },
      },
      checking: {},
      booked: { type: "final", output: ({ context }) => ({ reference: context.reference }) },
      failed: { type: "final" },
    },
    on: { abandon: "failed" },
  });

export const booking = bookingWith();
