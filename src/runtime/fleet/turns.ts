/**
 * Turns of concurrency keys, as this process asks for them: all that is wanted in one moment in one statement, one after
 * the other, so that what is said later of a key counts. Who waits looks again when it is told, and by itself in between.
 */
import { hash } from "node:crypto";
import { HoldfastError } from "../../errors.ts";
import type { Fleet, KeyUse } from "../../store/fleet.ts";
import type { RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { Clock } from "../clock.ts";
import { systemTenant } from "../name.ts";
import type { Turnstile } from "../standing.ts";

export interface TurnsWorld {
  readonly fleet: Pick<Fleet, "takeTurns">;
  readonly clock: Clock;
  epoch(): number;
  /** How often those who wait look without a reason. */
  lookMs(): number;
  /** Tells the others of a name. */
  tell(name: RunName): void;
}

interface Pending {
  readonly uses: (() => KeyUse)[];
  readonly given: Promise<readonly number[]>;
}

export class Turns implements Turnstile {
  readonly #world: TurnsWorld;
  #pending: Pending | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new RunMap<Set<() => void>>();
  #stopTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(world: TurnsWorld) {
    this.#world = world;
  }

  async take(use: () => KeyUse): Promise<number> {
    this.#pending ??= this.#gather();
    const { uses, given } = this.#pending;
    const index = uses.push(use) - 1;
    return (await given)[index] as number;
  }

  #gather(): Pending {
    const uses: (() => KeyUse)[] = [];
    const moment = new Promise<void>((pass) => this.#world.clock.soon(pass));
    const given = Promise.all([moment, this.#last]).then(() => {
      this.#pending = undefined;
      return this.#ask(uses.map((use) => use()));
    });
    this.#last = given.catch(() => {});
    return { uses, given };
  }

  async #ask(uses: readonly KeyUse[]): Promise<readonly number[]> {
    const { fleet, epoch, tell } = this.#world;
    const turns = await fleet.takeTurns(uses, epoch());
    if (turns === undefined) throw noMemberError();
    for (const [index, { isWanted }] of turns.entries())
      if (isWanted) tell(nameOf((uses[index] as KeyUse).key));
    return turns.map(({ given }) => given);
  }

  await(key: string, wake: () => void): () => void {
    const name = nameOf(key);
    const wakes = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, wakes.add(wake));
    this.#lookInAWhile();
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.#waiting.get(name) === wakes) this.#waiting.delete(name);
    };
  }

  #lookInAWhile(): void {
    if (this.#stopTimer !== undefined || this.#isStopped || this.#waiting.size === 0) return;
    this.#stopTimer = this.#world.clock.after(this.#world.lookMs(), () => {
      this.#stopTimer = undefined;
      this.look(undefined);
      this.#lookInAWhile();
    });
  }

  /** Turns of what these names stand for may be free; of any key, if none are given. */
  look(names: readonly RunName[] | undefined): void {
    const all = names?.flatMap((name) => this.#waiting.get(name) ?? []) ?? [...this.#waiting.values()];
    for (const wakes of all) for (const wake of [...wakes]) wake();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer?.();
  }
}

/** What a key goes by among hints, which are of runs: a name that no run has, and short however long the key is. */
const nameOf = (key: string): RunName => ({
  ...{ tenant: systemTenant, run: `holdfast.turn ${hash("sha256", key, "base64url")}` },
});

function noMemberError(): HoldfastError {
  return new HoldfastError(
    "STORE_OWNED",
    "This process gave no sign of life for too long, and has no turns; create another runtime",
  );
}
