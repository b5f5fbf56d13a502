/**
 * A kiosk answers whoever asks: at once, or after a while through a timer, possibly of another process. Each question is
 * answered with its own number, so that nobody can be given another one's answer.
 */
import { defineMachine, type Machine } from "holdfast";
import type { Kind } from "./kind.ts";

export interface KioskContext {
  /** Where the answers to questions that take a while go to, by their number. */
  readonly asked: Readonly<Record<string, string>>;
}

interface Question {
  readonly n: number;
  readonly delayMs: number;
}

const questionOf = (event: { readonly data?: unknown }): Question => event.data as Question;

export const kioskMachine = defineMachine<KioskContext>({
  id: "kiosk",
  start: { asked: {} },
  initial: "open",
  states: {
    open: {
      on: {
        now: { actions: { reply: ({ event }) => ({ n: questionOf(event).n }) } },
        later: {
          update: (draft, { event }) => {
            draft.asked[questionOf(event).n] = event.replyTo as string;
          },
          actions: {
            send: ({ event }) => {
              const { n, delayMs } = questionOf(event);
              return { type: "answer", data: { n }, delay: delayMs };
            },
          },
        },
        answer: {
          actions: [
            {
              reply: ({ event }) => ({ n: questionOf(event).n }),
              to: ({ context, event }) => context.asked[questionOf(event).n] as string,
            },
            { update: (draft, { event }) => void delete draft.asked[questionOf(event).n] },
          ],
        },
      },
    },
  },
});

export const kiosk: Kind = {
  machine: kioskMachine as unknown as Machine,
  runsMax: 2,
  rests: ["open"],
  cancellable: true,
  asks: true,
  input: () => ({}),
  order: (n, random) => ({
    type: random.pick(["now", "later", "later"]),
    data: { n, delayMs: random.between(0, 8_000) },
  }),
};
