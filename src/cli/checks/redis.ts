/** Whether the Redis that workers have as their warm tier answers, and is set up as a cache. It is never needed. */
import { limits } from "../../limits.ts";
import { connectTo } from "../../store/redis/client.ts";
import { within } from "../../store/redis/timing.ts";
import { describe } from "../terminal.ts";
import { bad, type Finding, good, warning } from "./finding.ts";

/** How long it may take to answer somebody who is in no hurry. */
const patienceMs = 2_000;

export async function checkRedis(url: string): Promise<Finding> {
  let connection: Awaited<ReturnType<typeof connectTo>>["connection"] | undefined;
  try {
    const { connected, ...made } = await connectTo({ url });
    connection = made.connection;
    await within(patienceMs, connected);
    const begun = performance.now();
    const answer = connection.isReady
      ? await within(patienceMs, connection.sendCommand(["PING"]))
      : undefined;
    if (answer === undefined) return away(`nobody answers within ${patienceMs / 1_000} s`);
    const tookMs = Math.round(performance.now() - begun);
    const told = await within(patienceMs, connection.sendCommand(["INFO", "memory"]));
    return judgeRedis(tookMs, /^maxmemory_policy:(\S+)/m.exec(String(told))?.[1]);
  } catch (error) {
    return bad("redis", describe(error), "give --redis a URL such as redis://cache.example:6379");
  } finally {
    connection?.destroy();
  }
}

const away = (found: string): Finding =>
  warning(
    "redis",
    found,
    "bring it back or give another --redis; until then workers do without, and are slower",
  );

/** `policy`: what it does when it is full; undefined where it does not say. */
export function judgeRedis(tookMs: number, policy: string | undefined): Finding {
  if (policy === "noeviction")
    return warning(
      "redis",
      "it refuses what is new when it is full",
      "set maxmemory and maxmemory-policy allkeys-lru",
    );
  return tookMs > limits.redisMs
    ? warning(
        "redis",
        `it took ${tookMs} ms to answer`,
        `workers wait ${limits.redisMs} ms: bring it nearer, or do without`,
      )
    : good("redis", `answers in ${tookMs} ms`);
}
