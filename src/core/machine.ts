/** A machine: a definition with its implementations, compiled and ready to step. */
import { HoldfastError } from "../errors.ts";
import type { Chart } from "./chart.ts";
import { compile } from "./compile.ts";
import type { MachineDefinition, MachineReference } from "./definition.ts";
import type { Event, EventShape } from "./event.ts";
import { type Json, type JsonObject, showValue } from "./json.ts";

export interface Machine<Context = JsonObject, Ev extends EventShape = Event, Input = Json>
  extends MachineReference {
  readonly definition: MachineDefinition<Context, Ev, Input>;
  readonly chart: Chart;
  /** The child machines its states refer to, by name. */
  readonly machines: Readonly<Record<string, MachineReference>>;
  /** Named guards and updates it uses and has no implementation of; it cannot run while there are any. */
  readonly missing: readonly string[];
  /** The same machine with these implementations bound. */
  implement(implementations: Implementations<Context, Ev>): Machine<Context, Ev, Input>;
}

export type Implementations<Context = JsonObject, Ev extends EventShape = Event> = Pick<
  MachineDefinition<Context, Ev>,
  "guards" | "updates" | "machines"
>;

/** A machine from its definition; throws MACHINE_INVALID with every problem if it has any. */
export function defineMachine<Context = JsonObject, Ev extends EventShape = Event, Input = Json>(
  definition: MachineDefinition<Context, Ev, Input>,
): Machine<Context, Ev, Input> {
  if (typeof definition !== "object" || definition === null) {
    throw new HoldfastError("MACHINE_INVALID", "A machine is defined by an object with an id and states");
  }
  const { chart, problems, missing, machines } = compile(definition as unknown as MachineDefinition);
  if (problems.length > 0) {
    const list = problems.map(({ path, problem }) => `\n  ${path} ${problem}`).join("");
    throw new HoldfastError(
      "MACHINE_INVALID",
      `The machine ${showValue(definition.id)} has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:${list}`,
      { details: { problems } },
    );
  }
  return Object.freeze({
    id: chart.id,
    version: chart.version,
    definition,
    chart,
    machines,
    missing,
    implement: ({ guards, updates, machines: children }: Implementations<Context, Ev>) =>
      defineMachine<Context, Ev, Input>({
        ...definition,
        guards: { ...definition.guards, ...guards },
        updates: { ...definition.updates, ...updates },
        machines: { ...definition.machines, ...children },
      }),
  });
}
