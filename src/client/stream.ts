/**
 * Streams of server-sent events as async iterables that outlive their connections: when one breaks, the next one goes on
 * after the last event that came, until the server says that there will be no more.
 */
import { HoldfastError, isHoldfastError } from "../errors.ts";
import type { Problem } from "../server/contract.ts";
import { pause } from "./pause.ts";
import { errorOf } from "./problem.ts";

export interface StreamEvent<Data> {
  /** For `lastEventId`. */
  readonly id: string;
  /** `step` or `chunk`; `gap` says that some were missed, and has no data of use. */
  readonly type: string;
  readonly data: Data;
}

interface StreamOptions {
  readonly signal?: AbortSignal;
  readonly lastEventId?: string;
}

/** How long to wait before the next attempt, unless the server says otherwise; it doubles with each one in vain. */
const waitMs = 500;
const waitMsMax = 3_000;

export async function* streamOf<Data>(
  open: (lastEventId: string | undefined) => Promise<Response>,
  { signal, lastEventId }: StreamOptions,
): AsyncGenerator<StreamEvent<Data>> {
  let last = lastEventId;
  let failures = 0;
  let hintMs = waitMs;
  while (signal?.aborted !== true) {
    try {
      const response = await open(last);
      for await (const event of eventsOf(response, signal)) {
        failures = 0;
        if (event.retryMs !== undefined) hintMs = event.retryMs;
        if (event.type === "end") return;
        last = event.id ?? last;
        if (event.data === undefined) continue;
        if (event.type === "problem") throw errorOf(JSON.parse(event.data) as Problem);
        yield { id: last ?? "", type: event.type, data: JSON.parse(event.data) as Data };
      }
    } catch (error) {
      if (signal?.aborted) return;
      // What will not change by waiting is the caller's.
      if (isHoldfastError(error) && error.retry !== "later") throw error;
      if (!isHoldfastError(error) && !isBroken(error)) throw error;
    }
    failures++;
    await pause(Math.min(hintMs * 2 ** Math.min(failures - 1, 5), waitMsMax), signal);
  }
}

/** Whether an error tells of a connection that broke. */
const isBroken = (error: unknown): boolean =>
  error instanceof TypeError || (error as { readonly name?: string } | null)?.name === "AbortError";

interface Received {
  readonly type: string;
  readonly id: string | undefined;
  readonly data: string | undefined;
  readonly retryMs: number | undefined;
}

/** The events of one connection, until it ends. https://html.spec.whatwg.org/multipage/server-sent-events.html */
async function* eventsOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Received> {
  if (response.body === null) throw new HoldfastError("SERVER_UNREACHABLE", "The stream has no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", stop, { once: true });
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() as string;
      for (const block of blocks) yield parse(block);
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

function parse(block: string): Received {
  let type = "message";
  let id: string | undefined;
  let retryMs: number | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") type = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
    else if (field === "retry" && /^\d+$/.test(value)) retryMs = Number(value);
  }
  return { type, id, data: data.length === 0 ? undefined : data.join("\n"), retryMs };
}
