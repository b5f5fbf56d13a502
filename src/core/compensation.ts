/**
 * Compensation: undoing what a run has done when it cannot go on. The machine here is an ordinary one, started as a
 * child with the recorded steps as its input, so that undoing is as durable as doing.
 */
import type { Draft } from "./definition.ts";
import { compensationName } from "./event.ts";
import type { Json } from "./json.ts";
import { defineMachine, type Machine } from "./machine.ts";
import type { Scope } from "./scope.ts";
import type { Compensation } from "./state.ts";

interface Undoing {
  /** What is still to be undone, in order. */
  readonly steps: readonly Compensation[];
  readonly undone: readonly string[];
  readonly failed: readonly { readonly key: string; readonly activity: string; readonly error: Json }[];
}

/** Undoing is tried for longer than doing: giving up leaves things half done for a person to mend. */
const retry = { attempts: 10, first: "1s", max: "5m" };

/**
 * The machine that undoes what runs of `machine` have done: one activity after the other, in the order given. What
 * fails for good is noted and the others go on; its output is `{ undone, failed }`.
 */
export function compensationMachine(machine: Pick<Machine, "id" | "version">): Machine {
  const undoing = defineMachine<Undoing>({
    id: compensationName(machine.id),
    version: machine.version,
    start: ({ input }) => ({ ...(input as unknown as Pick<Undoing, "steps">), undone: [], failed: [] }),
    initial: "choosing",
    states: {
      choosing: {
        always: [{ guard: ({ context }) => context.steps.length === 0, target: "done" }, "undoing"],
      },
      undoing: {
        invoke: {
          id: "undo",
          activity: ({ context }) => next(context).activity,
          input: ({ context }) => next(context).input as Json,
          retry,
          onDone: {
            target: "choosing",
            update: (draft) => void draft.undone.push(takeNext(draft).key),
          },
          onError: { target: "choosing", update: noteFailure },
          onUnknown: { target: "choosing", update: noteFailure },
        },
      },
      done: { type: "final", output: ({ context: { undone, failed } }) => ({ undone, failed }) },
    },
  });
  return undoing as unknown as Machine;
}

function noteFailure(draft: Draft<Undoing>, { event }: Scope<Undoing>): void {
  const { key, activity } = takeNext(draft);
  draft.failed.push({ key, activity, error: event.data as Json });
}

function next({ steps }: Undoing): Compensation {
  return steps[0] as Compensation;
}

function takeNext({ steps }: Draft<Undoing>): Compensation {
  return steps.shift() as Compensation;
}
