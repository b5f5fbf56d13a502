/** Changes that could not be delivered: they wait here, with the reason, until a person decides. */
import type { JsonObject } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { FailedRow, NotedChange, Outbox } from "../../store/postgres/changes/outbox.ts";
import type { Parcel, Receiver } from "./deliver.ts";
import type { Change } from "./rule.ts";

/** Changes that are read at a time. */
const pageSize = 100;

/** A change nobody could be given, and why. */
export interface FailedChange {
  readonly change: Change;
  readonly reason: JsonObject;
  /** In milliseconds since 1970. */
  readonly failedAt: number;
}

interface FailedWorld {
  readonly outbox: Outbox;
  readonly receiver: Receiver;
  /** A change of a rule that is not known here can be looked at and discarded. */
  describe(noted: NotedChange): Change;
  address(noted: NotedChange): Parcel;
}

export class FailedChanges {
  readonly #world: FailedWorld;

  constructor(world: FailedWorld) {
    this.#world = world;
  }

  /** All of them, or those of a rule, in order. */
  async *list({ rule }: { readonly rule?: string } = {}): AsyncGenerator<FailedChange> {
    for (let last = 0; ; ) {
      const rows = await this.#world.outbox.readFailed(last, pageSize, rule);
      for (const row of rows) yield this.#show(row);
      const newest = rows.at(-1);
      if (newest === undefined) return;
      last = newest.number;
    }
  }

  /** Delivers one again. If that fails it stays here, with the new reason, which is thrown. */
  async redeliver(number: number): Promise<void> {
    const row = await this.#find(number);
    const fate = await this.#world.address(row).deliver(this.#world.receiver);
    if (fate.outcome === "failed") await this.#world.outbox.failAgain(number, fate.reason);
    if (fate.outcome !== "delivered") throw fate.error;
    await this.#world.outbox.removeFailed(number);
  }

  /** Forgets one. */
  async discard(number: number): Promise<void> {
    await this.#find(number);
    await this.#world.outbox.removeFailed(number);
  }

  async #find(number: number): Promise<FailedRow> {
    const [row] = await this.#world.outbox.readFailed(number - 1, 1);
    if (row?.number === number) return row;
    throw new HoldfastError("CHANGE_UNKNOWN", `There is no failed table change ${number}`, {
      details: { number },
    });
  }

  #show(row: FailedRow): FailedChange {
    return { change: this.#world.describe(row), reason: row.reason, failedAt: row.failedAt };
  }
}
