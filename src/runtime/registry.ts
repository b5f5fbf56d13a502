/** The machines a runtime knows, by name and version, each with what it needs to run. */
import { type Chart, priorityOf } from "../core/chart.ts";
import { compensationMachine } from "../core/compensation.ts";
import { descriptorMatches, type Event } from "../core/event.ts";
import type { Migration } from "../core/evolve/migration.ts";
import { toJson } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import { matches } from "../core/query.ts";
import type { State } from "../core/state.ts";
import { HoldfastError } from "../errors.ts";
import type { Attribute } from "../store/records.ts";
import type { Activity } from "./activity/attempt.ts";
import { isControl } from "./control.ts";
import { definitionHash } from "./definition-hash.ts";
import { checkName, isPlatformMachine } from "./name.ts";
import { noSeal, type Seal } from "./seal.ts";

/** A machine with its activities and the hash of its definition. */
export interface BoundMachine {
  readonly machine: Machine;
  readonly hash: string;
  readonly activities: Readonly<Record<string, Activity>>;
  /** What a run in this state can be found by. */
  readonly attributes: Attributes | undefined;
  /** What becomes of runs of earlier versions. */
  readonly evolution: EvolutionPolicy;
}

/**
 * What becomes of the runs of earlier versions. `pin`: they end with the version they began with. `upgrade`: each goes to
 * the newest version as soon as it is in a state where it can, by its migration if there is one.
 */
export type EvolutionPolicy = "pin" | "upgrade";

/**
 * Where a version stands in its life. `draft`: nothing runs by it yet. `active`: runs begin with it. `deprecated`: they
 * still do, and whoever starts one is told. `retired`: none begins any more.
 */
export type MachineStatus = "draft" | "active" | "deprecated" | "retired";
export const machineStatuses: readonly MachineStatus[] = ["draft", "active", "deprecated", "retired"];

/** One step of the way from one version to another. */
export interface Hop {
  readonly from: BoundMachine;
  readonly to: BoundMachine;
  readonly migration: Migration | undefined;
  readonly reverse: boolean;
}

type Attributes = (state: State) => Readonly<Record<string, Attribute>>;

/** The attribute that tells whether a run waits for a person: whether a state is active that has the tag `approval`. */
export const personAttribute = "holdfast.person";

/** Runs of machines that may wait for a person are found by whether they do; others have nothing to tell. */
function withPerson({ nodes }: Chart, own: Attributes | undefined): Attributes | undefined {
  const asking = nodes.filter(({ tags }) => tags.includes("approval")).map(({ path }) => path);
  if (asking.length === 0) return own;
  const waits = (state: State) =>
    state.status === "active" && asking.some((path) => path === "" || matches(state, path));
  return (state) => ({ ...own?.(state), [personAttribute]: waits(state) });
}

export interface Registry {
  /** The machine of that name and version, the newest one that runs begin with without a version; throws MACHINE_UNKNOWN. */
  read(id: string, version?: number): BoundMachine;
  /** All versions of a machine, or of all machines, the oldest first. */
  list(id?: string): readonly BoundMachine[];
  /** The way from one version to another: over migrations where there are some, else at once; throws MACHINE_UNKNOWN. */
  route(id: string, from: number, to: number): readonly Hop[];
  /** The version that runs of earlier ones are to go to; undefined if they stay. */
  upgrade(id: string): number | undefined;
  /** Where a version stands in its life; `active` unless it was said. */
  status(id: string, version: number): MachineStatus;
  mark(id: string, version: number, status: MachineStatus): void;
  /** Says what becomes of runs of versions before this one from now on. */
  follow(id: string, version: number, policy: EvolutionPolicy): void;
  /**
   * Adds a machine. One that is there already, the same in all it says, is left, and the policy and the migrations that it
   * brings count from now on. Throws MACHINE_INVALID for another.
   */
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
  /** `pin` unless given. */
  readonly evolution?: EvolutionPolicy;
  /** How runs of other versions become runs of this one. */
  readonly migrations?: readonly Migration[];
  /** What it keeps in the store beside its runs, where no seal closes it, in words: a runtime with a seal refuses it. */
  readonly unsealed?: string;
}

/** Whatever the types said, a runtime steps machines as they are. */
interface Entry extends MachineEntry {
  readonly machine: Machine;
}

/** Throws MACHINE_INVALID for a machine that keeps something where the seal does not close it. */
export function createRegistry(
  machines: readonly (MachineEntry | AnyMachine)[],
  seal: Seal = noSeal,
): Registry {
  const registry = new Machines(seal !== noSeal);
  for (const given of machines) registry.add(entryOf(given));
  // A machine that has an entry of its own is not added as somebody's child.
  for (const given of machines) registry.addChildren(entryOf(given));
  return registry;
}

/** A migration, in the direction it is used. */
interface Way {
  readonly from: number;
  readonly to: number;
  readonly migration: Migration;
  readonly reverse: boolean;
}

class Machines implements Registry {
  readonly #byId = new Map<string, Map<number, BoundMachine>>();
  readonly #migrations = new Map<string, Migration[]>();
  readonly #statuses = new Map<string, MachineStatus>();
  /** Asked for after every step, so it is found out before. */
  readonly #upgrades = new Map<string, number>();
  readonly #isSealed: boolean;

  constructor(isSealed: boolean) {
    this.#isSealed = isSealed;
  }

  register(given: MachineEntry | AnyMachine): void {
    const entry = entryOf(given);
    const { machine } = entry;
    const there = this.#find(machine.id, machine.version);
    if (there === undefined) {
      this.add(entry);
      this.addChildren(entry);
    } else if (there.hash !== definitionHash(machine.definition)) {
      const other = `This runtime has another ${machine.id}@${machine.version}; give the new one another version`;
      throw new HoldfastError("MACHINE_INVALID", other);
    } else {
      this.#addMigrations(machine.id, entry.migrations ?? []);
      this.follow(machine.id, machine.version, entry.evolution ?? there.evolution);
    }
  }

  /** The last word on the way from one version to another counts. */
  #addMigrations(id: string, given: readonly Migration[]): void {
    const isGiven = (old: Migration) => given.some(({ from, to }) => from === old.from && to === old.to);
    const others = (this.#migrations.get(id) ?? []).filter((old) => !isGiven(old));
    this.#migrations.set(id, [...others, ...given]);
  }

  add(entry: Entry): void {
    const { machine, activities = {}, attributes, evolution = "pin", migrations = [], unsealed } = entry;
    checkName("machine", machine.id);
    if (this.#isSealed && unsealed !== undefined) {
      const open = `The machine ${machine.id}@${machine.version} keeps, where no seal closes it, ${unsealed}`;
      throw new HoldfastError("MACHINE_INVALID", open);
    }
    if (this.#find(machine.id, machine.version) !== undefined) {
      const twice = `The machine ${machine.id}@${machine.version} is given twice`;
      throw new HoldfastError("MACHINE_INVALID", twice);
    }
    for (const migration of migrations) checkMigration(machine, migration);
    const versions = this.#byId.get(machine.id) ?? new Map<number, BoundMachine>();
    const checked = checkedActivities(machine, activities);
    versions.set(machine.version, {
      ...{ machine, evolution, activities: checked },
      attributes: withPerson(machine.chart, attributes),
      // Made when somebody asks: a process that has just begun has machines that nothing runs by.
      get hash() {
        return definitionHash(machine.definition);
      },
    });
    this.#byId.set(machine.id, versions);
    this.#addMigrations(machine.id, migrations);
    this.#findUpgrade(machine.id);
    if (machine.chart.compensates)
      this.add({
        machine: compensationMachine(machine),
        activities: { ...machine.activities, ...activities },
      });
  }

  /** Child machines that a definition brings along need no entry of their own, and share their parent's activities. */
  addChildren({ machine, activities = {} }: Entry): void {
    const given = { ...machine.activities, ...activities };
    for (const child of Object.values(machine.machines) as Machine[]) {
      if (this.#find(child.id, child.version) !== undefined) continue;
      this.add({ machine: child, activities: given });
      this.addChildren({ machine: child, activities: given });
    }
  }

  read(id: string, version?: number): BoundMachine {
    const found = version === undefined ? this.#newest(id) : this.#find(id, version);
    if (found !== undefined) return found;
    const all = this.list()
      .filter(({ machine }) => !isPlatformMachine(machine.id))
      .map(({ machine }) => `${machine.id}@${machine.version}`);
    throw new HoldfastError(
      "MACHINE_UNKNOWN",
      `There is no machine ${id}${version === undefined ? "" : `@${version}`}; this runtime has ${all.join(", ") || "none"}`,
    );
  }

  list(id?: string): readonly BoundMachine[] {
    const all = id === undefined ? [...this.#byId.values()] : [this.#byId.get(id) ?? new Map()];
    return all.flatMap((versions) =>
      [...(versions.values() as Iterable<BoundMachine>)].sort(
        (one, other) => one.machine.version - other.machine.version,
      ),
    );
  }

  route(id: string, from: number, to: number): readonly Hop[] {
    const hops: Hop[] = [];
    const ways = this.#waysTowards(id, to > from);
    const isAhead = (version: number, at: number) =>
      to > from ? version > at && version <= to : version < at && version >= to;
    for (let at = from; at !== to; ) {
      const start = at;
      // The longest way that does not lead too far; else on to where one begins; else at once.
      const fitting = ways.filter((way) => way.from === start && isAhead(way.to, start));
      const way = fitting.sort((one, other) => Math.abs(other.to - start) - Math.abs(one.to - start))[0];
      const begins = ways
        .filter((one) => isAhead(one.from, start) && isAhead(one.to, one.from))
        .map((one) => one.from);
      const nearest = to > from ? Math.min(...begins, to) : Math.max(...begins, to);
      const next = way?.to ?? nearest;
      hops.push({
        ...{ from: this.read(id, start), to: this.read(id, next) },
        ...{ migration: way?.migration, reverse: way?.reverse ?? false },
      });
      at = next;
    }
    return hops;
  }

  /** The ways that migrations offer, forwards or back, between versions that are here. */
  #waysTowards(id: string, forwards: boolean): Way[] {
    return (this.#migrations.get(id) ?? []).flatMap((migration): Way[] => {
      const { from, to, back } = migration;
      if (this.#find(id, from) === undefined || this.#find(id, to) === undefined) return [];
      if (to > from === forwards) return [{ from, to, migration, reverse: false }];
      return back === undefined ? [] : [{ from: to, to: from, migration, reverse: true }];
    });
  }

  status(id: string, version: number): MachineStatus {
    return this.#statuses.get(`${id}@${version}`) ?? "active";
  }

  mark(id: string, version: number, status: MachineStatus): void {
    this.#statuses.set(`${id}@${version}`, status);
    this.#findUpgrade(id);
  }

  follow(id: string, version: number, evolution: EvolutionPolicy): void {
    const bound = this.read(id, version);
    if (bound.evolution === evolution) return;
    this.#byId.get(id)?.set(version, { ...bound, evolution });
    this.#findUpgrade(id);
  }

  upgrade(id: string): number | undefined {
    return this.#upgrades.get(id);
  }

  #findUpgrade(id: string): void {
    const newest = this.#newest(id);
    if (newest?.evolution === "upgrade") this.#upgrades.set(id, newest.machine.version);
    else this.#upgrades.delete(id);
  }

  #find(id: string, version: number): BoundMachine | undefined {
    return this.#byId.get(id)?.get(version);
  }

  #newest(id: string): BoundMachine | undefined {
    return this.list(id).findLast(({ machine }) => isOpen(this.status(id, machine.version)));
  }
}

/** Whether runs begin with a version that stands there in its life. */
export function isOpen(status: MachineStatus): boolean {
  return status === "active" || status === "deprecated";
}

function entryOf(given: MachineEntry | AnyMachine): Entry {
  return ("chart" in given ? { machine: given } : given) as Entry;
}

/** Throws MIGRATION_INVALID for one by which no run of this machine goes anywhere: it would fail each that was to go. */
function checkMigration({ id, version }: Machine, migration: Migration): void {
  if (migration.id === id && migration.from !== migration.to) return;
  const { id: other, from, to } = migration;
  const path = `The migration from ${other}@${from} to ${other}@${to}, given with ${id}@${version},`;
  const problem = other === id ? "leads nowhere" : "is of another machine";
  throw new HoldfastError("MIGRATION_INVALID", `${path} ${problem}`);
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
