/**
 * Inboxes: events that are durable before they are taken, since they come from another run, are too many for one turn,
 * or are for a run that is parked. The store has them; here they are brought into memory and their senders told.
 */
import type { Event } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import { HoldfastError, isUnavailable } from "../errors.ts";
import { limits } from "../limits.ts";
import { decode, encode } from "../store/codec.ts";
import type { InboxRow, RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import type { Admitted } from "./handle.ts";
import type { Ids } from "./ids.ts";
import type { Delivery, Handled, LiveRun } from "./live-run.ts";
import { keyOf } from "./name.ts";
import { eventPriority } from "./registry.ts";
import type { Receipt } from "./run.ts";
import type { Seal } from "./seal.ts";
import { Waiters } from "./waiters.ts";

export interface InboxWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly seal: Seal;
  live(name: RunName): LiveRun | undefined;
  find(name: RunName): Promise<LiveRun | undefined>;
  isBusy(run: LiveRun): boolean;
  deliver(run: LiveRun, delivery: Delivery): void;
  park(run: LiveRun, error: unknown): void;
  readReceipt(name: RunName, key: string): Promise<Receipt | undefined>;
  /** What cannot be read now is due: it is looked for again in a while. */
  wakeLater(): void;
}

export class Inboxes {
  readonly #world: InboxWorld;
  /** Whoever wants to know what became of an event in an inbox: by run, and then by its row or its key. */
  readonly #handled = new Map<string, Waiters<Handled>>();

  constructor(world: InboxWorld) {
    this.#world = world;
  }

  /** Puts events into a run's inbox, all of them or none; each receipt waits for its step. */
  async enqueue(run: LiveRun, events: readonly Admitted[]): Promise<readonly Receipt[]> {
    const { store, clock, ids, seal } = this.#world;
    const at = clock.now();
    const rows = events.map(
      ({ event, key }): InboxRow => ({
        ...{ ...run.name, id: ids.next(), subject: run.head.subject, at },
        ...(key === undefined ? undefined : { key }),
        priority: eventPriority(run.machine.machine.chart, event),
        bytes: seal.close(encode(event as unknown as JsonObject), run.head),
      }),
    );
    const receipts = rows.map((row) => ({ handled: this.handled(row, row.id) }));
    const outcomes = await store.enqueue(rows);
    for (const row of rows) this.arrived(row);
    return Promise.all(
      outcomes.map(async (outcome, index) => {
        const { key, id } = rows[index] as InboxRow;
        if (outcome === "accepted") return { handled: () => receipts[index]?.handled as Promise<Handled> };
        const before = key === undefined ? undefined : await this.#world.readReceipt(run.name, key);
        if (before !== undefined) return before;
        throw new HoldfastError(
          "RUN_ENDED",
          `The run ${JSON.stringify(run.name.run)} has ended; ${id} is too late`,
        );
      }),
    );
  }

  /** Resolves with what became of an event in the inbox, once that is known here. */
  handled(name: RunName, rowOrKey: string): Promise<Handled> {
    const waiters = this.#handled.get(keyOf(name)) ?? new Waiters<Handled>();
    this.#handled.set(keyOf(name), waiters);
    return waiters.wait(rowOrKey).told;
  }

  /** An event is in a run's inbox: the run takes it from there, now if it is in memory, else when it has been read. */
  arrived(row: InboxRow): void {
    const live = this.#world.live(row);
    if (live !== undefined && !live.more) this.bring(live, row);
    else if (live === undefined) void this.#fetch(row);
  }

  /** Whoever reads the run may have begun before the event came. */
  async #fetch(row: InboxRow): Promise<void> {
    const run = await this.#world.find(row).catch(() => this.#world.wakeLater());
    if (run?.head.status !== "active") return;
    run.more = true;
    this.refill(run);
  }

  /** Reads on, when the run has taken all that is in memory. */
  refill(run: LiveRun): void {
    if (this.#world.isBusy(run)) return;
    run.more = false;
    this.#world.store.readInbox(run.name, limits.inboxLoadedMax).then(
      (rows) => {
        if (rows.length >= limits.inboxLoadedMax) run.more = true;
        for (const row of rows) this.bring(run, row);
      },
      () => {
        run.more = true;
        this.#world.wakeLater();
      },
    );
  }

  /** Hands an event from the inbox to a run, unless it has it already. */
  bring(run: LiveRun, row: InboxRow): void {
    if (run.inbox.some((delivery) => delivery.row === row.id)) return;
    const { seal, deliver, park } = this.#world;
    try {
      const event = decode(seal.open(row.bytes, row), `event ${row.id}`) as unknown as Event;
      const priority = eventPriority(run.machine.machine.chart, event);
      const handled = (one: Handled) => this.#tell(row, (waiters, name) => waiters.tell(name, one));
      const failed = (error: unknown) =>
        isUnavailable(error)
          ? this.#tell(row, (waiters, name) => waiters.refuse(name, error))
          : park(run, error);
      deliver(run, { event, row: row.id, priority, handled, failed, ...(row.key && { key: row.key }) });
    } catch (error) {
      park(run, error);
    }
  }

  #tell({ id, key, ...run }: InboxRow, tell: (waiters: Waiters<Handled>, name: string) => void): void {
    const waiters = this.#handled.get(keyOf(run));
    if (waiters === undefined) return;
    tell(waiters, id);
    if (key !== undefined) tell(waiters, key);
    if (waiters.isEmpty) this.#handled.delete(keyOf(run));
  }

  /** A run has ended: whatever waited in its inbox is a dead letter. */
  ended({ name, head }: LiveRun): void {
    const waiters = this.#handled.get(keyOf(name));
    this.#handled.delete(keyOf(name));
    const lost = `The run ${JSON.stringify(name.run)} is ${head.status} and took no more; what waited is a dead letter`;
    waiters?.close(new HoldfastError("RUN_ENDED", lost));
  }

  close(error: unknown): void {
    for (const waiters of this.#handled.values()) waiters.close(error);
    this.#handled.clear();
  }
}
