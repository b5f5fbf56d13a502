/** Search by words with GIN over `tsvector`; `search-functions.ts` has the tables. */
import type { RunName } from "../records.ts";
import { indexedWord, type Search, type WordsChange, type WordsFound, type WordsOutcome } from "../search.ts";
import type { Database } from "./database.ts";

export class PostgresSearch implements Search {
  readonly #database: Pick<Database, "ask" | "write">;

  constructor(database: Pick<Database, "ask" | "write">) {
    this.#database = database;
  }

  async writeWords({ tenant, run }: RunName, change: WordsChange): Promise<WordsOutcome> {
    const put = change.put.map(({ id, words }) => ({ id, words: words.map(indexedWord) }));
    const given = JSON.stringify({ ...change, put });
    const [row] = await this.#database.write("writeWords", [tenant, run, given]);
    return row?.outcome as WordsOutcome;
  }

  async findWords({ tenant, run }: RunName, words: readonly string[], limit: number): Promise<WordsFound> {
    const asked = [tenant, run, words.map(indexedWord), limit + 1];
    const [row] = await this.#database.ask("findWords", asked);
    const ids = row?.ids as readonly string[];
    return { mark: row?.mark as number, ids: ids.slice(0, limit), isCut: ids.length > limit };
  }
}
