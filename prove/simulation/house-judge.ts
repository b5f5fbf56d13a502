/** The part of the judge that watches over the house: who tidies since when, and whether what goes may go. */
import type { RunName } from "../../src/store/records.ts";
import type { Call } from "./disk.ts";
import {
  checkExpiry,
  checkPruning,
  checkRemoval,
  checkTidied,
  type Tidy,
  tidyOf,
} from "./invariants/keeping.ts";
import type { Report } from "./invariants/report.ts";
import type { Ledger } from "./ledger.ts";
import type { Life } from "./life.ts";
import type { Model, ModelEntry, ModelRun } from "./model.ts";
import type { Time } from "./time.ts";
import type { House } from "./traits.ts";

export interface HouseWorld {
  readonly ledger: Ledger;
  readonly time: Pick<Time, "now" | "furthest">;
  readonly report: Report;
  /** The books there are now: after a power cut they are others. */
  model(): Model;
}

export class HouseJudge {
  /** The rules of the house, where somebody keeps it. */
  house: House | undefined;
  readonly #world: HouseWorld;
  readonly #tidies: Tidy[] = [];

  constructor(world: HouseWorld) {
    this.#world = world;
  }

  isTidying({ number }: Life): boolean {
    return this.#tidies.some(({ life, isOver }) => life === number && !isOver);
  }

  /** A process is about to apply the rules of the house. */
  tidyBegins({ number }: Life): Tidy {
    const tidy = tidyOf(this.#world.model(), number, this.#world.time.now());
    this.#tidies.push(tidy);
    return tidy;
  }

  /** A process has removed or pruned something, which is not in the books yet: it must have had a reason. */
  performed({ number }: Life, { verb, args }: Call, result: unknown): void {
    if (verb !== "removeRuns" && verb !== "pruneJournal") return;
    const model = this.#world.model();
    const tidy = this.#tidies.findLast(({ life }) => life === number);
    if (verb === "removeRuns")
      for (const [index, name] of (args[0] as RunName[]).entries()) {
        const run = model.find(name);
        if (run !== undefined && (result as boolean[])[index]) checkRemoval(run, tidy, this.#seen());
      }
    const run = model.find(args[0] as RunName);
    if (verb === "pruneJournal" && run !== undefined && result === true)
      checkPruning(run, args[1] as number, tidy, this.#seen());
  }

  /** A run has taken a step. */
  stepped(run: ModelRun, entry: ModelEntry): void {
    checkExpiry(run, entry, this.#world.ledger, this.#tidies, this.#seen());
  }

  /** Nothing that may go is left, once the house was tidied while nothing went on. */
  tidied(tidy: Tidy): void {
    checkTidied(tidy, this.#seen());
  }

  #seen() {
    const { report, time } = this.#world;
    return { model: this.#world.model(), house: this.house, report, furthest: time.furthest };
  }
}
