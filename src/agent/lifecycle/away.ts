/**
 * Where an agent is after its model has handed the conversation over: another one has it, as a run that belongs to this one's,
 * begun by the step that handed it over. Whoever still speaks to this run is passed on, and when the other one is closed,
 * so is this one.
 */
import type { Json } from "../../core/json.ts";
import type { State } from "../../core/state.ts";
import type { AgentContext, Changing, Inheritance } from "./context.ts";
import type { Definition } from "./event.ts";
import type { Successors } from "./own-tools.ts";

const successorId = "successor";

/** The name of the state in which the conversation is with the successor of this place in the list. */
const nameAt = (index: number): string => `to${index + 1}`;

export function away(successors: Successors, fails: object): Definition {
  const passOn = {
    actions: {
      send: ({ event: { type, data } }: { event: { type: string; data?: Json } }) => ({
        ...{ type, to: { child: successorId } },
        ...(data === undefined ? {} : { data }),
      }),
    },
  };
  return {
    id: "away",
    initial: nameAt(0),
    on: { say: passOn, decide: passOn, stop: passOn, handOver: passOn, close: passOn },
    states: Object.fromEntries(
      Object.keys(successors).map((machine, index) => [
        nameAt(index),
        {
          id: awayWith(index),
          invoke: {
            ...{
              id: successorId,
              machine,
              input: ({ context }: { context: AgentContext }) => heirOf(context),
            },
            onDone: "#closed",
            onError: fails,
          },
        },
      ]),
    ),
  } as unknown as Definition;
}

/** The id of the state that hands the conversation to the successor of this place in the list. */
export const awayWith = (index: number): string => `away${index + 1}`;

/** What the next agent is given: all that was said and planned, and the turn that it is to go on with. */
function heirOf({ thread, working, turn }: AgentContext): Inheritance {
  return { thread, working, turn: { ...turn, handOvers: turn.handOvers + 1 } };
}

/** The turn goes on elsewhere. */
export function leave(draft: Changing): void {
  const { message } = draft.turn;
  draft.ended = { message, outcome: "handedOver", head: draft.thread.head };
  draft.handing = null;
}

/** The key of the run that has the conversation, after that of this one; undefined while this one has it. */
export const successorIn = ({ children }: Pick<State<unknown>, "children">): string | undefined =>
  children.find(({ id }) => id === successorId)?.key;
