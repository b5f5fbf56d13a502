/**
 * The disk of the simulated world: a real store, and what a power cut leaves of it.
 *
 * D1. A write is safe once it is synced, and every answer waits for that; a write that was not answered may or may not
 *     survive, but none survives without those before it.
 * D2. Each process has a connection of its own to the same data.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fleet, fleetOf } from "../../src/store/fleet.ts";
import { memory } from "../../src/store/memory/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "../../test/generate/random.ts";

/** Verbs of a store that several processes share. */
export type FleetVerb = `fleet.${Exclude<keyof Fleet, "signals">}`;
export type Verb = keyof Store | FleetVerb;

/** A call as it was asked for. */
export interface Call {
  readonly verb: Verb;
  readonly args: readonly unknown[];
}

/** A call that changed something, with its answer. */
export interface Write extends Call {
  readonly result: unknown;
}

const writing: ReadonlySet<string> = new Set<Verb>([
  "own",
  "release",
  "commit",
  "enqueue",
  "recordActivities",
  "removeDeadLetter",
  "appendChunks",
  "writeDocument",
  "removeDocument",
  "removeRuns",
  "pruneJournal",
  "sweep",
  "mend",
  ...(["fleet.join", "fleet.beat", "fleet.leave", "fleet.adopt", "fleet.takeTurns"] as const),
]);

/** What may arrive twice: those that whoever sent them cannot tell from one of somebody else's. */
const repeating: ReadonlySet<string> = new Set<Verb>(["commit", "removeRuns", "pruneJournal", "sweep"]);

export const isRepeated = (verb: Verb): boolean => repeating.has(verb);

export const isWrite = (verb: Verb): boolean => writing.has(verb);

export interface Disk {
  /** What a new process opens. */
  connect(): Store;
  /** A connection for whoever judges. */
  readonly reader: Store;
  /** Calls that are being carried out: the disk may be ahead of the books until they are over. */
  underway: number;
  /** Where it is, for one that can be copied. */
  readonly folder?: string;
  /** What takes real time, and virtual time waits for. */
  busy: Promise<unknown> | undefined;
  /** Has virtual time wait for something. */
  occupy<Value>(work: Promise<Value>): Promise<Value>;
  /** Notes a write that was made. */
  wrote(write: Write): void;
  /** Makes every write so far safe. */
  sync(): void;
  /** What is left of the writes after the power failed; undefined if this disk cannot lose power. */
  losePower(random: Random): Promise<readonly Write[]> | undefined;
  dispose(): Promise<void>;
}

/** Calls a verb of a store by its name. */
export function perform(store: Store, { verb, args }: Call): Promise<unknown> {
  const [part, own] = verb.startsWith("fleet.") ? [fleetOf(store), verb.slice(6)] : [store, verb];
  const verbs = part as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>;
  return (verbs[own] as (typeof verbs)[string]).apply(part, [...args]);
}

function occupy<Value>(this: Disk, work: Promise<Value>): Promise<Value> {
  this.busy = work;
  const end = () => {
    if (this.busy === work) this.busy = undefined;
  };
  work.then(end, end);
  return work;
}

/** The memory store, with a log of its writes from which it can be made again. */
export function memoryDisk(): Disk {
  let store = memory();
  let log: Write[] = [];
  let synced = 0;
  // Whatever is called goes to the store there is now.
  const verbs = Object.getOwnPropertyNames(Object.getPrototypeOf(store)) as Verb[];
  const forward =
    (verb: Verb) =>
    (...args: unknown[]) =>
      perform(store, { verb, args });
  const current = Object.fromEntries(verbs.map((verb) => [verb, forward(verb)])) as unknown as Store;
  return {
    connect: () => current,
    reader: current,
    underway: 0,
    busy: undefined,
    occupy,
    wrote: (write) => void log.push(write),
    sync() {
      synced = log.length;
    },
    async losePower(random) {
      log = log.slice(0, random.between(synced, log.length));
      synced = log.length;
      store = memory();
      for (const write of log) await perform(store, write);
      return log;
    },
    dispose: async () => {},
  };
}

/** The memory store as several processes share it. Each call is whole, as it is with a server, which is up all the time. */
export function sharedDisk(): Disk {
  const store = memory({ shared: true });
  return {
    connect: () => store,
    reader: store,
    underway: 0,
    busy: undefined,
    occupy,
    wrote() {},
    sync() {},
    losePower: () => undefined,
    dispose: async () => {},
  };
}

/** A file of SQLite. What a power cut leaves of a real file is a proof of its own. */
export function sqliteDisk(): Disk {
  // Nothing here loses power, so waiting for the disk would only cost time.
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-simulation-"));
  const open: Store[] = [];
  const connect = (): Store => {
    const store = sqlite(join(folder, "world.db"), { synchronous: "normal" });
    open.push(store);
    return store;
  };
  return {
    connect,
    reader: connect(),
    underway: 0,
    folder,
    busy: undefined,
    occupy,
    wrote() {},
    sync() {},
    losePower: () => undefined,
    async dispose() {
      for (const store of open) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
