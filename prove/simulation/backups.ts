/** Those who make backups in the simulated world, and see whether each can be restored. */
import { join } from "node:path";
import { isHoldfastError } from "../../src/errors.ts";
import { backup, restore } from "../../src/runtime/housekeeping/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Disk } from "./disk.ts";
import { checkBackup, durableIn } from "./invariants/backups.ts";
import type { Judge } from "./judge.ts";
import type { Ledger } from "./ledger.ts";
import type { Life } from "./life.ts";
import { clockOf, type Time } from "./time.ts";

export interface BackupWorld {
  readonly time: Time;
  readonly disk: Disk;
  readonly ledger: Ledger;
  readonly judge: Judge;
  current(): Life | undefined;
  say(life: Life | undefined, text: string): void;
}

/** Copies lose no power either. */
const open = (path: string) => sqlite(path, { synchronous: "normal" });

export class Backups {
  readonly #world: BackupWorld;
  /** What is under way, for the judge to see that it ends. */
  open = 0;
  #restored = 0;

  constructor(world: BackupWorld) {
    this.#world = world;
  }

  /** Has the process that is there make one; once. */
  async make(): Promise<void> {
    const { time, disk, ledger, judge, current } = this.#world;
    const life = current();
    if (life === undefined || life.status !== "alive" || disk.folder === undefined) return;
    const least = durableIn(ledger);
    this.open++;
    const made = await new Promise<string | undefined>((resolve) => {
      life.whenDead(() => resolve(undefined));
      const options = { store: life.wire, open, directory: join(disk.folder as string, "backups") };
      backup({ ...options, keep: { last: 2 }, clock: clockOf(time, life) }).then(
        ({ path }) => resolve(path),
        (error: unknown) => {
          if (!isHoldfastError(error) || error.code !== "STORE_UNAVAILABLE")
            judge.report(30, `making a backup gave ${error}`);
          resolve(undefined);
        },
      );
    });
    // Time stands still while it is looked through.
    if (made !== undefined) await disk.occupy(this.#restore(life, made, least));
    this.open--;
  }

  async #restore(life: Life, from: string, least: ReadonlyMap<string, number>): Promise<void> {
    const { disk, judge, say } = this.#world;
    const to = join(disk.folder as string, `restored-${++this.#restored}.db`);
    try {
      const { runs, entries } = await restore({ from, to, open });
      say(life, `makes a backup: ${runs} runs, ${entries} entries`);
      const copy = open(to);
      await copy.open();
      await checkBackup(copy, least, judge.model, judge.report);
      await copy.close();
    } catch (error) {
      judge.report(30, `restoring a backup gave ${error}`);
    }
  }
}
