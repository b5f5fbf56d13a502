/**
 * Tallies that tell each other to count. What they count has no effects and waits in an inbox until its step is durable,
 * so its steps may wait for a later commit, as the policy of each kind of tally says.
 */
import { defineMachine, type Machine, type MachineDefinition } from "holdfast";
import type { Kind } from "./kind.ts";

export interface TallyContext {
  readonly counted: readonly number[];
  readonly marks: number;
}

interface Count {
  readonly n: number;
  readonly to: string;
  /** Whether it is worth a commit where the policy asks. */
  readonly mark: boolean;
}

export const countOf = (event: { readonly data?: unknown }): Count => event.data as Count;

/** How many steps may wait where the policy counts. */
export const tallyEvery = 4;

const tallyWith = (id: string, checkpoint: MachineDefinition<TallyContext>["checkpoint"]): Kind => {
  const machine = defineMachine<TallyContext>({
    id,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    start: { counted: [], marks: 0 },
    initial: "open",
    states: {
      open: {
        on: {
          tell: {
            actions: {
              send: ({ event }) => {
                const { n, to, mark } = countOf(event);
                return { type: "count", data: { n, mark }, to: { run: to } };
              },
            },
          },
          count: {
            update: (draft, { event }) => {
              draft.counted.push(countOf(event).n);
              if (countOf(event).mark) draft.marks++;
            },
          },
        },
      },
    },
  });
  return {
    machine: machine as unknown as Machine,
    ...{ runsMin: 2, runsMax: 2, rests: ["open"], cancellable: true },
    input: () => ({}),
    order: (n, random, peers) => ({
      type: "tell",
      data: { n, to: random.pick(peers), mark: random.chance(0.2) },
    }),
  };
};

export const tallyByNumber = tallyWith("tally-by-number", { every: tallyEvery });
export const tallyByHand = tallyWith("tally-by-hand", "manual");
export const tallyByMark = tallyWith("tally-by-mark", {
  when: ({ before, after }) => after.context.marks > before.context.marks,
});
