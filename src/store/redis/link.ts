/**
 * Asking Redis without ever depending on it.
 *
 * L1. A question is answered in time or not at all: undefined stands for down, slow, full and wrong alike.
 * L2. After some failures in a row it is left alone for a while; then one question tries whether it is back.
 * L3. It is not asked while many questions wait already, so a server that hangs costs no memory.
 * L4. A connection of our own that has been silent for long is made anew: the other end may have gone without a word.
 */
import { limits } from "../../limits.ts";
import { connectTo, type RedisClient, type RedisConnection, type RedisPlace } from "./client.ts";
import { now, within } from "./timing.ts";

/** RESP's type of texts, which are to come as bytes. */
const asBytes = { typeMapping: { 36: Buffer } };

export class Link {
  readonly #place: RedisPlace;
  readonly #deadlineMs: number;
  #client: RedisClient | undefined;
  /** One of our own, to be ended. */
  #connection: RedisConnection | undefined;
  readonly #waiting = new Set<Promise<unknown>>();
  #failures = 0;
  #closedUntil = 0;
  #isTrying = false;
  #heardAt = 0;

  constructor(place: RedisPlace, deadlineMs: number) {
    this.#place = place;
    this.#deadlineMs = deadlineMs;
  }

  /** Connects, and goes on trying if that takes long. Throws only if the package is missing. */
  async open(): Promise<void> {
    if (this.#client !== undefined) return;
    this.#client = this.#place.client;
    this.#heardAt = now();
    if (this.#client !== undefined) return;
    const { connection, connected } = await connectTo(this.#place);
    this.#connection = connection;
    this.#client = connection;
    await within(limits.redisRestMs, connected);
  }

  /** Ends a connection of our own, once it has said what it was to say or its time is up. */
  async close(): Promise<void> {
    await within(this.#deadlineMs, Promise.allSettled(this.#waiting));
    this.#connection?.destroy();
    this.#connection = undefined;
    this.#client = undefined;
    this.#failures = 0;
    this.#closedUntil = 0;
  }

  /** Whether it would not be asked now (L2, L3). */
  get rests(): boolean {
    if (this.#client === undefined || this.#waiting.size >= limits.redisWaitingMax) return true;
    return this.#failures >= limits.redisFailuresMax && (this.#isTrying || now() < this.#closedUntil);
  }

  /** The answer to a command, with texts as bytes; null where Redis has nothing. Undefined: there is no answer (L1). */
  async ask(...command: readonly (string | Buffer)[]): Promise<unknown> {
    if (this.rests) return undefined;
    const isTrial = this.#failures >= limits.redisFailuresMax;
    this.#isTrying ||= isTrial;
    const asked = sent(this.#client as RedisClient, command);
    this.#waiting.add(asked);
    const done = (): boolean => this.#waiting.delete(asked);
    asked.then(done, done);
    const answer = await within(this.#deadlineMs, asked);
    if (isTrial) this.#isTrying = false;
    if (answer === undefined) this.#fail();
    else this.#hear();
    return answer;
  }

  #hear(): void {
    this.#failures = 0;
    this.#heardAt = now();
  }

  #fail(): void {
    this.#failures++;
    if (this.#failures >= limits.redisFailuresMax) this.#closedUntil = now() + limits.redisRestMs;
    if (this.#connection?.isReady === true && now() - this.#heardAt > limits.redisSilentMsMax) this.#renew();
  }

  #renew(): void {
    const silent = this.#connection;
    this.#heardAt = now();
    silent?.destroy();
    void connectTo(this.#place).then(({ connection }) => {
      // It may have been closed meanwhile.
      if (this.#connection !== silent) return connection.destroy();
      this.#connection = connection;
      this.#client = connection;
    });
  }
}

/** Asynchronous from the beginning: a client may also throw. */
async function sent(client: RedisClient, command: readonly (string | Buffer)[]): Promise<unknown> {
  try {
    return await client.sendCommand(command, asBytes);
  } catch (error) {
    if (isOfKey(error)) return null;
    throw error;
  }
}

/** Whether Redis says that a key holds something of another kind: it is well, and has nothing for us there. */
function isOfKey(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("WRONGTYPE ");
}
