/** What a PostgreSQL store can be told. */
import { aCount, checkOptions, type Demand, invalid, oneOf, yesOrNo } from "../options.ts";

export interface PostgresOptions {
  /** The schema its tables are in, made by `open` if it is not there: `holdfast`, unless given. */
  readonly schema?: string;
  /**
   * Whose clock leases are measured by. `database`, unless told otherwise: workers need not agree about the time, and
   * what they are told is put in terms of the time they gave. `caller` takes the time that comes with the call.
   */
  readonly clock?: "database" | "caller";
  /**
   * `full`, unless told otherwise: what was answered survives power loss of the server; one that does not sync its files
   * is refused. `server` takes the server's settings as they are.
   */
  readonly synchronous?: "full" | "server";
  /** Whether several processes share it, each a member of a fleet: they do, unless told otherwise. */
  readonly shared?: boolean;
  /**
   * Where a process hears from the others: a URL that leads to the server itself, if the store's own goes through a pooler
   * that gives every statement another connection. One connection of the store's own pool, unless given, if that has three or
   * more; false for nowhere: it looks by itself then.
   */
  readonly listen?: string | false;
  /**
   * How many partitions the journal is divided into when `open` makes it: 1, unless given. It stays as it was made. They
   * are for journals that are too large to be looked after in one piece; reading and writing take longer with them.
   */
  readonly partitions?: number;
}

/** More would take the server minutes to make, and longer to plan for than they save. */
const partitionsMax = 1_024;

/** A name that the server takes as it is: it cuts longer ones, keeps some for itself, and our functions stand between `$$`. */
export const aName: Demand = {
  is: (given) =>
    typeof given === "string" &&
    given !== "" &&
    Buffer.byteLength(given) <= 63 &&
    given.isWellFormed() &&
    !/^pg_|\0|\$\$/.test(given),
  wanted: "a name of 1 to 63 bytes that does not begin with pg_ and has no $$ in it",
};

const demands: Readonly<Record<keyof PostgresOptions, Demand>> = {
  schema: aName,
  clock: oneOf("database", "caller"),
  synchronous: oneOf("full", "server"),
  shared: yesOrNo,
  listen: {
    is: (given) => given === false || isAddress(given),
    wanted: "a URL, as postgres://user:password@host:port/database, or false",
    secret: true,
  },
  partitions: aCount(1, partitionsMax, "of partitions"),
};

/** Throws OPTIONS_INVALID for what no store can be made of. An address is not shown, since it may have a password in it. */
export function checkPostgres(server: unknown, options: unknown): void {
  const isPool = typeof (server as { readonly query?: unknown } | null | undefined)?.query === "function";
  if (!isPool && !isAddress(server))
    throw invalid("Write postgres(url), as postgres://user:password@host:port/database, or postgres(pool)");
  checkOptions("postgres(url, { schema })", options, demands);
}

/** Whether it is an address in any of the forms that the driver takes. */
const isAddress = (given: unknown): boolean =>
  typeof given === "string" && /^(postgres(ql)?:\/\/|socket:|\/)/.test(given);
