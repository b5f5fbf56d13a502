/** The way to a Redis server: somebody's client or one of our own. */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { checkOptions, type Demand, invalid } from "../options.ts";

/** What is used of a client of the package `redis`, as `createClient` makes it. */
export interface RedisClient {
  readonly isReady: boolean;
  sendCommand(
    given: readonly (string | Buffer)[],
    options?: { readonly typeMapping?: Record<number, unknown> },
  ): Promise<unknown>;
  /** Another connection to the same server, not connected yet. */
  duplicate(): RedisConnection;
}

/** A connection of our own. */
export interface RedisConnection extends RedisClient {
  connect(): Promise<unknown>;
  subscribe(channel: string, heard: (message: string) => void): Promise<unknown>;
  on(event: "error" | "ready", happened: () => void): unknown;
  unref(): void;
  destroy(): void;
}

/** Where Redis is: its URL, or a client that is connected, and stays so when whoever was given it ends. */
export type RedisPlace =
  | { readonly url: string; readonly client?: never }
  | { readonly client: RedisClient; readonly url?: never };

const demands: Readonly<Record<keyof RedisPlace, Demand>> = {
  url: {
    is: (given) => typeof given === "string" && /^rediss?:\/\/./.test(given) && URL.canParse(given),
    wanted: "the address of a Redis, as redis://user:password@host:6379",
    secret: true,
  },
  client: {
    is: (given) => typeof (given as Partial<RedisClient> | null)?.sendCommand === "function",
    wanted: "what createClient of the package redis gives",
    secret: true,
  },
};

/** Throws OPTIONS_INVALID for options that name no Redis, or of which one is not what it must be. */
export function checkPlace(usage: string, options: unknown, more: Readonly<Record<string, Demand>>): void {
  checkOptions(usage, options, { ...demands, ...more });
  const { url, client } = options as Partial<RedisPlace>;
  if ((url === undefined) === (client === undefined))
    throw invalid(`Write ${usage}: either url or client says where Redis is`);
}

/** A connection that is being made, and made again whenever it is lost; what is asked while there is none fails at once. */
export async function connectTo(
  place: RedisPlace,
): Promise<{ readonly connection: RedisConnection; readonly connected: Promise<unknown> }> {
  const connection = place.client?.duplicate() ?? (await createConnection(place.url as string));
  // Whoever asks is told by the answer; an error that nobody listens to would end the process.
  connection.on("error", () => {});
  // It goes on trying by itself; that it was ended before it got through is no news.
  const connected = connection.connect().catch(() => {});
  connection.unref();
  return { connection, connected };
}

/** `redis` is loaded only here, since whoever brings a client has it already and all others have no need of it. */
async function createConnection(url: string): Promise<RedisConnection> {
  const { createClient } = await import("redis").catch((cause: unknown) => {
    throw new HoldfastError("STORE_UNAVAILABLE", "Redis needs the package redis: npm install redis", {
      cause,
    });
  });
  return createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: limits.redisSilentMsMax,
      reconnectStrategy: (retries) => Math.min(limits.redisReconnectMsMax, 20 * 2 ** Math.min(retries, 10)),
    },
  });
}
