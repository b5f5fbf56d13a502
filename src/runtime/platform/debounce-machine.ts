/**
 * The machine behind every debounce: it waits until nothing has come for a while, and does what was asked for last. Pure.
 *
 * W2. What comes while it acts is for the next time, which waits as long as any.
 */
import type { JsonObject } from "../../core/json.ts";
import { defineMachine } from "../../core/machine.ts";
import type { Deed } from "./deed.ts";

/** One call, as it is kept. */
export interface DebounceCall extends Deed {
  readonly forMs: number;
  /** From the first call on; null for as long as calls come. */
  readonly maxMs: number | null;
}

/** Calls that become one: the last of them, when the first came, and when they are due. */
interface Gathered {
  readonly call: DebounceCall;
  readonly since: number;
  readonly due: number;
}

export interface DebounceContext {
  readonly key: string;
  current: Gathered;
  /** What has come since it acts. */
  next: Gathered | null;
  /** How often it has acted. */
  count: number;
}

function gather(before: Gathered | null, call: DebounceCall, at: number): Gathered {
  const since = before?.since ?? at;
  const latest = call.maxMs === null ? Number.POSITIVE_INFINITY : since + call.maxMs;
  return { call, since, due: Math.min(at + call.forMs, latest) };
}

const goOn = [
  {
    guard: ({ context }: { context: DebounceContext }) => context.next !== null,
    target: "waiting",
    update: (draft: DebounceContext) => {
      draft.current = draft.next as Gathered;
      draft.next = null;
    },
  },
  "done",
] as const;

export const debounceMachine = defineMachine<DebounceContext>({
  id: "holdfast.debounce",
  start: ({ input, at }) => {
    const { key, call } = input as unknown as { key: string; call: DebounceCall };
    return { key, current: gather(null, call, at), next: null, count: 0 };
  },
  initial: "waiting",
  states: {
    waiting: {
      after: [
        {
          delay: ({ context, at }) => Math.max(0, context.current.due - at),
          target: "acting",
          update: (draft) => void draft.count++,
        },
      ],
      on: {
        call: {
          target: "waiting",
          reenter: true,
          update: (draft, { event, at }) => {
            draft.current = gather(draft.current, event.data as unknown as DebounceCall, at);
          },
        },
      },
    },
    acting: {
      invoke: {
        activity: "act",
        input: ({ context: { key, current, count } }) =>
          ({ key, count, call: current.call }) as unknown as JsonObject,
        // It fails only for reasons that pass, and is tried for as long as they take.
        retry: { attempts: 1_000_000, first: "1s", max: "1m" },
        onDone: goOn,
        onError: goOn,
      },
      on: {
        call: {
          update: (draft, { event, at }) => {
            draft.next = gather(draft.next, event.data as unknown as DebounceCall, at);
          },
        },
      },
    },
    done: { type: "final" },
  },
});
