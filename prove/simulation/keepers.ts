/** Those who keep house in the simulated world: they apply its rules, put holds on things and take them back. */
import { isHoldfastError } from "../../src/errors.ts";
import { type Held, hold, release } from "../../src/runtime/housekeeping/index.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { RunName } from "../../src/store/records.ts";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "../../test/generate/random.ts";
import { nameOfHold, type Tidy } from "./invariants/keeping.ts";
import type { Judge } from "./judge.ts";
import type { Ledger } from "./ledger.ts";
import type { Life } from "./life.ts";
import { clockOf, type Time } from "./time.ts";

export interface KeeperWorld {
  readonly time: Time;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly judge: Judge;
  current(): Life | undefined;
  /** One call to whichever process is there, again and again until there is an answer. */
  insist<Value>(call: (runtime: Runtime, life: Life) => Promise<Value>): Promise<unknown>;
  say(life: Life | undefined, text: string): void;
}

/** Errors that say that this process is of no use now: the next one tidies. */
const passing: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "STORE_OWNED", "RUNTIME_CLOSED"]);

/** How long whoever tidies waits for a late hold: if no process is up, the next one may be waiting for this one's end. */
const lateHoldMs = 5_000;

export class Keepers {
  readonly #world: KeeperWorld;
  /** What is under way, for the judge to see that it ends. */
  open = 0;

  constructor(world: KeeperWorld) {
    this.#world = world;
  }

  /** Has the process that is there apply the rules; the tidying, if it came to its end. */
  async tidy(): Promise<Tidy | undefined> {
    const { judge, current, say } = this.#world;
    const life = current();
    if (life?.keeper === undefined || life.status !== "alive" || judge.keeping.isTidying(life))
      return undefined;
    this.open++;
    const tidy = judge.keeping.tidyBegins(life);
    const done = await new Promise<boolean>((resolve) => {
      life.whenDead(() => resolve(false));
      life.keeper?.tidy().then(
        ({ removed = [], pruned = [], cancelled = [], swept }) => {
          const counts = `${cancelled.length} expired, ${removed.length} removed, ${pruned.length} pruned`;
          if (life.status !== "dead") say(life, `tidies: ${counts}, ${swept} swept`);
          resolve(true);
        },
        (error: unknown) => {
          if (life.status !== "dead" && !(isHoldfastError(error) && passing.has(error.code)))
            judge.report(8, `tidying gave an error of no use: ${error}`);
          resolve(false);
        },
      );
    });
    tidy.isOver = true;
    this.open--;
    return done ? tidy : undefined;
  }

  /** The store as one who tidies sees it: now and then somebody holds what it is just about to remove or prune. */
  lateHolds(store: Store): Store {
    const { random, time } = this.#world;
    const aimsAt = (verb: keyof Store, [first]: unknown[]): readonly RunName[] => {
      if (verb === "removeRuns") return first as RunName[];
      return verb === "pruneJournal" ? [first as RunName] : [];
    };
    return new Proxy(store, {
      get: (_, name) => {
        const verb = name as keyof Store;
        return async (...given: unknown[]) => {
          const aims = aimsAt(verb, given);
          if (aims.length > 0 && random.chance(0.15)) {
            const held = this.#hold({ run: random.pick(aims).run });
            await Promise.race([held, time.sleep(lateHoldMs)]);
          }
          return (store[verb] as (...all: unknown[]) => unknown)(...given);
        };
      },
    });
  }

  /** Puts a hold on one of these runs, on its subject or on everything, or takes one back; tries until it is. */
  async mind(runs: readonly string[]): Promise<void> {
    const { random, ledger } = this.#world;
    const held = [...ledger.holds].filter(([, state]) => state === "held").map(([name]) => name);
    if (held.length > 0 && random.chance(0.35)) return this.#release(random.pick(held));
    if (runs.length === 0) return;
    const run = random.pick(runs);
    const drawn = random.next();
    return this.#hold(drawn < 0.1 ? { everything: true } : drawn < 0.4 ? { subject: run } : { run });
  }

  readonly #held = new Map<string, Held>();

  async #hold(held: Held): Promise<void> {
    const { ledger, time, insist, say } = this.#world;
    const name = nameOfHold(held);
    if ((ledger.holds.get(name) ?? "released") !== "released") return;
    this.open++;
    this.#held.set(name, held);
    ledger.holds.set(name, "asked");
    await insist((_, life) =>
      hold({ store: life.wire, clock: clockOf(time, life) }, { ...held, reason: "a case" }),
    );
    ledger.holds.set(name, "held");
    say(undefined, `${name} is held`);
    this.open--;
  }

  async #release(name: string): Promise<void> {
    const { ledger, insist, say } = this.#world;
    this.open++;
    ledger.holds.set(name, "asked");
    await insist((_, life) => release({ store: life.wire }, this.#held.get(name) as Held));
    ledger.holds.set(name, "released");
    say(undefined, `${name} is released`);
    this.open--;
  }
}
