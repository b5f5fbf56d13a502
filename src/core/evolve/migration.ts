/** Migrations: how runs of one version become runs of another, typed from the two machines. */
import { HoldfastError } from "../../errors.ts";
import type { MachineTypes } from "../definition.ts";
import type { EventShape } from "../event.ts";
import type { Machine } from "../machine.ts";
import { type Problem, Problems, showProblem } from "../problem.ts";
import type { Mapping, MigrationScope } from "./mapping.ts";
import type { Evolvable } from "./move.ts";
import { readMapping } from "./read-mapping.ts";

/** A migration that was checked against its two machines. */
export interface Migration {
  readonly id: string;
  /** The versions it goes from and to. */
  readonly from: number;
  readonly to: number;
  readonly mapping: Mapping;
  /** The way back; undefined if it cannot be reversed. */
  readonly back: Mapping | undefined;
}

/** What is where in the new version. What is not mentioned is where it was. */
export type MigrationParts<
  A = object,
  B = object,
  From extends MachineTypes = MachineTypes,
  To extends MachineTypes = MachineTypes,
> = MappingParts<A, B, From, To> & {
  /** The same the other way round: declares that the migration can be reversed. */
  readonly back?: MappingParts<B, A, To, From>;
};

export type MappingParts<A, B, From extends MachineTypes, To extends MachineTypes> = ContextPart<A, B> & {
  /**
   * Where a state is now; what lies inside goes with it. A list, where a leaf has become one in each of several regions.
   */
  readonly states?: { readonly [Path in PathOf<From>]?: PathOf<To> | readonly PathOf<To>[] };
  /** What events of timers and deferred ones are now; null for those that are not wanted any more. */
  readonly events?: {
    readonly [Type in EventOf<From> | AfterType]?: NewEvent<DataOf<From, Type>, To> | AfterType | null;
  };
  /** What activities are called now, under way or to be compensated; null for those that are not wanted any more. */
  readonly activities?: { readonly [Name in ActivityOf<From>]?: ActivityOf<To> | null };
  /** The same for child machines. */
  readonly children?: Readonly<Record<string, string | null>>;
  /** The same for single invocations, by their ids. */
  readonly invocations?: Readonly<Record<string, string | null>>;
};

/** Needed unless the old context is one of the new ones as it is. */
type ContextPart<A, B> = [A] extends [B]
  ? { readonly context?: (old: A, scope: MigrationScope) => B }
  : { readonly context: (old: A, scope: MigrationScope) => B };

type AfterType = `after.${string}`;
type PathOf<Types extends MachineTypes> = [unknown] extends [Types["paths"]]
  ? string
  : Types["paths"] & string;
type EventOf<Types extends MachineTypes> = NamesOf<Types["sends"]>;
type ActivityOf<Types extends MachineTypes> = NamesOf<Types["activities"]>;
type NamesOf<Declared> = [unknown] extends [Declared] ? string : keyof Declared & string;
type DataOf<Types extends MachineTypes, Type> = Type extends keyof Types["sends"]
  ? Types["sends"][Type]
  : unknown;
/** Its name, or its name and how its data is made of the old. */
type NewEvent<Data, To extends MachineTypes> =
  | EventOf<To>
  | ([unknown] extends [To["sends"]]
      ? { readonly type: string; readonly data?: (data: Data, scope: MigrationScope) => unknown }
      : {
          [Type in keyof To["sends"] & string]: {
            readonly type: Type;
            readonly data?: (data: Data, scope: MigrationScope) => To["sends"][Type];
          };
        }[keyof To["sends"] & string]);

/** How runs of one version become runs of another; throws MIGRATION_INVALID with every problem if it has any. */
export function defineMigration<
  A,
  AE extends EventShape,
  AI,
  From extends MachineTypes,
  B,
  BE extends EventShape,
  BI,
  To extends MachineTypes,
>(
  from: Machine<A, AE, AI, From>,
  to: Machine<B, BE, BI, To>,
  parts: MigrationParts<NoInfer<A>, NoInfer<B>, NoInfer<From>, NoInfer<To>>,
): Migration {
  return migrationOf(from, to, parts);
}

/** A migration from what anybody may have written; throws with these problems, and with those it finds. */
export function migrationOf(
  from: Evolvable,
  to: Evolvable,
  given: object,
  problems: Problems = new Problems(),
): Migration {
  if (from.id !== to.id) problems.problem("id", `is ${to.id}, and was ${from.id}`, "a run keeps its machine");
  const { back, ...parts } = given as { readonly back?: unknown };
  const migration = {
    id: from.id,
    from: from.version,
    to: to.version,
    mapping: readMapping({ from, to }, parts, "", problems),
    back: back === undefined ? undefined : readMapping({ from: to, to: from }, back, "back", problems),
  };
  if (problems.list.length > 0) throw invalid(migration, problems.list);
  return Object.freeze(migration);
}

function invalid({ id, from, to }: Migration, problems: readonly Problem[]): HoldfastError {
  const list = problems.map((problem) => `\n  ${showProblem(problem)}`).join("");
  return new HoldfastError(
    "MIGRATION_INVALID",
    `The migration from ${id}@${from} to ${id}@${to} has problems:${list}`,
    {
      details: { problems },
    },
  );
}
