/** Composing machines: one machine as a state of another. */
import { type MachineTypes, machineKeys } from "./definition.ts";
import type { EventShape } from "./event.ts";
import type { Composed } from "./infer-state.ts";
import type { Machine } from "./machine.ts";

/**
 * The states of a machine as one state of another: what was final for the machine is now done for that state. Spread it to add handlers, `{ ...asState(paying), onDone: "paid" }`. Guards, updates, activities and child
 * machines that it names are the surrounding machine's to have.
 */
export function asState<Context, Ev extends EventShape, Input, Types extends MachineTypes>(
  machine: Machine<Context, Ev, Input, Types>,
): Composed<Context> {
  const definition: Partial<Record<string, unknown>> = { ...machine.definition };
  for (const key of machineKeys) delete definition[key];
  return definition as unknown as Composed<Context>;
}
