/** Whether a thread that comes from outside can be gone on with; its own are right by how they are made. */
import { isObject } from "../../core/json.ts";
import { isPages, itemsOf } from "../pages.ts";
import { problemOf } from "./check-message.ts";
import type { Entry, Thread } from "./entry.ts";
import { lineageOf } from "./lineage.ts";
import { openCallsAt } from "./thread.ts";

/** Why it cannot be gone on with; undefined if it can be. */
export function problemOfThread(thread: unknown): string | undefined {
  if (!isObject(thread)) return "it is no object";
  const { pages, head, overlays } = thread as unknown as Thread;
  if (!isPages(pages) || !Array.isArray(overlays)) return "it has no lists of messages and of summaries";
  const entries: readonly Entry[] = itemsOf(pages);
  const isPlace = (place: unknown, end: number): boolean =>
    place === null || (Number.isSafeInteger(place) && (place as number) >= 0 && (place as number) < end);
  for (const [position, entry] of entries.entries()) {
    const problem =
      problemOf(entry) ??
      (isPlace(entry.after, position) ? undefined : "it comes after what is not before it");
    if (problem !== undefined) return `its message ${position} cannot be kept: ${problem}`;
  }
  if (new Set(entries.map(({ id }) => id)).size < entries.length) return "two of its messages have one id";
  if (!isPlace(head, entries.length)) return "it goes on after a message that it does not have";
  return openCallsAt(lineageOf(thread as unknown as Thread), head).length === 0
    ? undefined
    : "calls of its newest message have no results";
}
