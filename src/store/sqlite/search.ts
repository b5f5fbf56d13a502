/**
 * Search by words with FTS5. A word stands in the index with the number of its run before it, so what a run is asked for is
 * never looked up among the words of others. They come as words already: the tokenizer has only to part them at spaces, and
 * knows every letter outside ASCII for one.
 *
 * `secure-delete` is set on the index, and on pages while it is written: what is removed is overwritten and not only marked.
 * Older pages may stand in the write-ahead log until that is emptied.
 */
import type { DatabaseSync } from "node:sqlite";
import type { RunName } from "../records.ts";
import { indexedWord, type Search, type WordsChange, type WordsFound, type WordsOutcome } from "../search.ts";
import type { Statements } from "./queries.ts";

interface Connection {
  readonly database: DatabaseSync;
  readonly statements: Statements;
}

/** How the store does several statements as one. */
export type Transact = <Answer>(work: (connection: Connection) => Answer) => Promise<Answer>;

export function sqliteSearch(read: Transact, write: Transact): Search {
  return {
    findWords: (name, words, limit) => read(({ statements }) => find(statements, name, { words, limit })),
    writeWords: (name, change) =>
      write(({ database, statements }) => {
        database.exec("PRAGMA secure_delete = ON");
        try {
          return writeAll(statements, name, change);
        } finally {
          database.exec("PRAGMA secure_delete = OFF");
        }
      }),
  };
}

/** No word has this sign, and the tokenizer takes it for a letter. */
const token = (run: number, word: string): string => `${run}·${indexedWord(word)}`;

function find(
  statements: Statements,
  { tenant, run }: RunName,
  { words, limit }: { readonly words: readonly string[]; readonly limit: number },
): WordsFound {
  const id = statements.readRunStatus.get(tenant, run)?.id as number | undefined;
  const mark = id === undefined ? 0 : markOf(statements, id);
  if (id === undefined || mark === 0 || words.length === 0) return { mark, ids: [], isCut: false };
  const query = words.map((word) => `"${token(id, word)}"`).join(" OR ");
  const ids = statements.findWords.all(query, limit + 1).map((row) => row.id as string);
  return { mark, ids: ids.slice(0, limit), isCut: ids.length > limit };
}

function writeAll(
  statements: Statements,
  { tenant, run }: RunName,
  { expect, mark, put, remove }: WordsChange,
): WordsOutcome {
  const row = statements.readRunStatus.get(tenant, run);
  if (row === undefined || !["active", "parked"].includes(row.status as string)) return "missing";
  const id = row.id as number;
  const before = markOf(statements, id);
  if (before === mark) return "written";
  if (before > mark || (expect !== undefined && before !== expect)) return "stale";
  if (expect === undefined) {
    statements.sweepWords.run(id, -1);
    statements.sweepTexts.run(id, -1);
  }
  for (const text of [...remove, ...put.map((one) => one.id)]) {
    const known = statements.deleteText.get(id, text);
    if (known !== undefined) statements.deleteWords.run(known.number as number);
  }
  for (const { id: text, words } of put) {
    const { lastInsertRowid } = statements.insertText.run(id, text);
    statements.insertWords.run(lastInsertRowid, words.map((word) => token(id, word)).join(" "));
  }
  statements.writeMark.run(id, mark);
  return "written";
}

function markOf(statements: Statements, id: number): number {
  return (statements.readMark.get(id)?.mark as number | undefined) ?? 0;
}
