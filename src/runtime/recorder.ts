/** Records of activities, written together: whatever comes in one turn of the event loop costs one flush. */
import type { ActivityRow } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";

interface Pending {
  readonly rows: ActivityRow[];
  readonly recorded: Promise<readonly boolean[]>;
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
    return (await recorded)[index] as boolean;
  }

  #gather(): Pending {
    const rows: ActivityRow[] = [];
    const moment = new Promise<void>((pass) => this.#clock.soon(pass));
    const recorded = Promise.all([moment, this.#last]).then(() => {
      this.#pending = undefined;
      return this.#store.recordActivities(rows, this.#epoch());
    });
    this.#last = recorded.catch(() => {});
    return { rows, recorded };
  }
}
