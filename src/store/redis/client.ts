/** The way to a Redis server: somebody's client or one of our own. */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";

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
