/**
 * Streams of server-sent events. A sink is one open connection; `Sinks` has all of them, keeps them open with a comment now
 * and then, counts them against their limits, and ends them all when the server drains.
 */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Principal } from "../security/identity.ts";

const encoder = new TextEncoder();
const beat = encoder.encode(":\n\n");

/** One event, as it goes over the wire. */
export function frameOf({ id, event, data }: { id?: string; event: string; data: unknown }): Uint8Array {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A place to come back to, for those who have heard nothing yet: an event without data is told to nobody. */
export const markOf = (id: string): Uint8Array => encoder.encode(`id: ${id}\n\n`);

export class Sink {
  readonly response: Response;
  readonly #closed = new AbortController();
  readonly #left: (sink: Sink) => void;
  readonly principal: Principal;
  readonly tenant: string;
  readonly holder: string;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wanted: (() => void) | undefined;

  constructor(principal: Principal, left: (sink: Sink) => void) {
    const { tenant, via, id } = principal;
    this.principal = principal;
    this.tenant = tenant;
    this.holder = `${via} ${id}`;
    this.#left = left;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wanted?.(),
        cancel: () => this.#close(),
      },
      // By bytes: an event of a journal may be as large as a run's whole context.
      new ByteLengthQueuingStrategy({ highWaterMark: limits.streamBytesWaitingMax }),
    );
    this.response = new Response(body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    });
  }

  /** Aborted when the client has gone or the stream has ended. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Sends a frame at once. A client that does not take them is let go: it comes back where it was. */
  send(frame: Uint8Array): void {
    if (this.#closed.signal.aborted) return;
    if ((this.#controller?.desiredSize ?? 0) <= -limits.streamBytesWaitingMax) this.end();
    else this.#controller?.enqueue(frame);
  }

  /** Sends a frame when there is room for it. */
  async write(frame: Uint8Array): Promise<void> {
    while ((this.#controller?.desiredSize ?? 0) <= 0 && !this.#closed.signal.aborted)
      await new Promise<void>((wanted) => {
        this.#wanted = wanted;
      });
    this.send(frame);
  }

  keepOpen(): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.send(beat);
  }

  /** Ends it, with some last words. */
  end(last?: Uint8Array): void {
    if (this.#closed.signal.aborted) return;
    if (last !== undefined) this.#controller?.enqueue(last);
    try {
      this.#controller?.close();
    } catch {
      // The client was faster.
    }
    this.#close();
  }

  #close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#wanted?.();
    this.#left(this);
  }
}

export class Sinks {
  readonly #open = new Set<Sink>();
  readonly #held = new Map<string, number>();
  readonly #clock: Clock;
  readonly #most: { readonly perPrincipal: number; readonly all: number };
  readonly #isGood: (principal: Principal) => Promise<boolean>;
  #cancel: (() => void) | undefined;

  constructor(
    clock: Clock,
    most: { readonly perPrincipal: number; readonly all: number },
    isGood: (principal: Principal) => Promise<boolean>,
  ) {
    this.#clock = clock;
    this.#most = most;
    this.#isGood = isGood;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A new stream for a principal; throws STREAMS_FULL where there are too many. */
  add(principal: Principal): Sink {
    const holder = `${principal.via} ${principal.id}`;
    const held = this.#held.get(holder) ?? 0;
    if (this.#open.size >= this.#most.all || held >= this.#most.perPrincipal)
      throw new HoldfastError(
        "STREAMS_FULL",
        `${held} streams of this principal are open, ${this.#open.size} in all; close some`,
        { details: { retryAfterS: 5 } },
      );
    const sink = new Sink(principal, (left) => this.#remove(left));
    this.#open.add(sink);
    this.#held.set(holder, held + 1);
    this.#cancel ??= this.#clock.after(limits.streamBeatMs, () => this.#beat());
    return sink;
  }

  #remove(sink: Sink): void {
    this.#open.delete(sink);
    const held = (this.#held.get(sink.holder) ?? 1) - 1;
    if (held > 0) this.#held.set(sink.holder, held);
    else this.#held.delete(sink.holder);
  }

  #beat(): void {
    this.#cancel = undefined;
    for (const sink of this.#open) {
      sink.keepOpen();
      void this.#endIfRefused(sink);
    }
    if (this.#open.size > 0) this.#cancel = this.#clock.after(limits.streamBeatMs, () => this.#beat());
  }

  /** Ends a stream whose principal would not get it any more. While nobody can tell, it stays. */
  async #endIfRefused(sink: Sink): Promise<void> {
    if (!(await this.#isGood(sink.principal).catch(() => true))) sink.end();
  }

  /** Ends all of them; clients come back after so many milliseconds, to whoever answers then. */
  endAll(retryMs: number): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const hint = encoder.encode(`retry: ${retryMs}\n\n`);
    for (const sink of [...this.#open]) sink.end(hint);
  }
}
