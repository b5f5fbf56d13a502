/**
 * Everything in which an imported XState machine differs from the original, by name. `docs/xstate.md` explains each of
 * them, and the comparison with XState itself shows that each happens, and nothing else.
 */

/** Where the same machine behaves differently, because the meaning here is SCXML's or because state is JSON. */
export const behaviours = {
  "parallel-domain":
    "leaves and enters the parallel state around it too, where XState only restarts its regions",
  "ancestor-too": "is taken even while a region takes the same event, where XState asks it only if none does",
  "initial-actions":
    "runs its actions whenever it is entered by default; XState leaves them out now and then",
  "done-upwards":
    "is a parallel state directly inside another, whose end XState announces and SCXML does not",
  "still-always":
    "goes round for ever if its guard stays true, and the step is refused; XState stops when nothing changes",
  throws: "may throw: that is error.execution here and the run lives, where XState's actor ends in an error",
  "unhandled-error": "has no onError: its failure is ignored here, where XState's actor ends in an error",
  "error-data": "gets the error as data ({ name, message }), not as the object that was thrown",
  "early-send":
    "sends to a child that starts at the end of the step: nobody is there yet, which is error.communication",
  nobody: "sends to nobody: that is error.communication here, where XState's actor ends in an error",
  "output-last": "is computed after the exit actions, and before them in XState",
  "root-reenter": "enters the machine itself again in XState; here only what is inside it",
  "same-send-id": "schedules a second event under one id: cancel ends both here, and only the last in XState",
  "in-while-acting":
    "asks for active states while acting: here they are as they are at that moment, in XState as before",
  "zero-delay":
    "has no delay to speak of and comes right after this step; XState waits for its clock to move",
  stateless: "has no states and gets one, called active",
  "final-region":
    "is final and a region by itself; it becomes a region with a final state called done inside",
  json: "must be JSON: fields that are undefined are left out, and anything else is refused",
} as const;

/** What has no counterpart, or a different one that somebody must look at. */
export const losses = {
  "custom-action":
    "is code of its own; it becomes an emitted event, and the code is in `actions` for whoever listens",
  "actor-logic":
    "is a callback, an observable or a reducer, which cannot be resumed; it becomes an activity without code",
  unimplemented: "is named and not implemented; it must be bound before the machine runs",
  "on-snapshot": "listens to snapshots of a child, which nobody sees here; let the child send events",
  "system-id": "is registered for everybody in XState; here a child is known to its parent only",
  "actor-reference":
    "sends to an actor that is given as an object; only a child's id, the parent and itself have an address",
  "uses-actors":
    "seems to use spawn, self or system, which steps do not have; use spawnChild, sendTo or sendParent",
  "spawned-promise":
    "starts a promise as a child: it becomes a machine around an activity, and its failure is not announced",
  "unknown-delay": "names a delay that is not there; it is taken for 0",
  "params-lost": "has params that no implementation is there to take",
  "unknown-target": "leads to no state, and stays targetless",
  "root-target": "leads to the machine itself, and goes to its initial state instead",
  "unknown-state": "asks for a state that is not there, and never holds",
  renamed: "has a key that states cannot have here, and another one now",
  "dead-content": "is on a final or history state, which cannot have it",
  "unused-output": "is on a final state of a machine that has no output, so XState never asks for it",
  version: "is not a whole number; the version is 1 unless given",
  option: "is an option of XState's interpreter",
  "own-events": "listens to events of XState's own that do not exist here",
  "many-candidates":
    "has several candidates under one computed delay; each has its own timer, and a guard that excludes the others",
} as const;

export type Topic = keyof typeof behaviours | keyof typeof losses;

export const topics: Readonly<Record<Topic, string>> = { ...behaviours, ...losses };
