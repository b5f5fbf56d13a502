/** Receipts of events that were sent before: what became of them, from the journal, or when their step is taken. */
import { HoldfastError } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Inboxes } from "./inboxes.ts";
import type { Handled, LiveRun } from "./live-run.ts";
import type { Past } from "./past.ts";
import type { Receipt } from "./run.ts";

export interface ReceiptWorld {
  readonly store: Store;
  readonly past: Past;
  readonly inboxes: Inboxes;
  read(name: RunName): Promise<LiveRun>;
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
    if (seen.seq === undefined) return { handled: () => this.#waitHandled(name, key) };
    const handled = await this.#readHandled(name, seen.seq);
    return { handled: async () => handled };
  }

  /** What becomes of an event that was in the inbox when somebody looked; it may have been taken since. */
  async #waitHandled(name: RunName, key: string): Promise<Handled> {
    const { inboxes, store } = this.#world;
    const { told, cancel } = inboxes.waitFor(name, key);
    const [seen] = await store.readKeys(name, [key]);
    if (seen?.seq === undefined) {
      if (seen === undefined) inboxes.ended(name);
      return told;
    }
    cancel();
    return this.#readHandled(name, seen.seq);
  }

  async #readHandled(name: RunName, at: number): Promise<Handled> {
    const { head } = await this.#world.read(name);
    const { seq, outcome, error } = await this.#world.past.entry(head, at);
    return { seq, outcome, error: error && errorOf(error) };
  }
}

/** An error as it was before it went into the journal. */
function errorOf({ code, message }: Record<string, unknown>): HoldfastError {
  return new HoldfastError(code as HoldfastError["code"], message as string);
}
