/** A machine: a definition with its implementations, compiled and ready to step. */
import { HoldfastError } from "../errors.ts";
import type { ActivityCode } from "./activity.ts";
import type { Chart } from "./chart.ts";
import { compile } from "./compile.ts";
import type { MachineDefinition, MachineReference, MachineTypes } from "./definition.ts";
import type { Event, EventShape } from "./event.ts";
import type { ContextOf, DefinitionOf, EventShapes, Typed, TypesOf } from "./infer.ts";
import type { ActivityTypes } from "./infer-invoke.ts";
import { type Json, type JsonObject, showValue } from "./json.ts";
import { invalid } from "./problem.ts";
import type { InputOf, Schema } from "./schema.ts";

export type { MachineTypes };

export interface Machine<
  Context = JsonObject,
  Ev extends EventShape = Event,
  Input = Json,
  Types extends MachineTypes = MachineTypes,
> extends MachineReference<Types> {
  readonly definition: MachineDefinition<Context, Ev, Input>;
  readonly chart: Chart;
  /** The child machines its states refer to, by name. */
  readonly machines: Readonly<Record<string, MachineReference>>;
  /** The code of activities that was bound to it, by name. */
  readonly activities: Readonly<Record<string, ActivityCode>>;
  /** Named guards and updates it uses and has no implementation of; it cannot run while there are any. */
  readonly missing: readonly string[];
  /** The same machine with these implementations bound. */
  implement(implementations: Implementations<Context, Ev, Types>): Machine<Context, Ev, Input, Types>;
}

/** Activities by their names, beside what goes by the names of the states' guards, updates and child machines. */
export type Implementations<
  Context = JsonObject,
  Ev extends EventShape = Event,
  Types extends MachineTypes = MachineTypes,
> = Pick<MachineDefinition<Context, Ev>, "guards" | "updates" | "machines"> & Types["activities"];

/** The machine that a definition makes. */
export type MachineOf<Context, Ev extends EventShape, Input, C, E, I, O, A, S> = [
  Typed<C, E, I, O, A>,
] extends [never]
  ? Machine<Context, Ev, Input>
  : Machine<
      ContextOf<C, Context>,
      EventShapes<E>,
      [I] extends [never] ? Json : InputOf<I>,
      TypesOf<E, I, O, A, S>
    >;

/**
 * A machine from its definition; throws MACHINE_INVALID with every problem if it has any. Where the definition has
 * schemas, all its parts are typed by them.
 */
export function defineMachine<
  Context = JsonObject,
  Ev extends EventShape = Event,
  Input = Json,
  C extends Schema = never,
  E extends Readonly<Record<string, unknown>> = never,
  I extends Schema = never,
  O extends Schema = never,
  A extends Readonly<Record<string, ActivityTypes>> = never,
  M extends Readonly<Record<string, MachineReference>> = never,
  G = never,
  U = never,
  const S = never,
>(
  definition: DefinitionOf<Context, Ev, Input, C, E, I, O, A, M, G, U, S>,
): MachineOf<Context, Ev, Input, C, E, I, O, A, S> {
  return machineOf(definition as unknown as MachineDefinition, {}) as never;
}

function machineOf(given: MachineDefinition, activities: Machine["activities"], open = false): Machine {
  const { problems, id, compiled } = compile(given, { open });
  if (compiled === undefined) throw invalid(problems, id);
  const { chart, missing, machines, definition } = compiled;
  return Object.freeze({
    id: chart.id,
    version: chart.version,
    definition,
    chart,
    machines,
    activities,
    missing,
    implement: (given: Implementations & Readonly<Record<string, unknown>>) => {
      const { guards, updates, machines: children, ...code } = given;
      const implemented = {
        ...definition,
        guards: { ...definition.guards, ...guards },
        updates: { ...definition.updates, ...updates },
        machines: { ...definition.machines, ...children },
      };
      // What is still missing may be bound next.
      return machineOf(implemented, { ...activities, ...codeOf(definition, code) }, true);
    },
  });
}

/** The code of activities, by their names; throws if there are no such activities, or it is no code. */
function codeOf({ id, activities }: MachineDefinition, given: object): Machine["activities"] {
  for (const [name, code] of Object.entries(given)) {
    const known = activities === undefined || Object.hasOwn(activities, name);
    if (known && typeof code === "function") continue;
    const why = known
      ? "is not a function"
      : `is none of its activities: ${Object.keys(activities).join(", ")}`;
    throw new HoldfastError(
      "MACHINE_INVALID",
      `The machine ${showValue(id)} is given ${showValue(name)}, which ${why}`,
    );
  }
  return given as Machine["activities"];
}
