/** A machine: a definition with its implementations, compiled and ready to step. */
import type { Chart } from "./chart.ts";
import { compile } from "./compile.ts";
import type { MachineDefinition, MachineReference } from "./definition.ts";
import type { Event, EventShape } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";
import { invalid } from "./problem.ts";

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
  return make(definition, false);
}

function make<Context, Ev extends EventShape, Input>(
  given: MachineDefinition<Context, Ev, Input>,
  open: boolean,
): Machine<Context, Ev, Input> {
  const { problems, id, compiled } = compile(given, { open });
  if (compiled === undefined) throw invalid(problems, id);
  const { chart, missing, machines } = compiled;
  const definition = compiled.definition as unknown as typeof given;
  return Object.freeze({
    id: chart.id,
    version: chart.version,
    definition,
    chart,
    machines,
    missing,
    implement: ({ guards, updates, machines: children }: Implementations<Context, Ev>) =>
      make<Context, Ev, Input>(
        {
          ...definition,
          guards: { ...definition.guards, ...guards },
          updates: { ...definition.updates, ...updates },
          machines: { ...definition.machines, ...children },
        },
        // What is still missing may be bound next.
        true,
      ),
  });
}
