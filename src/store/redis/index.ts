/** The entry `holdfast/redis`: a store with a warm tier in Redis, and signals between processes over it. */
import { limits } from "../../limits.ts";
import { aCount, aText, type Demand, yesOrNo } from "../options.ts";
import type { Signals } from "../signals.ts";
import type { Store } from "../store.ts";
import { checkPlace, type RedisPlace } from "./client.ts";
import { Link } from "./link.ts";
import { redisSignals } from "./signals.ts";
import { WarmTier } from "./warm.ts";

export type { RedisClient, RedisConnection, RedisPlace } from "./client.ts";
export { type RedisSignals, type RedisSignalsOptions, redisSignals } from "./signals.ts";

export type RedisOptions = RedisPlace & {
  /** What its keys begin with; one for each store, `holdfast` unless given. */
  readonly prefix?: string;
  /** How many milliseconds a copy stays: an hour, unless given. */
  readonly ttl?: number;
  /** How many milliseconds Redis may take to answer before the store does without: 50, unless given. */
  readonly deadline?: number;
  /** How many bytes of snapshot and entries a run has before it is copied: 64 KB, unless given. */
  readonly bytesMin?: number;
  /** Copies are signed with it, so that whoever can write into Redis cannot make up states. They are only summed without. */
  readonly secret?: string;
  /** Whether processes that share the store tell one another over Redis what became of runs. Not unless told. */
  readonly signals?: boolean;
};

/** As long as a timer of this process can be. */
const timeMax = 2 ** 31 - 1;

const demands: Readonly<Record<Exclude<keyof RedisOptions, keyof RedisPlace>, Demand>> = {
  prefix: aText,
  ttl: aCount(1, Number.MAX_SAFE_INTEGER, "of milliseconds"),
  deadline: aCount(1, timeMax, "of milliseconds"),
  bytesMin: aCount(0, Number.MAX_SAFE_INTEGER, "of bytes"),
  secret: { ...aText, secret: true },
  signals: yesOrNo,
};

/** What processes that share a store have for one another, as far as it matters here. */
interface Shared {
  readonly fleet?: { readonly signals: Signals };
}

/**
 * The same store with copies of large runs in Redis, for processes that come to a run another one had. Every answer is the
 * store's, whatever Redis says, forgets or fails to say; without Redis it is as fast as the store is. Throws OPTIONS_INVALID
 * for what cannot be meant.
 */
export function withRedis(store: Store, options: RedisOptions): Store {
  checkPlace("withRedis(store, { url })", options, demands);
  const { prefix = "holdfast", ttl = 3_600_000, deadline = limits.redisMs, secret = "" } = options;
  const { bytesMin = limits.copiedBytesMin } = options;
  const link = new Link(options, deadline);
  const tier = new WarmTier(store, link, { prefix, ttlMs: ttl, secret, bytesMin });
  const signals =
    options.signals === true ? redisSignals({ ...options, channel: `${prefix}:runs` }) : undefined;
  const { fleet } = store as Store & Shared;
  const verbs: Partial<Store> & Shared = {
    open: async () => {
      await link.open();
      try {
        await store.open();
      } catch (error) {
        await link.close();
        throw error;
      }
    },
    close: async () => {
      await signals?.close();
      await link.close();
      await store.close();
    },
    load: (name, known) => tier.load(name, known),
    commit: (commits) => tier.commit(commits),
    readContents: (...given) => tier.readContents(...given),
    removeRuns: (...given) => tier.removeRuns(...given),
    pruneJournal: (...given) => tier.pruneJournal(...given),
    mend: (...given) => tier.mend(...given),
    ...(signals && fleet && { fleet: instead(fleet, { signals }) }),
  };
  return instead(store, verbs);
}

/** An object with other members in the place of some of its own. */
function instead<Of extends object>(target: Of, others: object): Of {
  const given = others as Readonly<Record<string | symbol, unknown>>;
  return new Proxy(target, {
    get: (_, name) => {
      if (name in given) return given[name];
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
