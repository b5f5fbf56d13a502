/**
 * What a rate may still use, durable before it is used. A document remembers chunks of starts, each reserved ahead and
 * good for a while; whoever comes after a crash counts every one of them as used, and as late as it can have been. So a
 * restart can cost allowance, and never gives a second one.
 *
 * A chunk is a tenth of the limit and good for a tenth of the period: about twenty writes a period at most, and a crash
 * costs at most a tenth of either.
 */
import type { Json } from "../../core/json.ts";
import { decode, encode } from "../../store/codec.ts";
import type { Store } from "../../store/store.ts";

const share = 10;

/** What the names of such documents begin with. */
export const ratePrefix = "holdfast.rate ";

/** So many starts, none of them after `until`. */
export interface Chunk {
  readonly count: number;
  readonly until: number;
}

/** The document of a rate: what was reserved, for as long as somebody may count it. */
export interface Reserved {
  readonly perMs: number;
  readonly chunks: readonly Chunk[];
}

/** Whether nobody will count any of it any more: the document may go. */
export function isOver({ perMs, chunks }: Reserved, now: number): boolean {
  return chunks.every(({ until }) => until <= now - perMs);
}

/** How long a chunk of a rate with this period is good for. */
export function goodForMs(perMs: number): number {
  return Math.ceil(perMs / share);
}

type AllowanceStore = Pick<Store, "readDocument" | "writeDocument" | "removeDocument">;

/** Where a rate is remembered. */
export interface Place {
  readonly tenant: string;
  readonly name: string;
}

export class Allowance {
  readonly #store: AllowanceStore;
  readonly #place: Place;
  #version = 0;
  #reserved: Reserved = { perMs: 0, chunks: [] };
  #left = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(store: AllowanceStore, place: Place) {
    this.#store = store;
    this.#place = place;
  }

  /** What was reserved before this process had a say; undefined if that is damaged. */
  async read(): Promise<readonly Chunk[] | undefined> {
    const { tenant, name } = this.#place;
    const document = await this.#store.readDocument(tenant, name);
    this.#left = 0;
    this.#version = document?.version ?? 0;
    this.#reserved = { perMs: 0, chunks: [] };
    if (document === undefined) return [];
    try {
      this.#reserved = decode(document.bytes, name) as unknown as Reserved;
      return this.#reserved.chunks;
    } catch {
      return undefined;
    }
  }

  has(now: number): boolean {
    return this.#left > 0 && now <= this.#until;
  }

  /** Uses one; says until when it may begin. */
  use(): number {
    this.#left--;
    return this.#until;
  }

  /** Reserves the next chunk; false if somebody else has written since it was read. */
  async reserve(limit: number, perMs: number, now: number): Promise<boolean> {
    const { tenant, name } = this.#place;
    const longest = Math.max(perMs, this.#reserved.perMs);
    const chunk: Chunk = { count: Math.ceil(limit / share), until: now + goodForMs(perMs) };
    const kept = this.#reserved.chunks.filter(({ until }) => until > now - longest);
    const reserved = { perMs: longest, chunks: [...kept, chunk] };
    const bytes = encode(reserved as unknown as Json);
    if (!(await this.#store.writeDocument(tenant, name, this.#version, bytes))) return false;
    if (this.#version > 0) this.#version++;
    else if (!(await this.#findVersion(bytes))) return false;
    this.#reserved = reserved;
    this.#left = chunk.count;
    this.#until = chunk.until;
    return true;
  }

  /** The version of a document that was new; false if somebody else has written since. */
  async #findVersion(bytes: Uint8Array): Promise<boolean> {
    const { tenant, name } = this.#place;
    const document = await this.#store.readDocument(tenant, name);
    if (document === undefined || Buffer.compare(document.bytes, bytes) !== 0) return false;
    this.#version = document.version;
    return true;
  }

  /** Removes the document, if nobody needs it or has written it since it was read. */
  async remove(now: number): Promise<void> {
    const { tenant, name } = this.#place;
    if (this.#version === 0 || !isOver(this.#reserved, now)) return;
    await this.#store.removeDocument(tenant, name, this.#version);
  }
}
