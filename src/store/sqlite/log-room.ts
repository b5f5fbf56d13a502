/**
 * Room in the write-ahead log. Where a commit makes the log longer, the file system writes down its new length with the
 * sync, which takes two to three times as long as syncing bytes that take the place of others. SQLite begins its log anew
 * after some 1,000 pages, so only the first commits after opening pay for that; here the log gets its length at once.
 *
 * What lies behind a log's last frame is never taken for one, since a frame has the salt of its log and a sum: there are old
 * frames most of the time, and here zeros. They are written while the write lock is held, so that nobody's frames are hit.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { limits } from "../../limits.ts";

export class LogRoom {
  readonly #path: string;
  /** Commits before the log gets its room; none where that would not pay. */
  #commitsLeft: number;

  /** `isSynced` says whether every commit is. */
  constructor(database: string, isSynced: boolean) {
    this.#path = `${database}-wal`;
    this.#commitsLeft = isSynced ? limits.logRoomAfterCommits : Number.POSITIVE_INFINITY;
  }

  /** Counts a commit, and says whether it is the one to make room with. */
  isDue(): boolean {
    return --this.#commitsLeft === 0;
  }

  /** Makes room, inside a transaction that may write. A disk that has none is left as it is: nothing depends on this. */
  make(): void {
    try {
      const file = openSync(this.#path, "r+");
      try {
        lengthen(file);
      } finally {
        closeSync(file);
      }
    } catch {
      // The log grows with its commits, as any other.
    }
  }
}

function lengthen(file: number): void {
  const { size } = fstatSync(file);
  const zeros = new Uint8Array(2 ** 19);
  try {
    for (let end = size; end < limits.logRoomBytes; )
      end += writeSync(file, zeros, 0, Math.min(zeros.length, limits.logRoomBytes - end), end);
  } catch {
    ftruncateSync(file, size);
  }
}
