/** A machine for workers in processes of their own: it tells whether states are frozen there. */
import { type ActivityScope, defineMachine } from "../../src/index.ts";

export const looker = defineMachine<{ frozen?: boolean }>({
  id: "looker",
  start: {},
  initial: "looking",
  states: {
    looking: {
      invoke: {
        activity: "look",
        onDone: {
          target: "done",
          update: (draft, { event }) => {
            draft.frozen = event.data as boolean;
          },
        },
      },
    },
    done: { type: "final", output: ({ context }) => context.frozen as boolean },
  },
});

const look = async (_: unknown, scope: ActivityScope): Promise<boolean> =>
  Object.isFrozen(await scope.state());

export default [{ machine: looker, activities: { look } }];
