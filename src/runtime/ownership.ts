/** The right of this process to step the runs of a store: taken at the start, renewed while it lives, given back at the end. */
import { HoldfastError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import { isGone } from "./worker.ts";

/** How long a process may go without renewing its right. */
const leaseMs = 10_000;

export class Ownership {
  /** Fences this process's commits from those of later owners. */
  epoch = 0;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #worker: string;
  readonly #lost: (error: unknown) => void;
  #stop: () => void = () => {};

  /** `lost` is told when the right could not be renewed. */
  constructor(store: Store, clock: Clock, worker: string, lost: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#worker = worker;
    this.#lost = lost;
  }

  /** Takes the right, and goes on renewing it; throws STORE_OWNED if a process that is alive has it. */
  async take(): Promise<void> {
    const own = () => this.#store.own(this.#worker, leaseMs, this.#clock.now());
    let lease = await own();
    if (lease.outcome === "taken" && isGone(lease.owner)) {
      // It was killed: there is no need to wait for its lease to lapse.
      await this.#store.release(lease.owner, lease.epoch);
      lease = await own();
    }
    if (lease.outcome === "taken") {
      throw new HoldfastError(
        "STORE_OWNED",
        `Another process (${lease.owner}) owns the runs of this store; stop it first, or use a store that many processes share`,
      );
    }
    this.epoch = lease.epoch;
    this.#stop = this.#clock.after(leaseMs / 3, () => {
      this.take().catch(this.#lost);
    });
  }

  async giveBack(): Promise<void> {
    this.#stop();
    await this.#store.release(this.#worker, this.epoch);
  }
}
