/** Machines whose activities use the runtime they run in. */
import { checkEntry } from "./options.ts";
import type { AnyMachine, MachineEntry } from "./registry.ts";
import type { GivenEntry, Runtime } from "./run.ts";

/** Machines as a runtime's registry takes them: with the activities that they have for this runtime. Throws MACHINE_INVALID. */
export function boundTo(
  runtime: Runtime,
  machines: readonly (GivenEntry | AnyMachine)[],
): (MachineEntry | AnyMachine)[] {
  return machines.map((given) => {
    checkEntry(given);
    return "chart" in given || given.activitiesOf === undefined
      ? given
      : { ...given, activities: { ...given.activities, ...given.activitiesOf(runtime) } };
  });
}
