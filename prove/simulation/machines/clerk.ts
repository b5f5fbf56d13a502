/**
 * A clerk who refuses what a tool brings, every other time, unless somebody has fixed that before: then the run is parked
 * until it is brought back. Meanwhile another tool of it may end, and a nap does not go on.
 */
import { defineMachine, type Json, type Machine } from "holdfast";
import { region } from "./crew.ts";
import type { Kind } from "./kind.ts";

export interface ClerkContext {
  readonly answers: readonly Json[];
  readonly errors: readonly Json[];
  readonly unknowns: number;
  /** How many results that would be refused are taken. */
  readonly fixes: number;
}

interface Settled {
  readonly event: { readonly data?: unknown };
}

/** Whether a result can be taken as it is: told from the key of its call. */
const isPlain = ({ event }: Settled): boolean =>
  (event.data as { readonly key: string }).key.charCodeAt(`clerk-1:`.length) % 2 === 0;

const retry = { attempts: 4, first: 200, max: "2s", never: ["Fatal"] };

export const clerkMachine = defineMachine<ClerkContext>({
  id: "clerk",
  start: { answers: [], errors: [], unknowns: 0, fixes: 0 },
  on: { fix: { update: (draft) => void draft.fixes++ } },
  type: "parallel",
  states: {
    filing: {
      initial: "idle",
      states: {
        idle: { on: { file: "waiting" } },
        waiting: {
          invoke: {
            activity: "fetch",
            ...{ retry, timeout: "4s" },
            onDone: {
              target: "idle",
              require: {
                fixed: (scope: Settled & { context: ClerkContext }) =>
                  isPlain(scope) || scope.context.fixes > 0,
              },
              update: (draft: { fixes: number; answers: Json[] }, { event }: { event: { data: Json } }) => {
                if (!isPlain({ event })) draft.fixes--;
                draft.answers.push(event.data);
              },
            },
            onError: "idle",
          },
        },
      },
    },
    reading: region("crawl", { retry, timeout: "6s" }),
    resting: {
      initial: "awake",
      states: {
        awake: { on: { nap: "napping" } },
        napping: { after: { "6s": { target: "awake", resume: "remaining" } } },
      },
    },
  } as never,
});

export const clerk: Kind = {
  machine: clerkMachine as unknown as Machine,
  runsMax: 2,
  rests: ["filing.idle", "reading.idle", "resting.awake"],
  goesBack: true,
  forks: (context) => void (context as { fixes: number }).fixes++,
  stops: [{ state: "filing.waiting" }, { event: "nap" }],
  cancellable: true,
  mends: "fix",
  input: () => ({}),
  order: (n, random) => ({ type: random.pick(["file", "file", "file", "crawl", "nap"]), data: { n } }),
};
