/**
 * The limit: `pg` by hand, with no more than it takes to resume. A step is one row with the whole state as JSON and an
 * index that finds the newest of a run; nothing is checked, and nobody hears of it. `rawSingle` writes each row by itself,
 * through as many connections as a pool has; `rawGrouped` puts everything that became ready while the last statement was
 * under way into the next one. `bareGrouped` is the ceiling: ready-made rows of 300 bytes without an index.
 */
import pg from "pg";
import { type Contestant, eachAfterTheOther, type Opened, type State, stateAfter } from "./workload.ts";

const table = `CREATE TABLE IF NOT EXISTS step
  (run text NOT NULL, n bigint NOT NULL, body text NOT NULL, PRIMARY KEY (run, n))`;

async function openPool(url: string, max: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max });
  const { rows } = await pool.query(
    "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit",
  );
  if (rows[0].fsync !== "on" || rows[0].commit !== "on") throw new Error("The server does not sync");
  return pool;
}

type Write = (run: string, state: State) => Promise<unknown>;

function openedWith(pool: pg.Pool, write: Write): Opened {
  const newest = async (run: string): Promise<State> => {
    const { rows } = await pool.query("SELECT body FROM step WHERE run = $1 ORDER BY n DESC LIMIT 1", [run]);
    return JSON.parse(rows[0].body) as State;
  };
  return {
    begin: async (runs) => void (await Promise.all(runs.map((run) => write(run, stateAfter(0))))),
    async take(run, steps, lap) {
      let state = stateAfter(0);
      await eachAfterTheOther(steps, lap, () => {
        state = { ...state, n: state.n + 1 };
        return write(run, state);
      });
    },
    read: (runs) => Promise.all(runs.map(async (run) => (await newest(run)).n)),
    close: () => pool.end(),
  };
}

export const rawSingle: Contestant = {
  async open({ url }) {
    const pool = await openPool(url, 10);
    await pool.query(table);
    const text = "INSERT INTO step VALUES ($1, $2, $3)";
    return openedWith(pool, (run, state) => pool.query(text, [run, state.n, JSON.stringify(state)]));
  },
};

export const rawGrouped: Contestant = {
  async open({ url }) {
    const pool = await openPool(url, 2);
    await pool.query(table);
    const text = "INSERT INTO step SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])";
    const write = grouped<{ run: string; state: State }>((items) =>
      pool.query(text, [
        items.map(({ run }) => run),
        items.map(({ state }) => state.n),
        items.map(({ state }) => JSON.stringify(state)),
      ]),
    );
    return openedWith(pool, (run, state) => write({ run, state }));
  },
};

const row = Buffer.alloc(300, "a row of three hundred bytes; ").toString();

export const bareGrouped: Contestant = {
  async open({ url }) {
    const pool = await openPool(url, 2);
    await pool.query("CREATE TABLE IF NOT EXISTS bare (run text NOT NULL, body text NOT NULL)");
    const text = "INSERT INTO bare SELECT run, $2 FROM unnest($1::text[]) run";
    const write = grouped<string>((runs) => pool.query(text, [runs, row]));
    return {
      begin: async () => {},
      take: (run, steps, lap) => eachAfterTheOther(steps, lap, () => write(run)),
      async read(runs) {
        const { rows } = await pool.query("SELECT run, count(*)::int AS count FROM bare GROUP BY run");
        const counts = new Map(rows.map(({ run, count }) => [run, count as number]));
        return runs.map((run) => counts.get(run) ?? 0);
      },
      close: () => pool.end(),
    };
  },
};

/** Writes one group at a time; what comes meanwhile is the next group. */
function grouped<Item>(write: (items: readonly Item[]) => Promise<unknown>): (item: Item) => Promise<void> {
  let waiting: { item: Item; done: () => void; failed: (error: unknown) => void }[] = [];
  let isWriting = false;
  const flush = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        await write(group.map(({ item }) => item));
        for (const { done } of group) done();
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    isWriting = false;
  };
  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      if (isWriting) return;
      isWriting = true;
      setImmediate(() => void flush());
    });
}
