/**
 * The warm tier: copies of what a store has, in Redis, for whoever comes to a run that another process had.
 *
 * W1. Nothing is decided by Redis. A copy is used only for a checkpoint that the journal has with the same digest, and
 *     whatever came after it is the store's: so no answer is older than what the store would have said.
 * W2. A copy that is damaged, of another run, or not to be had costs time and nothing else (L1).
 * W3. An older copy does not replace a newer one, however late it is written, unless the newer one was found wrong.
 * W4. A run that is removed, pruned or mended here has no copy afterwards; where Redis could not be told, until it expires.
 */
import { limits } from "../../limits.ts";
import type { ContentRow, RunName } from "../records.ts";
import { RunMap } from "../run-map.ts";
import type { Commit, KnownCheckpoint, LoadedRun, Store } from "../store.ts";
import { decodeCopy, encodeCopy, keys, seal, sizeOf, type WarmCopy } from "./copy.ts";
import type { Link } from "./link.ts";

/** Stands for a copy that makes no sense at all. */
const nonsense = "*";

/** Puts a copy unless there is one that is as new; one that was found wrong, by its digest, is replaced all the same. */
const putScript = `
local there = redis.pcall('HMGET', KEYS[1], 'seq', 'digest')
if not there.err and there[1] and there[2] and there[2] ~= ARGV[6] and ARGV[6] ~= '*' then
  local seq = tonumber(there[1])
  if seq and seq >= tonumber(ARGV[1]) then return 0 end
end
redis.call('UNLINK', KEYS[1])
redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'digest', ARGV[2], 'sum', ARGV[3], 'body', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1`;

/** Adds texts of a subject. They expire together, so that what is read often is looked at again all the same. */
const keepScript = `
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then redis.call('UNLINK', KEYS[1]) end
for place = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1]) end
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1`;

const sumBytes = 32;
/** Far more than any digest has: what is longer is not looked up. */
const digestBytesMax = 8_192;

export interface WarmOptions {
  readonly prefix: string;
  readonly ttlMs: number;
  readonly secret: string;
  readonly bytesMin: number;
}

/** The verbs of a store that are other with a warm tier. */
export class WarmTier {
  readonly #store: Store;
  readonly #link: Link;
  readonly #options: WarmOptions;
  /** Runs that were too small for a copy when they were last seen; Redis is not asked for them. */
  readonly #small = new RunMap<true>();

  constructor(store: Store, link: Link, options: WarmOptions) {
    this.#store = store;
    this.#link = link;
    this.#options = options;
  }

  async load(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined> {
    // Whoever knows more than Redis asks the store.
    if (known !== undefined || this.#small.get(name) !== undefined) return this.#loadCold(name, known);
    const key = keys.copy(this.#options.prefix, name);
    const place = this.#link.ask("HMGET", key, "seq", "digest");
    // Sent at once as well: the copy comes while the store looks.
    const body = this.#link.ask("HMGET", key, "sum", "body");
    const copied = placeOf(await place);
    if (copied === undefined || copied === nonsense) return this.#kept(await this.#store.load(name), copied);
    const loaded = await this.#store.load(name, copied);
    if (loaded?.since === undefined) return this.#kept(loaded, copied.digest);
    const copy = this.#open(key, copied, await body);
    // As ever, since the copy is not what it says it is.
    if (copy === undefined || (copy.snapshot?.seq ?? 0) !== loaded.head.snapshotSeq)
      return this.#kept(await this.#store.load(name), copied.digest);
    const { since: _since, ...rest } = loaded;
    const whole = { ...rest, snapshot: copy.snapshot, entries: [...copy.entries, ...loaded.entries] };
    // What has been added is copied once it is worth a copy by itself.
    const isOld = sizeOf({ snapshot: undefined, entries: loaded.entries }) >= this.#options.bytesMin;
    return isOld ? this.#kept(whole) : whole;
  }

  async #loadCold(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined> {
    const loaded = await this.#store.load(name, known);
    return loaded?.since === undefined ? this.#kept(loaded) : loaded;
  }

  /** The run, a copy of which is put; `wrong` is the digest of one that was found wrong. */
  #kept(loaded: LoadedRun | undefined, wrong?: string): LoadedRun | undefined {
    if (loaded === undefined) return undefined;
    const { head, snapshot, entries } = loaded;
    this.#put(head, { seq: head.seq, digest: head.digest, snapshot, entries }, wrong);
    return loaded;
  }

  #open(
    key: string,
    { seq, digest }: KnownCheckpoint,
    found: unknown,
  ): Pick<LoadedRun, "snapshot" | "entries"> | undefined {
    const [sum, body] = Array.isArray(found) ? found : [];
    if (!Buffer.isBuffer(sum) || !Buffer.isBuffer(body)) return undefined;
    return seal(this.#options.secret, [key, seq, digest], body).equals(sum) ? decodeCopy(body) : undefined;
  }

  #put(name: RunName, copy: WarmCopy, wrong = ""): void {
    const size = sizeOf(copy);
    if (size < this.#options.bytesMin) this.#note(name);
    else this.#small.delete(name);
    const isOfUse = size >= this.#options.bytesMin && size <= limits.copiedBytesMax;
    if (!isOfUse || this.#link.rests) return;
    const { prefix, secret, ttlMs } = this.#options;
    const key = keys.copy(prefix, name);
    const { seq, digest } = copy;
    const body = encodeCopy(copy);
    const sum = seal(secret, [key, seq, digest], body);
    void this.#link.ask("EVAL", putScript, "1", key, String(seq), digest, sum, body, String(ttlMs), wrong);
  }

  #note(name: RunName): void {
    if (this.#small.size >= limits.liveRunsMax) this.#small.clear();
    this.#small.set(name, true);
  }

  async commit(commits: readonly Commit[]): ReturnType<Store["commit"]> {
    const outcomes = await this.#store.commit(commits);
    // Between two snapshots nothing is copied: what came since is read from the journal, and is less than a snapshot.
    for (const [index, { head, snapshot, entries }] of commits.entries())
      if (snapshot !== undefined && outcomes[index]?.outcome === "committed") {
        const since = entries.filter(({ seq }) => seq > snapshot.seq);
        this.#put(head, { seq: head.seq, digest: head.digest, snapshot, entries: since });
      }
    return outcomes;
  }

  async readContents(
    tenant: string,
    subject: string,
    digests: readonly string[],
  ): Promise<readonly ContentRow[]> {
    if (digests.length === 0) return this.#store.readContents(tenant, subject, digests);
    const key = keys.texts(this.#options.prefix, tenant, subject);
    const found = await this.#link.ask("HMGET", key, ...digests);
    const warm = new Map<string, ContentRow>();
    if (Array.isArray(found))
      for (const [index, digest] of digests.entries()) {
        const bytes = this.#openText(key, digest, found[index]);
        if (bytes !== undefined) warm.set(digest, { digest, bytes });
      }
    const missing = digests.filter((digest) => !warm.has(digest));
    if (missing.length === 0) return digests.map((digest) => warm.get(digest) as ContentRow);
    const cold = await this.#store.readContents(tenant, subject, missing);
    this.#keepTexts(key, cold);
    const all = new Map([...warm, ...cold.map((row) => [row.digest, row] as const)]);
    return digests.flatMap((digest) => all.get(digest) ?? []);
  }

  #openText(key: string, digest: string, found: unknown): Uint8Array | undefined {
    if (!Buffer.isBuffer(found) || found.length < sumBytes) return undefined;
    const bytes = new Uint8Array(found.buffer, found.byteOffset + sumBytes, found.length - sumBytes);
    const sum = seal(this.#options.secret, [key, digest], bytes);
    return sum.equals(found.subarray(0, sumBytes)) ? bytes : undefined;
  }

  #keepTexts(key: string, rows: readonly ContentRow[]): void {
    const size = rows.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (rows.length === 0 || size > limits.copiedBytesMax || this.#link.rests) return;
    const { secret, ttlMs } = this.#options;
    const given = rows.flatMap(({ digest, bytes }) => [
      digest,
      Buffer.concat([seal(secret, [key, digest], bytes), bytes]),
    ]);
    void this.#link.ask("EVAL", keepScript, "1", key, String(ttlMs), ...given);
  }

  async removeRuns(names: readonly RunName[], epoch: number): Promise<readonly boolean[]> {
    const heads = await Promise.all(names.map((name) => this.#store.readHead(name)));
    const removed = await this.#store.removeRuns(names, epoch);
    const { prefix } = this.#options;
    const gone = heads.flatMap((head, index) => {
      const name = names[index] as RunName;
      if (removed[index] !== true || head === undefined) return [];
      this.#small.delete(name);
      return [keys.copy(prefix, name), keys.texts(prefix, name.tenant, head.subject)];
    });
    await this.#forget(gone);
    return removed;
  }

  async pruneJournal(name: RunName, seq: number, epoch: number): Promise<boolean> {
    const pruned = await this.#store.pruneJournal(name, seq, epoch);
    if (pruned) await this.#forget([keys.copy(this.#options.prefix, name)]);
    return pruned;
  }

  /** Forgets everything: what is mended is told by places that only the store understands. */
  async mend(...given: Parameters<Store["mend"]>): Promise<boolean> {
    const mended = await this.#store.mend(...given);
    this.#small.clear();
    for (let cursor: string | undefined = "0"; mended && cursor !== undefined; ) {
      const page = await this.#link.ask(
        ...["SCAN", cursor, "MATCH", keys.all(this.#options.prefix), "COUNT", "1000"],
      );
      const [next, found] = Array.isArray(page) ? page : [];
      await this.#forget((Array.isArray(found) ? found : []).map(String));
      cursor = next === undefined || String(next) === "0" ? undefined : String(next);
    }
    return mended;
  }

  async #forget(gone: readonly string[]): Promise<void> {
    if (gone.length > 0) await this.#link.ask("UNLINK", ...gone);
  }
}

/** The checkpoint that a copy says it is of, if there is one; whether it is, the journal knows. */
function placeOf(found: unknown): KnownCheckpoint | typeof nonsense | undefined {
  const [seq, digest] = Array.isArray(found) ? found : [];
  if (!Buffer.isBuffer(seq) && !Buffer.isBuffer(digest)) return undefined;
  const place = Number(seq);
  const isOne = Number.isSafeInteger(place) && place > 0 && Buffer.isBuffer(digest);
  if (!isOne || digest.length > digestBytesMax || digest.includes(0)) return nonsense;
  return { seq: place, digest: digest.toString() };
}
