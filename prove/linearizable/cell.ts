/**
 * A cell: one number that clients write, add to, compare and set, and read. What it must do is said here, in a few lines and
 * without a runtime, and what it does is a machine; the proof compares the two.
 */
import { defineMachine, type Machine } from "holdfast";

/** `look` reads the state of the run without asking it; `read` asks it, and takes a step. */
export type Operation =
  | { readonly kind: "write"; readonly value: number }
  | { readonly kind: "add"; readonly value: number }
  | { readonly kind: "cas"; readonly from: number; readonly to: number }
  | { readonly kind: "read" }
  | { readonly kind: "look" };

export type Answer = number | boolean | null;

export interface Outcome {
  readonly value: number;
  readonly answer: Answer;
}

/** What every cell holds at first. */
export const firstValue = 0;

/** What an operation does to a cell that nobody else touches. */
export function applyTo(value: number, operation: Operation): Outcome {
  switch (operation.kind) {
    case "write":
      return { value: operation.value, answer: null };
    case "add":
      return { value: value + operation.value, answer: value + operation.value };
    case "cas": {
      const isSet = value === operation.from;
      return { value: isSet ? operation.to : value, answer: isSet };
    }
    default:
      return { value, answer: value };
  }
}

interface Cell {
  readonly value: number;
}

type Given = { readonly data?: unknown };

/** What each kind of cell takes. */
export const kinds = {
  register: ["write", "read", "look"],
  counter: ["add", "read", "look"],
  lock: ["cas", "write", "read", "look"],
} as const satisfies Record<string, readonly Operation["kind"][]>;

export type Kind = keyof typeof kinds;

const machineOf = (id: Kind) =>
  defineMachine<Cell>({
    id,
    start: { value: firstValue },
    unhandled: "reject",
    initial: "open",
    states: {
      open: {
        on: {
          write: {
            actions: [
              {
                update: (draft, { event }: { event: Given }) => {
                  draft.value = event.data as number;
                },
              },
              { reply: null },
            ],
          },
          add: {
            actions: [
              {
                update: (draft, { event }: { event: Given }) => {
                  draft.value += event.data as number;
                },
              },
              { reply: ({ context }) => context.value },
            ],
          },
          cas: [
            {
              guard: ({ context, event }) => context.value === (event.data as { from: number }).from,
              actions: [
                { reply: true },
                {
                  update: (draft, { event }: { event: Given }) => {
                    draft.value = (event.data as { to: number }).to;
                  },
                },
              ],
            },
            { actions: { reply: false } },
          ],
          read: { actions: { reply: ({ context }) => context.value } },
        },
      },
    },
  }) as unknown as Machine<Cell>;

export const machines: Readonly<Record<Kind, Machine<Cell>>> = {
  register: machineOf("register"),
  counter: machineOf("counter"),
  lock: machineOf("lock"),
};
