/** What is recorded: a run that keeps texts of many sizes, beside the small machines that `prove:kill` kills. */
import { defineMachine, type MachineEntry } from "holdfast";
import { changingEntries, type Tools } from "../kill/changing.ts";
import { machineEntries } from "../kill/machines.ts";

export const notes = defineMachine<{ notes: string[] }>({
  id: "notes",
  start: { notes: [] },
  initial: "open",
  states: {
    open: { on: { note: { update: (draft, { event }) => void draft.notes.push(event.data as string) } } },
  },
});

/** Every machine a recording has runs of, those of `swap` up to a version. */
export function recordedMachines(tools: Tools, swapVersion: number): MachineEntry[] {
  return [{ machine: notes as never }, ...machineEntries(tools.say), ...changingEntries(tools, swapVersion)];
}
