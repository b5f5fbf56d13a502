/**
 * The warm tier: copies of what a store has, in Redis, for whoever comes to a run that another process had.
 *
 * W1. Nothing is decided by Redis. A copy is used only for a checkpoint that the journal has with the same digest, and
 *     whatever came after it is the store's: so no answer is older than what the store would have said.
 * W2. A copy that is damaged, of another run, or not to be had costs time and nothing else (L1).
 * W4. A run that is removed, pruned or mended here has no copy afterwards; where Redis could not be told, until it expires.
 */
import { limits } from "../../limits.ts";
import type { ContentRow, RunName } from "../records.ts";
import type { Commit, KnownCheckpoint, LoadedRun, Store } from "../store.ts";
import { Copies, type CopyOptions, nonsense } from "./copies.ts";
import { check, keys, sign } from "./copy.ts";
import type { Link } from "./link.ts";

/** Adds texts of a subject. They expire together, so that what is read often is looked at again all the same. */
const keepScript = `
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then redis.call('UNLINK', KEYS[1]) end
for place = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1]) end
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1`;

/** The verbs of a store that are other with a warm tier. */
export class WarmTier {
  readonly #store: Store;
  readonly #link: Link;
  readonly #options: CopyOptions;
  readonly #copies: Copies;

  constructor(store: Store, link: Link, options: CopyOptions) {
    this.#store = store;
    this.#link = link;
    this.#options = options;
    this.#copies = new Copies(link, options);
  }

  async load(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined> {
    // Whoever knows more than Redis asks the store.
    if (known !== undefined || this.#copies.isSmall(name)) {
      const loaded = await this.#store.load(name, known);
      return loaded?.since === undefined ? this.#kept(loaded) : loaded;
    }
    const found = await this.#copies.find(name);
    const { place } = found;
    if (place === undefined || place === nonsense) return this.#kept(await this.#store.load(name), place);
    const loaded = await this.#store.load(name, place);
    if (loaded?.since === undefined) return this.#kept(loaded, place.digest);
    const copy = await found.open(place);
    // As ever, since the copy is not what it says it is.
    if (copy === undefined || (copy.snapshot?.seq ?? 0) !== loaded.head.snapshotSeq)
      return this.#kept(await this.#store.load(name), place.digest);
    this.#copies.follow(name, place, loaded.entries);
    const { since: _since, ...rest } = loaded;
    return { ...rest, snapshot: copy.snapshot, entries: [...copy.entries, ...loaded.entries] };
  }

  /** The run, a copy of which is put; `wrong` is the digest of one that was found wrong. */
  #kept(loaded: LoadedRun | undefined, wrong?: string): LoadedRun | undefined {
    if (loaded === undefined) return undefined;
    const { head, snapshot, entries } = loaded;
    this.#copies.put(head, { seq: head.seq, digest: head.digest, snapshot, entries }, wrong);
    return loaded;
  }

  async commit(commits: readonly Commit[]): ReturnType<Store["commit"]> {
    const outcomes = await this.#store.commit(commits);
    for (const [index, { head, snapshot, entries }] of commits.entries())
      if (outcomes[index]?.outcome !== "committed") continue;
      else if (snapshot === undefined) this.#copies.add(head, entries);
      else {
        const since = entries.filter(({ seq }) => seq > snapshot.seq);
        this.#copies.put(head, { seq: head.seq, digest: head.digest, snapshot, entries: since });
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
        const text = check(this.#options.secret, placeOf(key, digest), found[index]);
        const bytes = text && new Uint8Array(text.buffer, text.byteOffset, text.length);
        if (bytes !== undefined) warm.set(digest, { digest, bytes });
      }
    const missing = digests.filter((digest) => !warm.has(digest));
    if (missing.length === 0) return digests.map((digest) => warm.get(digest) as ContentRow);
    const cold = await this.#store.readContents(tenant, subject, missing);
    this.#keepTexts(key, cold);
    const all = new Map([...warm, ...cold.map((row) => [row.digest, row] as const)]);
    return digests.flatMap((digest) => all.get(digest) ?? []);
  }

  #keepTexts(key: string, rows: readonly ContentRow[]): void {
    const size = rows.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (rows.length === 0 || size > limits.copiedBytesMax || this.#link.rests) return;
    const { secret, ttlMs } = this.#options;
    const given = rows.flatMap(({ digest, bytes }) => [digest, sign(secret, placeOf(key, digest), bytes)]);
    void this.#link.ask("EVAL", keepScript, "1", key, String(ttlMs), ...given);
  }

  async removeRuns(...given: Parameters<Store["removeRuns"]>): Promise<readonly boolean[]> {
    const [names] = given;
    const heads = await Promise.all(names.map((name) => this.#store.readHead(name)));
    const removed = await this.#store.removeRuns(...given);
    const gone = heads.flatMap((head, index) => {
      if (removed[index] !== true || head === undefined) return [];
      const texts = keys.texts(this.#options.prefix, head.tenant, head.subject);
      return [this.#copies.forget(head), texts];
    });
    await this.#unlink(gone);
    return removed;
  }

  async pruneJournal(...given: Parameters<Store["pruneJournal"]>): Promise<boolean> {
    const pruned = await this.#store.pruneJournal(...given);
    if (pruned) await this.#unlink([this.#copies.forget(given[0])]);
    return pruned;
  }

  /** Forgets everything: what is mended is told by places that only the store understands. */
  async mend(...given: Parameters<Store["mend"]>): Promise<boolean> {
    const mended = await this.#store.mend(...given);
    this.#copies.forgetAll();
    const pattern = keys.all(this.#options.prefix);
    for (let cursor: string | undefined = "0"; mended && cursor !== undefined; ) {
      const page = await this.#link.ask("SCAN", cursor, "MATCH", pattern, "COUNT", "1000");
      const [next, found] = Array.isArray(page) ? page : [];
      await this.#unlink((Array.isArray(found) ? found : []).map(String));
      cursor = next === undefined || String(next) === "0" ? undefined : String(next);
    }
    return mended;
  }

  async #unlink(gone: readonly string[]): Promise<void> {
    if (gone.length > 0) await this.#link.ask("UNLINK", ...gone);
  }
}

/** Where a text is: what its sum is for. */
const placeOf = (key: string, digest: string): string => JSON.stringify([key, digest]);
