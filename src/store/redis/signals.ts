/**
 * Signals between processes over Redis' publish and subscribe. They are hints (`../signals.ts`), so nothing here is tried
 * twice: what could not be sent is lost.
 */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { aText } from "../options.ts";
import type { Heard, Hint, Signals } from "../signals.ts";
import { checkPlace, connectTo, type RedisConnection, type RedisPlace } from "./client.ts";
import { Link } from "./link.ts";
import { after, within } from "./timing.ts";

export type RedisSignalsOptions = RedisPlace & {
  /** Where they are sent; one for each store, `holdfast:runs` unless given. */
  readonly channel?: string;
};

export interface RedisSignals extends Signals {
  /** Ends all connections of its own, once what was sent is out. */
  close(): Promise<void>;
}

/** Signals over a Redis server, within milliseconds while it can be reached. */
export function redisSignals(options: RedisSignalsOptions): RedisSignals {
  checkPlace("redisSignals({ url, channel })", options, { channel: aText });
  const { channel = "holdfast:runs", ...place } = options;
  return new Broadcast(place as RedisPlace, channel);
}

class Broadcast implements RedisSignals {
  readonly #place: RedisPlace;
  readonly #channel: string;
  readonly #link: Link;
  readonly #ears = new Set<Ear>();
  /** Sending begins with connecting, once. */
  #opened: Promise<void> | undefined;
  readonly #sending = new Set<Promise<void>>();

  constructor(place: RedisPlace, channel: string) {
    this.#place = place;
    this.#channel = channel;
    this.#link = new Link(place, limits.redisMs);
  }

  async send(names: readonly Hint[], from: number): Promise<void> {
    // Whoever listens is told that the package is missing.
    const sending = this.#publish(names, from).catch(() => {});
    this.#sending.add(sending);
    await sending;
    this.#sending.delete(sending);
  }

  async #publish(names: readonly Hint[], from: number): Promise<void> {
    this.#opened ??= this.#link.open();
    await this.#opened;
    await Promise.all(
      messagesOf(names, from).map((message) => this.#link.ask("PUBLISH", this.#channel, message)),
    );
  }

  async listen(heard: Heard, deaf: () => void): Promise<() => Promise<void>> {
    const ear = new Ear(heard, () => {
      this.#ears.delete(ear);
      deaf();
    });
    this.#ears.add(ear);
    await ear.open(this.#place, this.#channel);
    return async () => {
      this.#ears.delete(ear);
      ear.close();
    };
  }

  async close(): Promise<void> {
    for (const ear of this.#ears) ear.close();
    this.#ears.clear();
    await Promise.all(this.#sending);
    await this.#link.close();
    this.#opened = undefined;
  }
}

/** A connection that listens until it is lost, or nothing is heard of it any more. */
class Ear {
  readonly #heard: Heard;
  readonly #deaf: () => void;
  #connection: RedisConnection | undefined;
  #isClosed = false;
  #cancel: () => void = () => {};

  constructor(heard: Heard, deaf: () => void) {
    this.#heard = heard;
    this.#deaf = deaf;
  }

  /** Resolves when it hears; throws STORE_UNAVAILABLE if it cannot. */
  async open(place: RedisPlace, channel: string): Promise<void> {
    const { connection, connected } = await connectTo(place);
    this.#connection = connection;
    const listens = connected
      .then(() => connection.subscribe(channel, (message) => this.#tell(message)))
      .then(() => true);
    if ((await within(limits.redisSilentMsMax, listens)) !== true || this.#isClosed) {
      this.close();
      throw new HoldfastError("STORE_UNAVAILABLE", "Redis cannot be listened to: there is no connection");
    }
    // It would come back by itself, but what was said meanwhile would be missed without a word.
    connection.on("error", () => this.#lose());
    this.#watch(connection);
  }

  /** A server that hangs, or a network that is cut, says nothing: so it is asked. */
  #watch(connection: RedisConnection): void {
    this.#cancel = after(limits.redisPingMs, async () => {
      const answer = await within(limits.redisSilentMsMax, connection.sendCommand(["PING"]));
      if (this.#isClosed) return;
      if (answer === undefined) this.#lose();
      else this.#watch(connection);
    });
  }

  #lose(): void {
    if (this.#isClosed) return;
    this.close();
    this.#deaf();
  }

  #tell(message: string): void {
    const told = read(message);
    if (told !== undefined && !this.#isClosed) this.#heard(told.names, told.from);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.destroy();
  }
}

/** What is to be sent to tell of these runs; of none, or of too many, that it may be any. */
function messagesOf(names: readonly Hint[], from: number): string[] {
  if (names.length === 0 || names.length > limits.signalledRunsMax * limits.signalsMax)
    return [JSON.stringify([from, null])];
  const messages: string[] = [];
  for (let first = 0; first < names.length; first += limits.signalledRunsMax) {
    const some = names.slice(first, first + limits.signalledRunsMax);
    const told = some.map(({ tenant, run, since }) =>
      since === undefined ? [tenant, run] : [tenant, run, since],
    );
    messages.push(JSON.stringify([from, told]));
  }
  return messages;
}

/** What a message tells; undefined if it is not one of ours. */
function read(
  message: string,
): { readonly names: readonly Hint[] | undefined; readonly from: number } | undefined {
  let told: unknown;
  try {
    told = JSON.parse(message);
  } catch {
    return undefined;
  }
  const [from, pairs] = Array.isArray(told) ? told : [];
  if (!Number.isSafeInteger(from)) return undefined;
  if (pairs === null) return { names: undefined, from };
  if (!Array.isArray(pairs)) return undefined;
  const names = pairs.slice(0, limits.signalledRunsMax).flatMap((pair: unknown) => {
    const [tenant, run, since] = Array.isArray(pair) ? pair : [];
    if (!isName(tenant) || !isName(run)) return [];
    return Number.isSafeInteger(since) ? { tenant, run, since: since as number } : { tenant, run };
  });
  return names.length === 0 ? undefined : { names, from };
}

function isName(name: unknown): name is string {
  return typeof name === "string" && name.length <= limits.nameLengthMax;
}
