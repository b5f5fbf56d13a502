/**
 * The judge of evolution: reads every entry as it comes and holds it to the rules, from the definitions and the journal
 * alone.
 *
 * E1. A run takes each step by the definition of the version its state has: the entry bears its hash, and that machine,
 *     asked again, comes to the same state.
 * E2. A run goes to another version only where somebody or its policy wants that and `evolve` says it can, and it comes
 *     to be what `evolve` says. A machine that has never met it takes its state for one of its own.
 * E3. Whatever was pending is there afterwards, or the entry tells what became of it; what was let go of is cancelled.
 * E4. Nothing is let go of unless the migration or the caller says so.
 * E5. A timer that goes along is due when it was.
 * E10. A context is what the migration makes of it, there and back: here it counts how often the run went there.
 * E11, E12. What is under way, and children as runs of their own: `children.ts`.
 */
import { isDeepStrictEqual } from "node:util";
import { compensationName } from "../../src/core/event.ts";
import { evolve } from "../../src/core/evolve/evolve.ts";
import type { Migration } from "../../src/core/evolve/migration.ts";
import type { Pending } from "../../src/core/evolve/report.ts";
import { apply, defineMachine, type Json, type Machine, restore, type State, step } from "../../src/index.ts";
import { isControl } from "../../src/runtime/control.ts";
import { definitionHash } from "../../src/runtime/definition-hash.ts";
import type { Entry } from "../../src/store/journal.ts";
import type { Pair } from "../../test/evolution/pairs.ts";
import { Children, notEnded, type Place } from "./children.ts";

/** What is allowed at the moment. */
export interface Leave {
  /** Runs may go to another version. */
  readonly moves: boolean;
  /** The caller lets go of what cannot come along. */
  readonly drops: boolean;
}

/** What the journal of a move tells. */
interface Told {
  readonly from: number;
  readonly to: number;
  readonly changed?: readonly { readonly before: Pending; readonly after: Pending }[];
  readonly dropped?: readonly Pending[];
  readonly ended?: readonly Pending[];
}

/** The names that the migration of a world lets go of. */
export const lettingGo = { events: { later: null, "a.x": null }, activities: { read: null } };
const unwanted = new Set(["later", "a.x", "read"]);

interface Counting {
  readonly moves?: number;
}

/** What the migration of some worlds makes of contexts. */
export const counted = {
  there: ({ moves = 0, ...old }: Counting) => ({ ...old, moves: moves + 1 }),
  back: ({ moves = 0, ...old }: Counting) => (moves > 1 ? { ...old, moves: moves - 1 } : old),
};

/** What the migration of a world does besides. */
export interface Ways {
  readonly letsGo: boolean;
  readonly counts: boolean;
  /** The states that have another name there. */
  readonly states: Pair["states"];
}

export class Judge {
  readonly #versions: ReadonlyMap<number, { readonly machine: Machine; readonly hash: string }>;
  readonly #migration: Migration | undefined;
  readonly #ways: Ways;
  readonly violations: string[] = [];
  readonly children = new Children((rule, what) => this.violate(rule, what));
  readonly counts = { steps: 0, moves: 0, told: 0, dropped: 0 };

  constructor(machines: readonly Machine[], migration: Migration | undefined, ways: Ways) {
    this.#versions = new Map(
      machines.map(({ definition, version }) => {
        // One that has met no state yet, and so believes none.
        const machine = defineMachine(definition);
        return [version, { machine, hash: definitionHash(machine.definition) }];
      }),
    );
    this.#migration = migration;
    this.#ways = ways;
  }

  violate(rule: string, what: string): void {
    this.violations.push(`${rule}: ${what}`);
  }

  /** The state after an entry; tells if it breaks a rule. */
  read(run: string, before: State | null, entry: Entry, leave: Leave): State {
    const after = apply(before as unknown as Json, entry.patches) as unknown as State;
    this.counts.steps++;
    const what = `run ${run}, entry ${entry.seq} (${entry.event.type})`;
    const { version } = before ?? after;
    const bound = this.#versions.get(version);
    if (bound?.hash !== entry.hash)
      this.violate("E1", `${what} bears the hash ${entry.hash}, and its state is of version ${version}`);
    this.children.read(run, after.machine, entry);
    if (bound === undefined || before === null) return after;
    if (isControl(entry.event) && entry.event.type === "migrate")
      this.#move(what, run, before, entry, after, leave);
    else if (after.version !== version) this.violate("E1", `${what} leads to version ${after.version}`);
    else if (!isControl(entry.event)) {
      const again = step(bound.machine, before, entry.event, { at: entry.at, run }).state;
      if (!isDeepStrictEqual(plain(again), plain(after)))
        this.violate("E1", `${what} led elsewhere than version ${version} does`);
    }
    return after;
  }

  #move(what: string, run: string, before: State, entry: Entry, after: State, leave: Leave): void {
    this.counts.moves++;
    const told = entry.event.data as unknown as Told;
    if (!leave.moves) this.violate("E2", `${what}: nobody wanted it to move`);
    if (told.from !== before.version || told.to !== after.version)
      this.violate("E2", `${what} tells of ${told.from} to ${told.to}, and led to ${after.version}`);
    const [from, to] = [before.version, after.version].map((version) => this.#versions.get(version)?.machine);
    const evolved = evolve(from as Machine, to as Machine, before, {
      ...{ at: entry.at, run, drop: leave.drops, reverse: after.version < before.version },
      ...(this.#migration && !(after.version < before.version && this.#migration.back === undefined)
        ? { migration: this.#migration }
        : { reverse: false }),
    });
    if (evolved.outcome === "refused") this.violate("E2", `${what}: it could not go there`);
    else if (!isDeepStrictEqual(plain(evolved.step.state), plain(after)))
      this.violate("E2", `${what} led elsewhere than evolve does`);
    try {
      restore(to as Machine, plain(after));
    } catch (error) {
      this.violate("E2", `${what} led to what is no state of version ${after.version}: ${String(error)}`);
    }
    this.#pending(what, before, after, entry, leave);
    this.#kept(what, before, after, entry);
    for (const one of notEnded(before, after, told.ended ?? [], this.#place(before, after)))
      this.violate("E11", `${what}: ${one} is said to have ended, and its state was not left`);
    const isBack = after.version < before.version;
    if (this.#ways.counts && (!isBack || this.#migration?.back !== undefined)) {
      const wanted = movesOf(before) + (isBack ? -1 : before.version === after.version ? 0 : 1);
      if (movesOf(after) !== Math.max(0, wanted))
        this.violate("E10", `${what}: it went there ${wanted} times, and its context says ${movesOf(after)}`);
    }
  }

  /** Where states are after a move. */
  #place(before: State, after: State): Place {
    const { states } = this.#ways;
    if (states === undefined || before.version === after.version) return (path) => path;
    const isBack = after.version < before.version;
    // Without a way back everything is where it was.
    if (isBack && this.#migration?.back === undefined) return (path) => path;
    const [[old, now]] = Object.entries(isBack ? states.back : states.there) as [[string, string]];
    return (path) => (path === old || path.startsWith(`${old}.`) ? now + path.slice(old.length) : path);
  }

  /** What is to be undone and the lists it is going through are there afterwards, unless the entry tells otherwise. */
  #kept(what: string, before: State, after: State, entry: Entry): void {
    const { changed = [], dropped = [], ended = [] } = entry.event.data as unknown as Told;
    const isTold = (kind: Pending["kind"], name: string) =>
      [...dropped, ...ended].some((one) => one.kind === kind && (one.key ?? one.name) === name);
    for (const { key } of before.compensations ?? []) {
      this.counts.told++;
      const isThere = after.compensations?.some((one) => one.key === key) === true;
      if (!isThere && !isTold("compensation", key))
        this.violate("E3", `${what}: what would undo ${key} is gone, and nobody tells`);
    }
    for (const name of Object.keys(before.maps ?? {})) {
      this.counts.told++;
      const now = changed.find((one) => one.before.kind === "map" && one.before.name === name)?.after.name;
      const isThere = Object.hasOwn(after.maps ?? {}, now ?? name);
      if (!isThere && !isTold("map", name))
        this.violate("E3", `${what}: the map ${name} is gone, and nobody tells`);
    }
  }

  #pending(what: string, before: State, after: State, entry: Entry, leave: Leave): void {
    const { changed = [], dropped = [], ended = [] } = entry.event.data as unknown as Told;
    const cancelled = new Set(entry.effects.flatMap((one) => (one.type === "cancel" ? [one.key] : [])));
    const gone = [...dropped, ...ended];
    const undoes = ({ machine }: { readonly machine: string }) =>
      machine === compensationName(before.machine);
    const undoing = new Set(before.children.filter(undoes).map(({ key }) => key));
    const keyed = (state: State) => [...state.timers, ...state.activities, ...state.children];
    const there = new Set(keyed(after).map(({ key }) => key));
    for (const { key } of keyed(before)) {
      this.counts.told++;
      const isTold = gone.some((one) => one.key === key);
      if (there.has(key) === isTold)
        this.violate(
          "E3",
          `${what}: ${key} is ${isTold ? "told gone, and there" : "gone, and nobody tells"}`,
        );
      // What is being undone is undone to the end, also of a run that is over.
      const isUndone = after.status !== "active" && undoing.has(key);
      if (isTold && !cancelled.has(key) && !isUndone)
        this.violate("E3", `${what}: ${key} is gone, and nobody cancelled it`);
    }
    const names = (list: readonly Pending[]) =>
      list.filter(({ kind }) => kind === "event").map(({ name }) => name);
    const events = before.deferred.map(({ type }) => type);
    for (const name of [...names(gone), ...names(changed.map((one) => one.before))]) remove(events, name);
    const left = after.deferred.map(({ type }) => type);
    for (const name of events)
      if (!remove(left, name)) this.violate("E3", `${what}: the deferred ${name} is gone, and nobody tells`);
    this.counts.dropped += dropped.length;
    for (const { kind, name } of dropped)
      if (kind !== "history" && !leave.drops && !(this.#ways.letsGo && unwanted.has(name)))
        this.violate("E4", `${what} lets go of the ${kind} ${name}, which nobody asked for`);
    for (const timer of before.timers) {
      const now = after.timers.find(({ key }) => key === timer.key);
      if (now !== undefined && now.due !== timer.due)
        this.violate("E5", `${what}: timer ${timer.key} was due at ${timer.due}, and is at ${now.due}`);
    }
  }
}

const movesOf = ({ context }: State): number => (context as Counting).moves ?? 0;

/** As it is after it was stored. */
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** Takes one of these out; false if there is none. */
function remove(list: string[], item: string): boolean {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}
