/** The machines a runtime knows, by name and version, each with what it needs to run. */
import { type Chart, priorityOf } from "../core/chart.ts";
import { descriptorMatches } from "../core/event.ts";
import type { Machine } from "../core/machine.ts";
import { HoldfastError } from "../errors.ts";
import type { Activity } from "./activity.ts";
import { definitionHash } from "./definition-hash.ts";

/** A machine with its activities and the hash of its definition. */
export interface BoundMachine {
  readonly machine: Machine;
  readonly hash: string;
  readonly activities: Readonly<Record<string, Activity>>;
}

export interface Registry {
  /** The machine of that name and version, the newest one without a version; throws MACHINE_UNKNOWN. */
  read(id: string, version?: number): BoundMachine;
}

export interface MachineEntry {
  readonly machine: Machine;
  readonly activities?: Readonly<Record<string, Activity>>;
}

export function createRegistry(entries: readonly MachineEntry[]): Registry {
  const byId = new Map<string, Map<number, BoundMachine>>();
  const known = (machine: Machine) => byId.get(machine.id)?.get(machine.version);
  const add = (machine: Machine, activities: BoundMachine["activities"]) => {
    const versions = byId.get(machine.id) ?? new Map<number, BoundMachine>();
    versions.set(machine.version, { machine, activities, hash: definitionHash(machine.definition) });
    byId.set(machine.id, versions);
  };
  for (const { machine, activities = {} } of entries) {
    if (known(machine) !== undefined) {
      const twice = `The machine ${machine.id}@${machine.version} is given twice`;
      throw new HoldfastError("MACHINE_INVALID", twice);
    }
    add(machine, activities);
  }
  // Child machines that a definition brings along need no entry of their own, and share their parent's activities.
  const addChildren = ({ machines }: Machine, activities: BoundMachine["activities"]) => {
    for (const child of Object.values(machines) as Machine[]) {
      if (known(child) !== undefined) continue;
      add(child, activities);
      addChildren(child, activities);
    }
  };
  for (const { machine, activities = {} } of entries) addChildren(machine, activities);
  return {
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

/** Which event goes first when several wait. */
export function eventPriority(chart: Chart, type: string): number {
  return priorityOf(chart, type, (descriptor, given) => descriptorMatches(descriptor, given, chart.matching));
}
