/** What a PostgreSQL store can be told. */

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
