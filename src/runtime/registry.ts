/** The machines a runtime knows, by name and version, each with what it needs to run. */
import { type Chart, priorityOf } from "../core/chart.ts";
import { compensationMachine } from "../core/compensation.ts";
import { descriptorMatches, type Event } from "../core/event.ts";
import { toJson } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import type { State } from "../core/state.ts";
import { HoldfastError } from "../errors.ts";
import type { Attribute } from "../store/records.ts";
import type { Activity } from "./attempt.ts";
import { isControl } from "./control.ts";
import { definitionHash } from "./definition-hash.ts";

/** A machine with its activities and the hash of its definition. */
export interface BoundMachine {
  readonly machine: Machine;
  readonly hash: string;
  readonly activities: Readonly<Record<string, Activity>>;
  /** What a run in this state can be found by. */
  readonly attributes: Attributes | undefined;
}

type Attributes = (state: State) => Readonly<Record<string, Attribute>>;

export interface Registry {
  /** The machine of that name and version, the newest one without a version; throws MACHINE_UNKNOWN. */
  read(id: string, version?: number): BoundMachine;
  /** Adds a machine; one that is there already, the same in all it says, is left. Throws MACHINE_INVALID for another. */
  register(given: MachineEntry | AnyMachine): void;
}

/** A machine of whatever context, events and input. */
export type AnyMachine = Pick<Machine, "id" | "version" | "chart" | "machines" | "activities" | "missing"> & {
  readonly definition: object;
};

export interface MachineEntry {
  readonly machine: AnyMachine;
  readonly activities?: Readonly<Record<string, Activity>>;
  /** Values to find its runs by, made anew from every state. */
  readonly attributes?: Attributes;
}

/** Whatever the types said, a runtime steps machines as they are. */
interface Entry extends MachineEntry {
  readonly machine: Machine;
}

export function createRegistry(machines: readonly (MachineEntry | AnyMachine)[]): Registry {
  const entries = machines.map(entryOf);
  const byId = new Map<string, Map<number, BoundMachine>>();
  const known = (machine: Machine) => byId.get(machine.id)?.get(machine.version);
  const add = (machine: Machine, activities: BoundMachine["activities"], attributes?: Attributes) => {
    const versions = byId.get(machine.id) ?? new Map<number, BoundMachine>();
    const hash = definitionHash(machine.definition);
    versions.set(machine.version, {
      machine,
      attributes,
      hash,
      activities: checkedActivities(machine, activities),
    });
    byId.set(machine.id, versions);
    if (machine.chart.compensates)
      add(compensationMachine(machine), { ...machine.activities, ...activities });
  };
  for (const { machine, activities = {}, attributes } of entries) {
    if (known(machine) !== undefined) {
      const twice = `The machine ${machine.id}@${machine.version} is given twice`;
      throw new HoldfastError("MACHINE_INVALID", twice);
    }
    add(machine, activities, attributes);
  }
  // Child machines that a definition brings along need no entry of their own, and share their parent's activities.
  const addChildren = ({ machines }: Machine, activities: BoundMachine["activities"]) => {
    for (const child of Object.values(machines) as Machine[]) {
      if (known(child) !== undefined) continue;
      add(child, activities);
      addChildren(child, { ...activities, ...child.activities });
    }
  };
  for (const { machine, activities = {} } of entries)
    addChildren(machine, { ...machine.activities, ...activities });
  return {
    register(given) {
      const { machine, activities = {}, attributes } = entryOf(given);
      const there = known(machine);
      if (there === undefined) {
        add(machine, activities, attributes);
        addChildren(machine, { ...machine.activities, ...activities });
      } else if (there.hash !== definitionHash(machine.definition)) {
        const other = `This runtime has another ${machine.id}@${machine.version}; give the new one another version`;
        throw new HoldfastError("MACHINE_INVALID", other);
      }
    },
    read(id, version) {
      const versions = byId.get(id);
      const found = versions?.get(version ?? Math.max(...versions.keys()));
      if (found !== undefined) return found;
      const all = [...byId]
        .flatMap(([name, each]) => [...each.keys()].map((one) => `${name}@${one}`))
        .join(", ");
      throw new HoldfastError(
        "MACHINE_UNKNOWN",
        `There is no machine ${id}${version === undefined ? "" : `@${version}`}; this runtime has ${all || "none"}`,
      );
    },
  };
}

function entryOf(given: MachineEntry | AnyMachine): Entry {
  return ("chart" in given ? { machine: given } : given) as Entry;
}

/**
 * The code of a machine's activities: what was bound to it, and what its entry brings. An output that does not fit its
 * schema fails the attempt, so that another one may do better; what the schema makes of it is the step's business.
 */
function checkedActivities(
  { activities: bound, chart }: Machine,
  given: BoundMachine["activities"],
): BoundMachine["activities"] {
  const activities = { ...bound, ...given };
  for (const [name, { output: check }] of chart.schemas?.activities ?? []) {
    const code = activities[name];
    if (code === undefined || check === undefined) continue;
    activities[name] = async (input, scope) => {
      const output = await code(input, scope);
      check(output === undefined ? undefined : toJson(output, [], "output"));
      return output;
    };
  }
  return activities;
}

/** Which event goes first when several wait; control goes before all. */
export function eventPriority(chart: Chart, event: Event): number {
  if (isControl(event)) return Number.POSITIVE_INFINITY;
  if (chart.priorities.length === 0) return 0;
  const { type } = event;
  return priorityOf(chart, type, (descriptor, given) => descriptorMatches(descriptor, given, chart.matching));
}
