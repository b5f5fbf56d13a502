/** The routes of journals: pages both ways, and steps and chunks as they come. */
import type { Json } from "../../core/json.ts";
import type { State } from "../../core/state.ts";
import { isHoldfastError } from "../../errors.ts";
import { parkReason, returnOf } from "../../runtime/control.ts";
import { type Entry, foldEntry } from "../../store/journal.ts";
import type { RunHead, RunStatus } from "../../store/records.ts";
import type { JournalEntry, JournalPage } from "../contract/journal.ts";
import { frameOf, type Sink } from "../sink.ts";
import { findRun, type Handlers, type Scope, seeRun, type World } from "../world.ts";

type JournalHandlers = Pick<Handlers, "runs.journal" | "runs.follow" | "runs.chunks" | "steps.follow">;

export function journalHandlers(world: World): JournalHandlers {
  return {
    "runs.journal": async ({ run, from, before, limit = 50 }, scope) => {
      const { head } = await seeRun(world, scope, run);
      const start = from ?? Math.max(1, (before ?? 1 + limit) - limit);
      const end = from === undefined && before !== undefined ? before - 1 : head.seq;
      return pageOf(world, head, start, Math.min(end, start + limit - 1));
    },
    "runs.follow": (input, scope, sink) => follow(world, input, scope, sink),
    "runs.chunks": async ({ run, key, from }, scope, sink) => {
      const found = await findRun(world, scope, run);
      const last = scope.lastEventId;
      const start = last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) + 1 : (from ?? 0);
      for await (const { offset, attempt, data } of found.stream(key, start, { signal: sink.signal })) {
        await sink.write(frameOf({ id: String(offset), event: "chunk", data: { offset, attempt, data } }));
        if (sink.signal.aborted) return;
      }
    },
    "steps.follow": (_, { lastEventId }, sink) => {
      world.feed.follow(sink, lastEventId);
      return new Promise((over) => {
        sink.signal.addEventListener("abort", () => over(), { once: true });
        if (sink.signal.aborted) over();
      });
    },
  };
}

/** The entries between two checkpoints, each with the configuration after it. */
async function pageOf(
  { past, store }: World,
  head: RunHead,
  start: number,
  end: number,
): Promise<JournalPage> {
  const [kept] = await store.readJournal(head, 1, 1);
  const first = kept?.seq ?? 1;
  const from = Math.max(start, first);
  const entries: JournalEntry[] = [];
  if (from <= end) {
    const telling = new Telling(await stateBefore({ past }, head, from));
    for await (const entry of past.entries(head, from)) {
      if (entry.seq > end) break;
      entries.push(telling.next(entry));
    }
  }
  const last = entries.at(-1)?.seq ?? from - 1;
  return {
    ...{ entries, first, last: head.seq },
    ...(from > first ? { before: from } : {}),
    ...(last < head.seq ? { next: last + 1 } : {}),
  };
}

/** The state that a checkpoint's step was taken from, and how its run stood. */
async function stateBefore(
  { past }: Pick<World, "past">,
  head: RunHead,
  seq: number,
): Promise<{ state: Json; isParked: boolean }> {
  const { state } = await (seq === 1
    ? past.origin(head)
    : past.at(head, seq - 1).catch(async (error: unknown) => {
        // The first entry that is kept stands on a snapshot.
        if (!isHoldfastError(error) || error.code !== "JOURNAL_PRUNED") throw error;
        return past.origin(head);
      }));
  return { state, isParked: await wasParked({ past }, head, seq - 1) };
}

/** Whether a run was parked at a checkpoint: what tells is the newest entry that parks or brings back, or an event it took. */
async function wasParked({ past }: Pick<World, "past">, head: RunHead, seq: number): Promise<boolean> {
  if (seq < 1) return false;
  try {
    for await (const { event } of past.back(head, seq)) {
      if (parkReason(event) !== undefined) return true;
      // A parked run takes nothing but control.
      if (event.kind !== "platform" || event.type !== "debug") return false;
    }
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
  }
  return false;
}

/** Tells entries one after the other, with what each led to. */
class Telling {
  #state: Json;
  #isParked: boolean;

  constructor({ state, isParked }: { state: Json; isParked: boolean }) {
    this.#state = state;
    this.#isParked = isParked;
  }

  next(entry: Entry): JournalEntry {
    this.#state = foldEntry(this.#state, entry);
    const { configuration, status } = this.#state as unknown as State;
    const { event } = entry;
    if (parkReason(event) !== undefined) this.#isParked = true;
    else if (returnOf(event) !== undefined || event.type === "rollback") this.#isParked = false;
    const told: RunStatus = status === "active" && this.#isParked ? "parked" : status;
    return { ...(entry as unknown as JournalEntry), configuration: [...configuration], status: told };
  }
}

async function follow(
  world: World,
  { run, from }: { run: string; from?: number | undefined },
  scope: Scope,
  sink: Sink,
): Promise<void> {
  const found = await findRun(world, scope, run);
  const head = await found.head();
  const { lastEventId } = scope;
  const last = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  const start = Math.min(last === undefined ? (from ?? head.seq + 1) : last + 1, head.seq + 1);
  const telling = new Telling(await stateBefore(world, head, Math.max(1, start)));
  for await (const entry of found.follow(Math.max(1, start), { signal: sink.signal })) {
    await sink.write(frameOf({ id: String(entry.seq), event: "step", data: telling.next(entry) }));
    if (sink.signal.aborted) return;
  }
}
