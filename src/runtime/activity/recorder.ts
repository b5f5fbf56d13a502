/** Records of activities, written together: whatever comes in one turn of the event loop costs one flush. */
import { isUnavailable } from "../../errors.ts";
import type { ActivityRow } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";

interface Pending {
  readonly rows: ActivityRow[];
  readonly recorded: Promise<readonly PromiseSettledResult<boolean>[]>;
}

export class Recorder {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #epoch: () => number;
  #pending: Pending | undefined;
  /** One call at a time, so that a later record of an activity is never overtaken by an earlier one. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Store, clock: Clock, epoch: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#epoch = epoch;
  }

  /** Replaces the row of an activity; false if it is not wanted any more. */
  async record(row: ActivityRow): Promise<boolean> {
    this.#pending ??= this.#gather();
    const { rows, recorded } = this.#pending;
    const index = rows.push(row) - 1;
    const result = (await recorded)[index] as PromiseSettledResult<boolean>;
    if (result.status === "rejected") throw result.reason;
    return result.value;
  }

  #gather(): Pending {
    const rows: ActivityRow[] = [];
    const moment = new Promise<void>((pass) => this.#clock.soon(pass));
    const recorded = Promise.all([moment, this.#last]).then(() => {
      this.#pending = undefined;
      return this.#write(rows);
    });
    this.#last = recorded;
    return { rows, recorded };
  }

  /** If one of them cannot be kept nothing was: each is tried by itself, so that others do not suffer for it. */
  async #write(rows: readonly ActivityRow[]): Promise<readonly PromiseSettledResult<boolean>[]> {
    try {
      const recorded = await this.#store.recordActivities(rows, this.#epoch());
      return recorded.map((value) => ({ status: "fulfilled", value }));
    } catch (reason) {
      if (isUnavailable(reason) || rows.length === 1) return rows.map(() => ({ status: "rejected", reason }));
      const results: PromiseSettledResult<boolean>[] = [];
      for (const row of rows) results.push(...(await this.#write([row])));
      return results;
    }
  }
}
