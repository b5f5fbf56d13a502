/**
 * The machine behind every schedule: which time of its calendar it waits for, and which it fires. Pure.
 *
 * S2. The times of a schedule only ever grow, also when a clock is set back: none comes again, and none is fired before
 *     the clock has reached it.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import { defineMachine } from "../../core/machine.ts";
import { limits } from "../../limits.ts";
import { type Calendar, lastTime, nextTime } from "./calendar.ts";
import type { Deed } from "./deed.ts";

/**
 * What becomes of times that were missed, since nobody was there or the clock was set forward: `one` makes up for all of
 * them with the last; `all` makes up for each, up to the last `limits.catchUpMax`; `none` leaves out whatever could be
 * taken up only `limits.missedAfterMs` later or more.
 */
export type CatchUp = "one" | "all" | "none";

/** A schedule as it is kept: plain JSON. */
export interface ScheduleDefinition extends Calendar, Deed {
  readonly catchUp: CatchUp;
}

export interface ScheduleContext {
  definition: ScheduleDefinition;
  /** The time it waits for, or fires; null when there is none left. */
  due: number | null;
  /** Times up to here were missed and are being made up for; null when none was. */
  missedUntil: number | null;
  /** The last firing that did not succeed. */
  failed: { due: number; error: Json } | null;
}

/** What the schedule looks at next: a time that is still to come, or one that is to be fired now. */
function aim(draft: ScheduleContext, due: number | undefined, at: number): void {
  const { definition, missedUntil } = draft;
  if (due === undefined || due > at) {
    draft.due = due ?? null;
    return;
  }
  const last = Math.max(due, lastTime(definition, at) ?? due);
  const { catchUp } = definition;
  if (catchUp === "one") draft.due = last;
  else if (catchUp === "none")
    draft.due = at - last > limits.missedAfterMs ? (nextTime(definition, at) ?? null) : last;
  else if (missedUntil !== null && due <= missedUntil) draft.due = due;
  else {
    draft.due = oldestMissed(definition, due, last);
    draft.missedUntil = last;
  }
}

/** The first of the times from `due` to `last` that is still made up for. */
function oldestMissed(calendar: Calendar, due: number, last: number): number {
  let time = last;
  for (let count = 1; count < limits.catchUpMax && time > due; count++)
    time = lastTime(calendar, time - 1) ?? due;
  return Math.max(due, time);
}

const define = (definition: ScheduleDefinition, at: number): ScheduleContext => ({
  ...{ definition, missedUntil: null, failed: null },
  due: nextTime(definition, at) ?? null,
});

/** A firing is over, well or not: on to the time after it. */
function goOn(draft: ScheduleContext, error: Json, at: number): void {
  const due = draft.due as number;
  if (error !== null) draft.failed = { due, error };
  aim(draft, nextTime(draft.definition, due), at);
}

export const scheduleMachine = defineMachine<ScheduleContext>({
  id: "holdfast.schedule",
  start: ({ input, at }) => define(input as unknown as ScheduleDefinition, at),
  initial: "aiming",
  states: {
    aiming: {
      always: [
        { guard: ({ context }) => context.due === null, target: "stopped" },
        { guard: ({ context, at }) => (context.due as number) <= at, target: "firing" },
        "waiting",
      ],
    },
    waiting: {
      after: [
        {
          delay: ({ context, at }) => (context.due as number) - at,
          target: "aiming",
          update: (draft, { context, at }) => aim(draft, context.due as number, at),
        },
      ],
    },
    firing: {
      invoke: {
        activity: "fire",
        input: ({ context: { definition, due } }) => ({ definition, due }) as unknown as JsonObject,
        // It fails only for reasons that pass, and is tried for as long as they take.
        retry: { attempts: 1_000_000, first: "1s", max: "1m" },
        onDone: { target: "aiming", update: (draft, { event, at }) => goOn(draft, event.data, at) },
        onError: { target: "aiming", update: (draft, { event, at }) => goOn(draft, event.data, at) },
      },
    },
    stopped: {
      on: {
        set: {
          target: "aiming",
          update: (draft, { event, at }) =>
            Object.assign(draft, define(event.data as unknown as ScheduleDefinition, at)),
        },
      },
    },
  },
  on: { stop: "stopped" },
});
