/**
 * One connection of a pool that is kept between statements. A pool takes a connection out, sets and clears its timers and
 * puts it back for every statement, which takes about as long as everything else the driver does for a short one.
 *
 * One statement at a time goes this way; what comes meanwhile is left to the pool. After any error the connection is given up,
 * and the next statement gets another one. It does not keep a process from ending while nobody waits for an answer.
 */
import type { PostgresClient, PostgresPool, Query } from "./connect.ts";
import { Prepared } from "./prepared.ts";

type Answer = ReturnType<PostgresPool["query"]>;

/** What a client of `pg` has besides. */
interface KeptClient extends Omit<PostgresClient, "query"> {
  query(query: Query): Answer;
  query(prepared: Prepared): void;
  ref?(): void;
  unref?(): void;
}

export class Kept {
  readonly #pool: PostgresPool;
  #client: KeptClient | undefined;
  #isBusy = false;
  #isClosed = false;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** One that has a name must not give rows. */
  async query(query: Query): Answer {
    if (this.#isBusy || this.#isClosed) return this.#pool.query(query);
    this.#isBusy = true;
    try {
      const client = this.#client ?? (await this.#take());
      client.ref?.();
      const answer = await (query.name === undefined ? client.query(query) : counted(client, query));
      client.unref?.();
      return answer;
    } catch (error) {
      this.#drop(this.#client);
      throw error;
    } finally {
      this.#isBusy = false;
      if (this.#isClosed) this.#drop(this.#client);
    }
  }

  async #take(): Promise<KeptClient> {
    const client = (await this.#pool.connect()) as unknown as KeptClient;
    this.#client = client;
    // One that dies while nobody uses it is given up, and whoever waits for it hears of that by the statement.
    const died = () => this.#drop(client);
    client.on?.("error", died);
    client.on?.("end", died);
    return client;
  }

  #drop(client: KeptClient | undefined): void {
    if (client === undefined || client !== this.#client) return;
    this.#client = undefined;
    client.release(true);
  }

  /** Gives the connection up, once a statement that is under way has its answer. */
  close(): void {
    this.#isClosed = true;
    if (!this.#isBusy) this.#drop(this.#client);
  }
}

function counted(client: KeptClient, query: Query): Answer {
  return new Promise((resolve, reject) => {
    client.query(
      new Prepared(query, (error, rowCount) => (error ? reject(error) : resolve({ rows: [], rowCount }))),
    );
  });
}
