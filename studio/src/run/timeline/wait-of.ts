/** What a run waited for before a step, and how long: told by the event that ended the wait. */
import type { JournalEntry } from "../../data/contract.ts";

export type WaitKind = "activity" | "child" | "timer" | "person" | "event" | "parked" | "queue";

export interface PastWait {
  readonly kind: WaitKind;
  readonly ms: number;
  /** The step that began it, where it is known. */
  readonly from?: number;
  readonly what?: string;
  readonly attempts?: number;
}

export const waitWords: Readonly<Record<WaitKind, string>> = {
  activity: "activity",
  child: "child run",
  timer: "timer",
  person: "person",
  event: "event",
  parked: "parked",
  queue: "queue",
};

/** The entry that began what has this key, looked for backwards as far as entries are there. */
function beginning(
  key: string,
  before: number,
  entries: ReadonlyMap<number, JournalEntry>,
): { readonly entry: JournalEntry; readonly what: string } | undefined {
  for (let seq = before; ; seq--) {
    const entry = entries.get(seq);
    if (entry === undefined) return undefined;
    const effect = entry.effects.find((one) => one.key === key && one.type !== "cancel");
    if (effect !== undefined) return { entry, what: effect.activity ?? effect.machine ?? effect.type };
  }
}

function attemptsOf({ event }: JournalEntry): number | undefined {
  const { attempts } = (event.data ?? {}) as { readonly attempts?: unknown };
  return typeof attempts === "number" && attempts > 1 ? attempts : undefined;
}

/** Undefined where nothing was waited for: at the beginning, and where the step before is not known. */
export function waitOf(
  entry: JournalEntry,
  entries: ReadonlyMap<number, JournalEntry>,
  asking: ReadonlySet<string>,
): PastWait | undefined {
  const previous = entries.get(entry.seq - 1);
  const { event, at } = entry;
  const key = event.timer ?? event.invocation;
  if (key !== undefined) {
    const began = beginning(key, entry.seq - 1, entries);
    const ms = at - (began?.entry.at ?? previous?.at ?? at);
    const isChild = began?.entry.effects.some((effect) => effect.key === key && effect.type === "spawn");
    const kind = event.timer !== undefined ? "timer" : isChild ? "child" : "activity";
    const attempts = attemptsOf(entry);
    return {
      ...{ kind, ms },
      ...(began === undefined ? {} : { from: began.entry.seq, what: began.what }),
      ...(attempts === undefined ? {} : { attempts }),
    };
  }
  if (previous === undefined) return undefined;
  const ms = at - previous.at;
  if (previous.status === "parked") return { kind: "parked", ms };
  const isAsking = previous.configuration.some((path) => asking.has(path));
  return { kind: isAsking ? "person" : "event", ms };
}

/** How long a bar is: by the logarithm, so that milliseconds and days both show. A day is the whole width. */
export const shareOf = (ms: number): number => Math.min(1, Math.log10(1 + ms) / Math.log10(1 + 86_400_000));
