/** Receipts of events that were sent before: what became of each is found by its key, in the journal or the inbox. */
import { HoldfastError } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { whicheverKnows } from "./inboxes.ts";
import type { Handled, LiveRun } from "./live-run.ts";
import type { Past } from "./past.ts";
import { untakenError } from "./recovery.ts";
import type { Receipt } from "./run.ts";
import type { Standing } from "./standing.ts";
import type { Waiters } from "./waiters.ts";

export interface ReceiptWorld {
  readonly store: Store;
  readonly past: Past;
  /** The run as it is in memory, which is good enough to know whose it is. */
  reach(name: RunName): Promise<LiveRun> | LiveRun;
  /** What will become of an event that waits in the inbox. */
  waitFor(name: RunName, key: string): ReturnType<Waiters<Handled>["wait"]>;
  readonly standing: Pick<Standing, "isShared" | "until">;
}

export class Receipts {
  readonly #world: ReceiptWorld;

  constructor(world: ReceiptWorld) {
    this.#world = world;
  }

  /** The receipt of an event of this key; undefined if the run has seen none. */
  async read(name: RunName, key: string): Promise<Receipt | undefined> {
    const [seen] = await this.#world.store.readKeys(name, [key]);
    if (seen === undefined) return undefined;
    if (seen.seq === undefined) return { handled: () => this.#wait(name, key) };
    const handled = await this.#readHandled(name, seen.seq);
    return { handled: async () => handled };
  }

  /** What becomes of an event that was in the inbox when somebody looked; it may have been taken since. */
  async #wait(name: RunName, key: string): Promise<Handled> {
    const { waitFor, standing } = this.#world;
    const { told, cancel } = waitFor(name, key);
    // Others who wait are not told of what is found here: theirs may be taken by a step of which this process has no answer yet.
    const taken = await this.readTaken(name, key).catch((error: unknown) => {
      cancel();
      throw error;
    });
    if (taken !== undefined) {
      cancel();
      return taken;
    }
    if (!standing.isShared) return told;
    return whicheverKnows(
      told,
      standing.until(name, () => this.readTaken(name, key)),
    );
  }

  /** What became of an event of this key; undefined while it waits. Throws RUN_ENDED if its run ended without taking it. */
  async readTaken(name: RunName, key: string): Promise<Handled | undefined> {
    const [seen] = await this.#world.store.readKeys(name, [key]);
    if (seen === undefined) throw untakenError(name);
    return seen.seq === undefined ? undefined : this.#readHandled(name, seen.seq);
  }

  async #readHandled(name: RunName, at: number): Promise<Handled> {
    const { head } = await this.#world.reach(name);
    const { seq, outcome, error } = await this.#world.past.entry(head, at);
    return { seq, outcome, error: error && errorOf(error) };
  }
}

/** An error as it was before it went into the journal. */
function errorOf({ code, message }: Record<string, unknown>): HoldfastError {
  return new HoldfastError(code as HoldfastError["code"], message as string);
}
