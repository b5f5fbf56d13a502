/**
 * Signals between processes over Redis' publish and subscribe. They are hints (`../signals.ts`), so nothing here is tried
 * twice: what could not be sent is lost, and whoever listens is told that anything may have been missed once it hears again.
 */
import { limits } from "../../limits.ts";
import type { RunName } from "../records.ts";
import { RunMap } from "../run-map.ts";
import type { Signals } from "../signals.ts";
import { connectTo, type RedisConnection, type RedisPlace } from "./client.ts";
import { Link } from "./link.ts";
import { after, within } from "./timing.ts";

export type RedisSignalsOptions = RedisPlace & {
  /** Where they are sent; one for each store, `holdfast:runs` unless given. */
  readonly channel?: string;
};

export interface RedisSignals extends Signals {
  /** Sends what was gathered, and ends all connections of its own. */
  close(): Promise<void>;
}

type Heard = Parameters<Signals["listen"]>[0];

/** Signals over a Redis server, within milliseconds while it can be reached. */
export function redisSignals(options: RedisSignalsOptions): RedisSignals {
  const { channel = "holdfast:runs", ...place } = options;
  return new Broadcast(place as RedisPlace, channel);
}

/** Anything may have changed. */
const anything = "*";

class Broadcast implements RedisSignals {
  readonly #place: RedisPlace;
  readonly #channel: string;
  readonly #link: Link;
  readonly #ears = new Set<Ear>();
  #gathered = new RunMap<RunName>();
  #cancel: (() => void) | undefined;

  constructor(place: RedisPlace, channel: string) {
    this.#place = place;
    this.#channel = channel;
    this.#link = new Link(place, limits.redisMs);
  }

  send(names: readonly RunName[]): void {
    for (const { tenant, run } of names) this.#gathered.set({ tenant, run }, { tenant, run });
    if (this.#gathered.size > 0)
      this.#cancel ??= after(limits.signalsGatheredMs, () => {
        // Whoever listens is told that the package is missing.
        this.#flush().catch(() => {});
      });
  }

  async #flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const names = [...this.#gathered.values()];
    this.#gathered = new RunMap();
    await this.#link.open();
    await Promise.all(messagesOf(names).map((message) => this.#link.ask("PUBLISH", this.#channel, message)));
  }

  async listen(heard: Heard): Promise<() => Promise<void>> {
    const ear = new Ear(this.#place, this.#channel, heard);
    this.#ears.add(ear);
    await ear.open();
    return async () => {
      this.#ears.delete(ear);
      ear.close();
    };
  }

  async close(): Promise<void> {
    if (this.#cancel !== undefined) await this.#flush();
    for (const ear of this.#ears) ear.close();
    this.#ears.clear();
    await this.#link.close();
  }
}

/** A connection that listens, and is made anew when nothing is heard from it. */
class Ear {
  readonly #place: RedisPlace;
  readonly #channel: string;
  readonly #heard: Heard;
  #connection: RedisConnection | undefined;
  #isClosed = false;
  #cancel: (() => void) | undefined;

  constructor(place: RedisPlace, channel: string, heard: Heard) {
    this.#place = place;
    this.#channel = channel;
    this.#heard = heard;
  }

  /** Returns once it hears; if that takes too long it goes on trying, and says `undefined` when it does. */
  async open(): Promise<void> {
    const { connection } = await connectTo(this.#place);
    if (this.#isClosed) return connection.destroy();
    this.#connection = connection;
    let isLate = false;
    let isFirst = true;
    const listens = new Promise<void>((resolve) => {
      connection.on("ready", () => {
        // A connection that is made again subscribes by itself, and missed what was said meanwhile.
        const subscribed = isFirst
          ? connection.subscribe(this.#channel, (message) => this.#tell(message))
          : Promise.resolve();
        const missed = isLate || !isFirst;
        isFirst = false;
        subscribed.then(
          () => {
            if (missed) this.#say(undefined);
            resolve();
          },
          () => {},
        );
      });
    });
    await within(limits.redisSilentMsMax, listens);
    isLate = true;
    this.#watch(connection);
  }

  #watch(connection: RedisConnection): void {
    if (this.#isClosed) return;
    this.#cancel = after(limits.redisPingMs, async () => {
      const asked = connection.isReady ? connection.sendCommand(["PING"]) : Promise.resolve("not yet");
      const answer = await within(limits.redisSilentMsMax, asked);
      if (this.#isClosed) return;
      if (answer !== undefined) return this.#watch(connection);
      connection.destroy();
      await this.open();
      this.#say(undefined);
    });
  }

  #tell(message: string): void {
    if (message === anything) this.#say(undefined);
    const names = namesIn(message);
    if (names.length > 0) this.#say(names);
  }

  #say(names: readonly RunName[] | undefined): void {
    if (!this.#isClosed) this.#heard(names);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#connection?.destroy();
  }
}

/** What is to be sent to tell of these runs. */
function messagesOf(names: readonly RunName[]): string[] {
  if (names.length > limits.signalledRunsMax * limits.signalsMax) return [anything];
  const messages: string[] = [];
  for (let from = 0; from < names.length; from += limits.signalledRunsMax)
    messages.push(
      JSON.stringify(
        names.slice(from, from + limits.signalledRunsMax).map(({ tenant, run }) => [tenant, run]),
      ),
    );
  return messages;
}

/** The runs that a message tells of; none if it is not one of ours. */
function namesIn(message: string): RunName[] {
  let told: unknown;
  try {
    told = JSON.parse(message);
  } catch {
    return [];
  }
  if (!Array.isArray(told)) return [];
  return told.slice(0, limits.signalledRunsMax).flatMap((pair: unknown) => {
    const [tenant, run] = Array.isArray(pair) ? pair : [];
    return isName(tenant) && isName(run) ? { tenant, run } : [];
  });
}

function isName(name: unknown): name is string {
  return typeof name === "string" && name.length <= limits.nameLengthMax;
}
