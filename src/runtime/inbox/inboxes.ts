/**
 * Inboxes: events that are durable before they are taken, since they come from another run, are too many for one turn,
 * or are for a run that is parked. The store has them; here they are brought into memory and their senders told.
 */
import type { Event } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import { isUnavailable } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { decode, encode } from "../../store/codec.ts";
import type { KeyName } from "../../store/fleet.ts";
import type { InboxRow, RunName } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";
import type { Ids } from "../ids.ts";
import type { Delivery, Handled, LiveRun } from "../live/live-run.ts";
import { untakenError } from "../recovery.ts";
import { eventPriority } from "../registry.ts";
import type { Owner, Seal } from "../seal.ts";
import type { Mark, Standing } from "../standing.ts";
import type { Admitted } from "./admitted.ts";
import { type Hearing, Hearings, hearingOf, type Registered, whicheverKnows } from "./hearings.ts";
import { Sending } from "./sending.ts";

export interface InboxWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly seal: Seal;
  readonly standing: Pick<Standing, "isShared" | "isHome" | "readInbox" | "tell" | "mark" | "until">;
  live(name: RunName): LiveRun | undefined;
  find(name: RunName): Promise<LiveRun | undefined>;
  /** Whether a run has something to take, and whether it is ahead of the store. */
  isTaking(run: LiveRun): boolean;
  isBusy(run: LiveRun): boolean;
  /** Commits what a run has taken and not committed yet. */
  checkpoint(run: LiveRun): Promise<void>;
  /** What is due is looked for again in a while. */
  wakeLater(): void;
  deliver(run: LiveRun, delivery: Delivery): void;
  park(run: LiveRun, error: unknown): void;
  /** Something is wrong with a run that nobody waits to hear. */
  problem(name: RunName, error: unknown): void;
  readReceipt(name: RunName, key: string): Promise<Hearing | undefined>;
  /** What became of an event; undefined while it waits. */
  readTaken(event: KeyName & Partial<Owner>): Promise<Handled | undefined>;
}

export class Inboxes {
  readonly #world: InboxWorld;
  readonly #sending: Sending;
  readonly #hearings: Hearings;
  /** Runs whose inbox is being read, and those of them for which more has come since. Until then there is more for each. */
  readonly #reading = new Set<LiveRun>();
  readonly #again = new Set<LiveRun>();

  constructor(world: InboxWorld) {
    this.#world = world;
    this.#sending = new Sending(world.store, world.clock);
    this.#hearings = new Hearings((name) => {
      const run = world.live(name);
      if (run !== undefined) world.checkpoint(run).catch(() => {});
    });
  }

  /** Puts events into a run's inbox, all of them or none; each receipt waits for its step. */
  async enqueue(run: LiveRun, events: readonly Admitted[]): Promise<readonly Hearing[]> {
    const { clock, seal, standing } = this.#world;
    const at = clock.now();
    const rows = events.map(
      ({ event, key }): InboxRow => ({
        ...this.#place(run, key),
        at,
        priority: eventPriority(run.machine.machine.chart, event),
        bytes: seal.close(encode(event as unknown as JsonObject), run.head),
      }),
    );
    // What is taken here is told once, and that may be before anybody asks.
    const waiting = standing.isHome(run.name)
      ? rows.map(({ id }) => this.#hearings.wait(run.name, { row: id }))
      : [];
    const mark = standing.mark(run.name);
    const outcomes = await this.#sending.send(rows).catch((error: unknown) => {
      for (const one of waiting) one.cancel();
      // They may have got there all the same.
      this.#world.wakeLater();
      throw error;
    });
    const receipts = rows.map(async (row, index) => {
      if (outcomes[index] === "accepted") {
        this.arrived(row);
        return hearingOf(() => this.#hear(row, mark, waiting[index]), waiting[index]?.cancel);
      }
      waiting[index]?.cancel();
      const before = row.key === undefined ? undefined : await this.#world.readReceipt(run.name, row.key);
      if (before !== undefined) return before;
      throw untakenError(run.name);
    });
    return Promise.all(receipts);
  }

  /** Where others may take it, what became of an event is found by its key: so it has one. */
  #place(
    { name, head }: LiveRun,
    given: string | undefined,
  ): Pick<InboxRow, "id" | "key" | "subject" | keyof RunName> {
    const id = this.#world.ids.next();
    const key = given ?? (this.#world.standing.isShared ? id : undefined);
    return { ...name, id, subject: head.subject, ...(key === undefined ? undefined : { key }) };
  }

  /** What becomes of an event that waits, be it taken here or elsewhere. */
  #hear(row: InboxRow, mark: Mark, registered?: Registered): Registered {
    const { standing, readTaken } = this.#world;
    const { key, id } = row;
    const waiting = this.#hearings.ask(row, { row: id }, registered);
    if (!standing.isShared || key === undefined) return waiting;
    // What it was told of before anybody waited is asked for, as when it has become the run's home since.
    const since = registered === undefined && standing.isHome(row) ? undefined : mark;
    const elsewhere = standing.until(row, () => readTaken({ ...row, key }), since);
    const cancel = () => {
      waiting.cancel();
      elsewhere.cancel();
    };
    // Of what was taken elsewhere nobody is told here.
    return { told: whicheverKnows(waiting.told, elsewhere).finally(cancel), cancel };
  }

  /**
   * Hands an event to a run; resolves when it is durable. Should the run be parked before it takes it, the event is put
   * into its inbox with the same commit.
   */
  hand(run: LiveRun, { event, key }: Admitted): Promise<Hearing> {
    return new Promise((resolve, failed) => {
      const priority = eventPriority(run.machine.machine.chart, event);
      const handled = (one: Handled) => resolve({ handled: async () => one });
      const aside = (row: string) => resolve(this.#receipt(run.name, row, key));
      const delivery: Delivery = { event, priority, handled, aside, failed };
      this.#world.deliver(run, key === undefined ? delivery : { ...delivery, key });
    });
  }

  /** The receipt of an event that waits. One whose key the run has seen is not there: what became of the first is told. */
  async #receipt(name: RunName, row: string, key: string | undefined): Promise<Hearing> {
    const refused = async () => Promise.reject(untakenError(name));
    if (key !== undefined) return (await this.#world.readReceipt(name, key)) ?? { handled: refused };
    const waiting = this.#hearings.wait(name, { row });
    return hearingOf(() => this.#hearings.ask(name, { row }, waiting), waiting.cancel);
  }

  /** What will become of an event that waits in the inbox, by its key. */
  waitFor(name: RunName, key: string): Registered {
    const waiting = this.#hearings.ask(name, { key });
    // Whoever put it there may have died before anybody was told; or its step waits for a later commit, where nobody knows of this one.
    void this.fetch(name);
    return waiting;
  }

  /** A run has ended: nothing will become of what waits in its inbox. */
  ended(name: RunName, error?: unknown): void {
    this.#hearings.ended(name, error);
  }

  /** An event is in a run's inbox: the run takes it from there, now if it is in memory, else when it has been read. */
  arrived(row: InboxRow): void {
    const live = this.#world.live(row);
    if (!this.#world.standing.isHome(row)) this.#tellHome(row);
    else if (live === undefined) void this.fetch(row);
    else if (live.head.status !== "active") return;
    else if (live.more || this.#reading.has(live)) {
      // Those before it are still to be read, or on their way: it comes after them.
      live.more = true;
      this.refill(live);
    } else this.bring(live, row);
  }

  #tellHome(name: RunName): void {
    this.#world.standing.tell(name, undefined, true);
  }

  /** Reads the inbox of a run. Whoever reads the run itself may have begun before an event came. */
  async fetch(name: RunName): Promise<void> {
    if (!this.#world.standing.isHome(name)) {
      this.#tellHome(name);
      return;
    }
    try {
      const run = await this.#world.find(name);
      if (run?.head.status !== "active") return;
      run.more = true;
      this.refill(run);
    } catch (error) {
      // The event is due, and found when the run can be read again.
      if (isUnavailable(error)) this.#world.wakeLater();
      else this.#world.problem(name, error);
    }
  }

  isReading(run: LiveRun): boolean {
    return this.#reading.has(run);
  }

  /** Reads on, when the run has taken all that is in memory. */
  refill(run: LiveRun): void {
    const { standing, isTaking, isBusy, checkpoint } = this.#world;
    if (!standing.isHome(run.name)) return;
    if (this.#reading.has(run)) return void this.#again.add(run);
    // After its commit it comes here again; what it took without one must not be read a second time.
    if (run.head.status !== "active" || isTaking(run)) return;
    if (isBusy(run)) return void checkpoint(run).catch(() => {});
    // What is sent meanwhile must not come before what is read.
    run.more = true;
    this.#reading.add(run);
    void this.#read(run);
  }

  async #read(run: LiveRun): Promise<void> {
    const { standing, live, isTaking, wakeLater, park } = this.#world;
    try {
      const rows = await standing.readInbox(run.name);
      const again = this.#endReading(run);
      if (live(run.name) !== run) return await this.fetch(run.name);
      run.more = again || rows.length >= limits.inboxLoadedMax;
      for (const row of rows) this.bring(run, row);
      if (run.more && !isTaking(run)) this.refill(run);
    } catch (error) {
      this.#endReading(run);
      if (isUnavailable(error)) wakeLater();
      else park(run, error);
    }
  }

  /** Whether there is more to read by now. */
  #endReading(run: LiveRun): boolean {
    this.#reading.delete(run);
    return this.#again.delete(run);
  }

  /** Hands an event from the inbox to a run, unless it has it already. */
  bring(run: LiveRun, row: InboxRow): void {
    if (run.inbox.some((delivery) => delivery.row === row.id)) return;
    const { seal, deliver, park } = this.#world;
    try {
      const event = decode(seal.open(row.bytes, row), `event ${row.id}`) as unknown as Event;
      const priority = eventPriority(run.machine.machine.chart, event);
      const handled = (one: Handled) => this.#hearings.tell(row, one);
      const failed = (error: unknown) => {
        // Nobody knows whether it was taken: if not, it is found again, but whoever waits may never hear of it.
        if (isUnavailable(error)) this.#hearings.refuse(row, error);
        else park(run, error);
      };
      const isAwaited = () => this.#hearings.isAsked(row);
      deliver(run, {
        ...{ event, row: row.id, priority, isAwaited, handled, failed },
        ...(row.key && { key: row.key }),
      });
    } catch (error) {
      park(run, error);
    }
  }

  close(error: unknown): void {
    this.#hearings.close(error);
  }
}
