/**
 * The catalog of machines: every version that was ever registered, its hash, and where it stands in its life. It is kept
 * in the store, so that it outlives the processes that bring the machines along.
 */
import { compensationId } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { decode, encode } from "../../store/codec.ts";
import type { DocumentRow, RunHead } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";
import { checkActor, checkName, systemTenant } from "../name.ts";
import { checkEntry, checkNumber, checkOptions, checkWord, type Names } from "../options.ts";
import {
  type AnyMachine,
  type BoundMachine,
  isOpen,
  type MachineEntry,
  type MachineStatus,
  machineStatuses,
  type Registry,
} from "../registry.ts";
import { checkAlive, type Deployment, type DeployOptions, deploy, named } from "./deploy.ts";
import type { Evolution, Migrated, MigrateOptions } from "./evolution.ts";

/** One version of a machine, as the catalog knows it. */
export interface MachineVersion {
  readonly id: string;
  readonly version: number;
  /** The hash of its definition. */
  readonly hash: string;
  readonly status: MachineStatus;
  /** When it was first registered, and when its status last changed. */
  readonly since: number;
  readonly changedAt: number;
  /** Whether this process has its code. */
  readonly loaded: boolean;
}

export interface CatalogWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly evolution: Evolution;
  /** The heads of the runs that have not ended, of a machine or of all, whoever's they are. */
  alive(machine?: string): AsyncIterable<RunHead>;
  /** Throws if the runtime is closed. */
  check(): void;
  /** Whether this process must have the machines of all runs that are alive. */
  readonly mustKnow: boolean;
  /** A machine with the activities that it has for this runtime; throws MACHINE_INVALID. */
  bound(given: MachineEntry | AnyMachine): MachineEntry | AnyMachine;
  /** Runs that could not be read may be readable now. */
  lookAgain(): void;
}

type Row = Omit<MachineVersion, "loaded">;

const documentName = "machines";

const deployNames: Names<DeployOptions> = { drop: true, leave: true, by: true };

export class Catalog {
  readonly #world: CatalogWorld;
  #rows: ReadonlyMap<string, Row> = new Map();
  /** What is about to be written. */
  readonly #marks = new Map<string, Pick<Row, "status" | "changedAt">>();
  #writing: Promise<void> = Promise.resolve();

  constructor(world: CatalogWorld) {
    this.#world = world;
  }

  /** Reads it, and adds what this process brings along. Throws DEPLOY_REFUSED if that is not enough, where it must be. */
  async open(): Promise<void> {
    const { registry, alive, mustKnow } = this.#world;
    if (mustKnow) await checkAlive(registry, alive());
    await this.#write();
  }

  /** Adds the machines that this process has and the catalog has not. */
  async note(): Promise<void> {
    const rows = this.#withOurs(this.#rows);
    if (rows.size === this.#rows.size && [...rows].every(([name, row]) => this.#rows.get(name) === row))
      return;
    this.#rows = rows;
    await this.#write();
  }

  #withOurs(given: ReadonlyMap<string, Row>): Map<string, Row> {
    const now = this.#world.clock.now();
    const rows = new Map(given);
    for (const bound of this.#world.registry.list()) {
      const { machine } = bound;
      const { id, version } = machine;
      if (isPlatforms(id)) continue;
      const { hash } = bound;
      const known = rows.get(nameOf(machine));
      if (known?.hash === hash) continue;
      const row = known ?? { id, version, status: "active", since: now, changedAt: now };
      rows.set(nameOf(machine), { ...row, hash });
    }
    return rows;
  }

  /** All versions of all machines, or of one, the oldest first. */
  list(id?: string): readonly MachineVersion[] {
    this.#world.check();
    const rows = [...this.#rows.values()].filter((row) => id === undefined || row.id === id);
    const order = (one: Row, other: Row) =>
      one.id === other.id ? one.version - other.version : one.id < other.id ? -1 : 1;
    return rows.sort(order).map((row) => ({ ...row, loaded: this.#isLoaded(row) }));
  }

  /** A version that this process has the code of, the newest that runs begin with unless one is named; throws MACHINE_UNKNOWN. */
  read(id: string, version?: number): BoundMachine {
    this.#world.check();
    return this.#world.registry.read(id, version);
  }

  #isLoaded({ id, version }: Row): boolean {
    return this.#world.registry.list(id).some(({ machine }) => machine.version === version);
  }

  /** Says where a version stands in its life from now on. One that runs are alive with cannot be retired. */
  async mark(id: string, version: number, status: MachineStatus): Promise<void> {
    this.#world.check();
    const usage = 'mark(id, version, "draft", "active", "deprecated" or "retired")';
    checkName("machine", id);
    checkNumber(usage, version);
    checkWord(usage, status, machineStatuses);
    const name = nameOf({ id, version });
    // Another member may have brought it along.
    if (!this.#rows.has(name)) await this.#inTurn(() => this.#read().then(() => {}));
    if (!this.#rows.has(name))
      throw new HoldfastError("MACHINE_UNKNOWN", `The catalog has no machine ${id}@${version}`);
    if (status === "retired" || status === "draft") await this.#checkUnused(id, version, status);
    const mark = { status, changedAt: this.#world.clock.now() };
    this.#marks.set(name, mark);
    this.#rows = this.#withMarks(this.#rows);
    this.#world.registry.mark(id, version, status);
    try {
      await this.#write();
    } finally {
      if (this.#marks.get(name) === mark) this.#marks.delete(name);
    }
  }

  #withMarks(given: ReadonlyMap<string, Row>): ReadonlyMap<string, Row> {
    return new Map([...given].map(([name, row]) => [name, { ...row, ...this.#marks.get(name) }]));
  }

  /**
   * Brings in a new version of a machine and, where its entry says `upgrade`, takes the runs that are alive along. If some
   * cannot go there it throws DEPLOY_REFUSED with their list, they stay as they are, and the version is a draft. One that is
   * there already keeps its policy unless its entry says another, which counts once the deploy has succeeded.
   */
  async deploy(given: MachineEntry | AnyMachine, options: DeployOptions = {}): Promise<Deployment> {
    const { registry, evolution, lookAgain, check } = this.#world;
    check();
    checkEntry(given);
    const machine = "chart" in given ? given : given.machine;
    checkOptions("deploy(machine, { drop, leave, by })", options, deployNames);
    checkActor(options.by);
    const { id, version } = machine;
    const isNew = !this.#rows.has(nameOf(machine));
    const before = registry.list(id).find((one) => one.machine.version === version)?.evolution;
    registry.register(this.#world.bound(given));
    const policy = registry.read(id, version).evolution;
    // Until it is decided what becomes of the runs that are alive, none goes there by itself.
    if (before !== undefined) registry.follow(id, version, before);
    else if (isNew && policy === "upgrade") registry.mark(id, version, "draft");
    await this.note();
    lookAgain();
    const mark = (...place: Parameters<Catalog["mark"]>) => this.mark(...place);
    return deploy({ registry, evolution, mark }, { id, version, policy }, options);
  }

  /** Takes all runs of a machine that are alive to another version, those that can go there, or tells with `dryRun` what that would do. */
  async *migrate(machine: string, options: MigrateOptions = {}): AsyncGenerator<Migrated> {
    this.#world.check();
    yield* this.#world.evolution.migrateAll(machine, options);
  }

  async #checkUnused(id: string, version: number, status: MachineStatus): Promise<void> {
    const runs: string[] = [];
    for await (const head of this.#world.alive(id)) if (head.version === version) runs.push(head.run);
    if (runs.length === 0) return;
    throw new HoldfastError(
      "MACHINE_IN_USE",
      `${id}@${version} cannot be ${status === "draft" ? "a draft" : "retired"} while ${runs.length} runs go by it: ${named(runs)}; migrate or end them first`,
      { details: { runs } },
    );
  }

  /** Throws MACHINE_INACTIVE if no run begins with a version, and warns of one that is to be put away. */
  checkOpen(machine: Pick<Row, "id" | "version">, warn: (warning: HoldfastError) => void): void {
    const { id, version } = machine;
    const status = this.#world.registry.status(id, version);
    if (status === "deprecated")
      warn(
        new HoldfastError(
          "MACHINE_DEPRECATED",
          `${id}@${version} is deprecated; begin runs with another version`,
        ),
      );
    if (isOpen(status)) return;
    throw new HoldfastError(
      "MACHINE_INACTIVE",
      `${id}@${version} is ${status === "draft" ? "a draft" : status}, and no run begins with it`,
    );
  }

  /** Reads it, and keeps what is about to be written. What others have said of a version is kept to. */
  async #read(): Promise<DocumentRow | undefined> {
    const { store, registry } = this.#world;
    const document = await store.readDocument(systemTenant, documentName);
    const rows = document === undefined ? [] : (decode(document.bytes, documentName) as unknown as Row[]);
    const before = this.#rows;
    this.#rows = this.#withMarks(this.#withOurs(new Map(rows.map((row) => [nameOf(row), row]))));
    for (const [name, { id, version, status }] of this.#rows)
      if (before.get(name)?.status !== status) registry.mark(id, version, status);
    return document;
  }

  /** Members of a fleet write it too: if one was faster, what is here is put into what it wrote. Nothing, if it is there. */
  #write(): Promise<void> {
    return this.#inTurn(async () => {
      for (let written = false; !written; ) {
        const document = await this.#read();
        const bytes = encode([...this.#rows.values()] as unknown as Json);
        const { version, bytes: there } = document ?? { version: 0, bytes: encode([]) };
        if (Buffer.compare(there, bytes) === 0) return;
        written = await this.#world.store.writeDocument(systemTenant, documentName, version, bytes);
      }
    });
  }

  /** One after the other. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(write);
    return this.#writing;
  }
}

/** Whether a machine is one of the platform's own: nobody deploys it. */
function isPlatforms(id: string): boolean {
  return id.startsWith("holdfast.") || id.endsWith(`/${compensationId}`);
}

const nameOf = ({ id, version }: { readonly id: string; readonly version: number }): string =>
  `${id}@${version}`;
