/**
 * Streams: what an activity says while it runs, in pieces, outside the journal. A piece is durable before anybody reads
 * it, so a reader that comes back with its offset, to this process or the next, sees the same pieces again.
 *
 * Pieces are gathered for a moment and written together: a model's tokens would otherwise cost a flush each.
 */
import { type Json, toJson } from "../../core/json.ts";
import { isUnavailable } from "../../errors.ts";
import { decode, encode } from "../../store/codec.ts";
import type { ChunkRow, RunName } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";
import { keyOf } from "../name.ts";
import { fencedError } from "../ownership.ts";
import type { Owner, Seal } from "../seal.ts";
import { sleep } from "../sleep.ts";
import type { Standing } from "../standing.ts";
import { Waiters } from "../waiters.ts";

/** How long pieces are gathered: people cannot read faster. */
const gatherMs = 50;
/** Pieces that are read from the store at a time. */
const pageSize = 500;
/** How often a reader looks for what was written elsewhere. */
const lookMs = 200;

/** How long to wait before a store that cannot be reached is tried again. */
const laterMs = 1_000;

/** A piece of what an activity said. A higher `attempt` than before: what the earlier ones said no longer counts. */
export interface Chunk {
  readonly offset: number;
  readonly attempt: number;
  readonly data: Json;
}

/** Whose stream it is. */
export interface StreamName extends RunName {
  readonly key: string;
}

interface Pending {
  readonly rows: ChunkRow[];
  readonly written: Promise<void>;
  /** Ends the gathering. */
  go(): void;
}

export class Streams {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #seal: Seal;
  readonly #standing: Pick<Standing, "epoch" | "isShared">;
  readonly #news = new Waiters<void>();

  constructor(store: Store, clock: Clock, seal: Seal, standing: Pick<Standing, "epoch" | "isShared">) {
    this.#store = store;
    this.#clock = clock;
    this.#seal = seal;
    this.#standing = standing;
  }

  /**
   * The writing end for one attempt; it goes on after what earlier attempts left, with a higher number than theirs: a
   * crash may have come before the store knew of their number. Until the signal says that the attempt was given up, it
   * waits for a store that cannot be reached.
   */
  async open(
    name: StreamName,
    owner: Owner,
    { attempt: given, signal }: { readonly attempt: number; readonly signal: AbortSignal },
  ): Promise<StreamWriter> {
    const reach: Reach = (ask) => askUntil(this.#clock, signal, ask);
    let offset = 0;
    let attempt = given;
    const read = () => reach(() => this.#read(name, offset));
    for (let rows = await read(); rows.length > 0; rows = await read()) {
      const last = rows.at(-1) as ChunkRow;
      offset = last.offset + 1;
      attempt = Math.max(given, last.attempt + 1);
    }
    const append = async (rows: readonly ChunkRow[]) => {
      // One that is there already, its answer being lost, is left out by the store.
      const append = () => this.#store.appendChunks(name, name.key, rows, this.#standing.epoch);
      if (!(await reach(append))) throw fencedError(name);
      this.#news.tell(placeOf(name), undefined);
    };
    const close = (data: Json) => this.#seal.close(encode(data), owner);
    return new StreamWriter({ append, close, clock: this.#clock }, offset, attempt);
  }

  /** The pieces of a stream from an offset on, as they come, until the activity is over. */
  async *read(name: StreamName, owner: Owner, from: number, over: Promise<unknown>): AsyncGenerator<Chunk> {
    let isOver = false;
    const ended = over.then(() => {
      isOver = true;
    });
    ended.catch(() => {});
    for (let offset = from; ; ) {
      const news = this.#news.wait(placeOf(name));
      try {
        const last = isOver;
        const rows = await this.#read(name, offset);
        for (const { bytes, ...row } of rows) {
          yield { ...row, data: decode(this.#seal.open(bytes, owner), `piece ${row.offset} of ${name.key}`) };
          offset = row.offset + 1;
        }
        if (rows.length === 0 && last) return;
        if (rows.length === 0) await Promise.race([news.told, ended, this.#pause()]);
      } finally {
        // Also when the reader breaks off, or nothing can be read.
        news.cancel();
      }
    }
  }

  /** Where others may write, they are looked for after a while; never where nobody else does. */
  #pause(): Promise<void> {
    return new Promise((pass) => this.#standing.isShared && this.#clock.after(lookMs, pass));
  }

  close(error: unknown): void {
    this.#news.close(error);
  }

  #read(name: StreamName, from: number): Promise<readonly ChunkRow[]> {
    return this.#store.readChunks(name, name.key, from, pageSize);
  }
}

interface WriterWorld {
  readonly clock: Clock;
  append(rows: readonly ChunkRow[]): Promise<void>;
  close(data: Json): Uint8Array;
}

/** Where one attempt writes to. */
export class StreamWriter {
  readonly #world: WriterWorld;
  readonly #attempt: number;
  #offset: number;
  #pending: Pending | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(world: WriterWorld, offset: number, attempt: number) {
    this.#world = world;
    this.#offset = offset;
    this.#attempt = attempt;
  }

  /** Adds a piece; resolves when it is durable. */
  write(data: Json): Promise<void> {
    const bytes = this.#world.close(toJson(data, [], "chunk"));
    const row = { offset: this.#offset++, attempt: this.#attempt, bytes };
    if (this.#pending !== undefined) this.#pending.rows.push(row);
    else this.#pending = this.#gather(row);
    return this.#pending.written;
  }

  /** Writes what was gathered, now; resolves when all of it is durable. */
  async flush(): Promise<void> {
    this.#pending?.go();
    await this.#last;
  }

  #gather(first: ChunkRow): Pending {
    const rows = [first];
    const before = this.#last;
    let go = () => {};
    const moment = new Promise<void>((pass) => {
      const stop = this.#world.clock.after(gatherMs, pass);
      go = () => {
        stop();
        pass();
      };
    });
    const written = Promise.all([moment, before]).then(async () => {
      this.#pending = undefined;
      await this.#world.append(rows);
    });
    this.#last = written;
    return { rows, written, go };
  }
}

/** Asks the store something, for as long as that takes. */
type Reach = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

async function askUntil<Answer>(
  clock: Clock,
  signal: AbortSignal,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error;
    }
    await sleep(clock, laterMs, signal);
  }
}

const placeOf = (name: StreamName): string => `${keyOf(name)} ${name.key}`;
