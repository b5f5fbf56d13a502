/** Machines whose activities use the runtime they run in. */
import { checkEntry } from "./options.ts";
import type { AnyMachine, MachineEntry } from "./registry.ts";
import type { GivenEntry, Runtime } from "./run.ts";

/** A machine as a runtime's registry takes it: with the activities that it has for this runtime. Throws MACHINE_INVALID. */
export function boundTo(runtime: Runtime, given: GivenEntry | AnyMachine): MachineEntry | AnyMachine {
  checkEntry(given);
  return "chart" in given || given.activitiesOf === undefined
    ? given
    : { ...given, activities: { ...given.activities, ...given.activitiesOf(runtime) } };
}
