/**
 * The copies of runs in Redis: putting them, adding to them, reading them.
 *
 * A copy is a hash: where it stands (`seq`, `digest`) and its pieces, each under the checkpoint it leads to. What a run
 * adds between two snapshots is gathered until it is worth a piece, so that whoever comes next has little left to read,
 * every entry goes to Redis once, and most commits cost no command.
 *
 * W3. An older copy does not replace a newer one, however late it is written, unless the newer one was found wrong; and a
 *     piece is added only to the copy that it was made for.
 */
import { limits } from "../../limits.ts";
import type { EntryRow, RunName } from "../records.ts";
import { RunMap } from "../run-map.ts";
import type { KnownCheckpoint, LoadedRun } from "../store.ts";
import { check, decodePiece, encodePiece, joinPieces, keys, type Piece, sign, sizeOf } from "./copy.ts";
import type { Link } from "./link.ts";

/** Stands for a copy that makes no sense at all. */
export const nonsense = "*";

/** Puts a copy unless there is one that is as new; one that was found wrong, by its digest, is replaced all the same. */
const putScript = `
local there = redis.pcall('HMGET', KEYS[1], 'seq', 'digest')
if not there.err and there[1] and there[2] and there[2] ~= ARGV[5] and ARGV[5] ~= '*' then
  local seq = tonumber(there[1])
  if seq and seq >= tonumber(ARGV[1]) then return 0 end
end
redis.call('UNLINK', KEYS[1])
redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'digest', ARGV[2], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`;

/** Adds a piece to the copy that is at the checkpoint it goes on from. */
const addScript = `
local there = redis.pcall('HMGET', KEYS[1], 'seq', 'digest')
if there.err or there[1] ~= ARGV[5] or there[2] ~= ARGV[6] then return 0 end
redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'digest', ARGV[2], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`;

export interface CopyOptions {
  readonly prefix: string;
  readonly ttlMs: number;
  readonly secret: string;
  readonly bytesMin: number;
}

/** A copy that this process put or read, and what the run has added since. */
interface Tail extends KnownCheckpoint {
  readonly rows: EntryRow[];
  bytes: number;
}

/** What was found in Redis: where a copy says it stands, and the copy itself when it comes. */
export interface FoundCopy {
  readonly place: KnownCheckpoint | typeof nonsense | undefined;
  open(known: KnownCheckpoint): Promise<Pick<LoadedRun, "snapshot" | "entries"> | undefined>;
}

export class Copies {
  readonly #link: Link;
  readonly #options: CopyOptions;
  /** Runs that were too small for a copy when they were last seen; Redis is not asked for them. */
  readonly #small = new RunMap<true>();
  readonly #tails = new RunMap<Tail>();

  constructor(link: Link, options: CopyOptions) {
    this.#link = link;
    this.#options = options;
  }

  isSmall(name: RunName): boolean {
    return this.#small.get(name) !== undefined;
  }

  async find(name: RunName): Promise<FoundCopy> {
    const key = this.#key(name);
    const place = this.#link.ask("HMGET", key, "seq", "digest");
    // Sent at once as well: the pieces come while the store looks.
    const all = this.#link.ask("HGETALL", key);
    return {
      place: placeOf(await place),
      open: async (known) => {
        const pieces = piecesIn(await all).map((bytes) => check(this.#options.secret, key, bytes));
        return pieces.some((bytes) => bytes === undefined)
          ? undefined
          : joinPieces(
              pieces.map((bytes) => decodePiece(bytes as Buffer)),
              known,
            );
      },
    };
  }

  /** Puts a copy of a run, if it is worth one; `wrong` is the digest of one that was found wrong. */
  put(name: RunName, piece: Piece, wrong = ""): void {
    const size = sizeOf(piece);
    this.#tails.delete(name);
    this.#note(name, size < this.#options.bytesMin);
    if (size < this.#options.bytesMin || size > limits.copiedBytesMax || this.#link.rests) return;
    void this.#send(putScript, name, piece, [wrong]);
    this.#follow(name, piece);
  }

  #note(name: RunName, isSmall: boolean): void {
    if (!isSmall) this.#small.delete(name);
    else {
      if (this.#small.size >= limits.liveRunsMax) this.#small.clear();
      this.#small.set(name, true);
    }
  }

  /** Remembers a copy that is at a checkpoint, and the entries after it. */
  follow(name: RunName, known: KnownCheckpoint, since: readonly EntryRow[]): void {
    this.#follow(name, known);
    this.add(name, since);
  }

  #follow(name: RunName, { seq, digest }: KnownCheckpoint): Tail {
    const tail = { seq, digest, rows: [], bytes: 0 };
    if (this.#tails.size >= limits.knownRunsMax) this.#tails.clear();
    this.#tails.set(name, tail);
    return tail;
  }

  /** The run has added entries: once they are worth a piece it is added to the copy. */
  add(name: RunName, entries: readonly EntryRow[]): void {
    const tail = this.#tails.get(name);
    if (tail === undefined || entries[0] === undefined) return;
    const newest = tail.rows.at(-1) ?? tail;
    if (entries[0].seq !== newest.seq + 1) this.#tails.delete(name);
    else {
      // Whoever gave them may change them.
      for (const entry of entries) tail.rows.push({ ...entry, bytes: Uint8Array.from(entry.bytes) });
      tail.bytes += sizeOf({ snapshot: undefined, entries });
      const isPiece = tail.bytes >= Math.min(limits.addedBytesMin, this.#options.bytesMin);
      if (isPiece) void this.#extend(name, tail);
    }
  }

  /** Adds what was gathered to the copy; if that is another by now, it is left to whoever goes on with it. */
  async #extend(name: RunName, { seq, digest, rows }: Tail): Promise<void> {
    const newest = rows.at(-1) as EntryRow;
    const next = this.#follow(name, newest);
    const piece = {
      seq: newest.seq,
      digest: newest.digest,
      after: digest,
      snapshot: undefined,
      entries: rows,
    };
    const isAdded = this.#link.rests ? 0 : await this.#send(addScript, name, piece, [String(seq), digest]);
    if (isAdded !== 1 && this.#tails.get(name) === next) this.#tails.delete(name);
  }

  #send(script: string, name: RunName, piece: Piece, given: readonly string[]): Promise<unknown> {
    const { secret, ttlMs } = this.#options;
    const key = this.#key(name);
    const bytes = sign(secret, key, encodePiece(piece));
    const values = [String(piece.seq), piece.digest, bytes, String(ttlMs), ...given];
    return this.#link.ask("EVAL", script, "1", key, ...values);
  }

  /** A run's key, once nothing is remembered of it any more. */
  forget(name: RunName): string {
    this.#small.delete(name);
    this.#tails.delete(name);
    return this.#key(name);
  }

  forgetAll(): void {
    this.#small.clear();
    this.#tails.clear();
  }

  #key(name: RunName): string {
    return keys.copy(this.#options.prefix, name);
  }
}

/** Far more than any digest has: what is longer is not looked up. */
const digestBytesMax = 8_192;

/** The checkpoint that a copy says it is of, if there is one; whether it is, the journal knows. */
function placeOf(found: unknown): FoundCopy["place"] {
  const [seq, digest] = Array.isArray(found) ? found : [];
  if (!Buffer.isBuffer(seq) && !Buffer.isBuffer(digest)) return undefined;
  const place = Number(seq);
  const isOne = Number.isSafeInteger(place) && place > 0 && Buffer.isBuffer(digest);
  if (!isOne || digest.length > digestBytesMax || digest.includes(0)) return nonsense;
  return { seq: place, digest: digest.toString() };
}

/** The pieces among the fields of a copy, which come as a list of names and values or as an object of them. */
function piecesIn(found: unknown): unknown[] {
  if (typeof found !== "object" || found === null) return [];
  const pairs = Array.isArray(found)
    ? found.flatMap((name, index) => (index % 2 === 0 ? [[String(name), found[index + 1]] as const] : []))
    : found instanceof Map
      ? [...found].map(([name, value]) => [String(name), value] as const)
      : Object.entries(found);
  return pairs.filter(([name]) => name !== "seq" && name !== "digest").map(([, value]) => value);
}
