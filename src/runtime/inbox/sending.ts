/**
 * Sending: events on their way into inboxes, written together. Whatever this process sends in one turn of the event loop, or
 * while a write is under way, is one write, in the order in which it was sent.
 */
import { isUnstorable } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { InboxRow } from "../../store/records.ts";
import type { EnqueueOutcome, Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";
import { Together } from "../together.ts";

/** What is sent to one run by one call. */
type Letters = readonly InboxRow[];

export class Sending {
  readonly #store: Pick<Store, "enqueue">;
  readonly #writes: Together<Letters, Fate>;

  constructor(store: Pick<Store, "enqueue">, clock: Clock) {
    this.#store = store;
    this.#writes = new Together({
      ...{ clock, max: limits.sentTogetherBytesMax, sizeOf },
      call: (sent) => this.#write(sent),
    });
  }

  /** What became of each, once that is durable; throws as the store does. Those of one call are written together or not at all. */
  async send(rows: Letters): Promise<readonly EnqueueOutcome[]> {
    const fate = await this.#writes.ask(rows);
    if ("error" in fate) throw fate.error;
    return fate.outcomes;
  }

  /** If something in it cannot be kept nothing was written: each is tried by itself, so that others do not suffer for one. */
  async #write(sent: readonly Letters[]): Promise<readonly Fate[]> {
    try {
      const outcomes = [...(await this.#store.enqueue(sent.flat()))];
      return sent.map(({ length }) => ({ outcomes: outcomes.splice(0, length) }));
    } catch (error) {
      if (!isUnstorable(error) || sent.length === 1) return sent.map(() => ({ error }));
      const fates: Fate[] = [];
      for (const rows of sent) fates.push(...(await this.#write([rows])));
      return fates;
    }
  }
}

type Fate = { readonly outcomes: readonly EnqueueOutcome[] } | { readonly error: unknown };

/** What a row costs besides its bytes. */
const rowBytes = 1_024;

const sizeOf = (rows: Letters): number => rows.reduce((sum, { bytes }) => sum + rowBytes + bytes.length, 0);
