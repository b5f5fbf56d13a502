/**
 * Being woken by the database, where that works. A pooler in transaction mode takes a LISTEN and never passes anything on,
 * so it is tried out: what is said on another connection must be heard on this one.
 */
import type { PostgresClient, PostgresPool } from "../../store/postgres/connect.ts";
import { quote } from "../../store/postgres/migrate.ts";
import type { Clock } from "../clock.ts";

/** How long the trial may take. Those who fail it only poll. */
const trialMs = 2_000;
/** How long to wait before a connection that was lost is made again. */
const againMs = 5_000;

interface Notification {
  readonly payload?: string | undefined;
}

/** What listening needs of a connection of `pg` beside what the store does. */
interface ListeningClient extends PostgresClient {
  on(event: "notification", listener: (message: Notification) => void): unknown;
  on(event: "error" | "end", listener: () => void): unknown;
}

export interface ListenWorld {
  readonly pool: PostgresPool;
  readonly clock: Clock;
  readonly channel: string;
  /** A word that nobody else says. */
  readonly trial: string;
  /** Says it on the channel, by another connection. */
  say(word: string): Promise<void>;
  /** Something was heard. */
  wake(): void;
}

export class Listener {
  readonly #world: ListenWorld;
  #client: ListeningClient | undefined;
  #heard: () => void = () => {};
  #stopTimer: () => void = () => {};
  #isListening = false;
  #closed = false;

  constructor(world: ListenWorld) {
    this.#world = world;
  }

  /** Whether whatever is said is heard, as far as can be known. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** Tries to listen; resolves when it is known whether that works. */
  async open(): Promise<void> {
    try {
      const client = (await this.#world.pool.connect()) as ListeningClient;
      if (this.#closed || typeof client.on !== "function") return client.release();
      this.#client = client;
      client.on("error", () => this.#lose(client));
      client.on("end", () => this.#lose(client));
      client.on("notification", ({ payload }) => this.#hear(payload));
      await client.query({ text: `LISTEN ${quote(this.#world.channel)}` });
      this.#isListening = await this.#try();
    } catch {
      this.#isListening = false;
    }
    if (!this.#isListening) this.#drop();
    // What was said before is not said again.
    else this.#world.wake();
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer();
    this.#drop();
  }

  #try(): Promise<boolean> {
    const { clock, trial, say } = this.#world;
    return new Promise((resolve) => {
      this.#stopTimer = clock.after(trialMs, () => resolve(false));
      this.#heard = () => {
        this.#stopTimer();
        resolve(true);
      };
      say(trial).catch(() => resolve(false));
    });
  }

  #hear(payload: string | undefined): void {
    if (payload === this.#world.trial) this.#heard();
    else if (this.#isListening) this.#world.wake();
  }

  /** A connection that listened is gone: another one is tried in a while. */
  #lose(client: ListeningClient): void {
    if (this.#client !== client) return;
    const worked = this.#isListening;
    this.#drop();
    if (worked && !this.#closed)
      this.#stopTimer = this.#world.clock.after(againMs, () => void this.#openAgain());
  }

  async #openAgain(): Promise<void> {
    await this.open();
    if (!this.#isListening && !this.#closed)
      this.#stopTimer = this.#world.clock.after(againMs, () => void this.#openAgain());
  }

  /** It is not given back to the pool, where it would go on listening. */
  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#isListening = false;
    client?.release(true);
  }
}
