/**
 * "Why is it waiting?": all that a run waits for, from its state and what the store has of it, and one line that says it.
 * Pure: the time and the rows come in.
 */
import type { Json, JsonObject } from "../core/json.ts";
import type { State, Timer } from "../core/state.ts";
import type { RunHead, RunStatus } from "../store/records.ts";
import { childName } from "./child-name.ts";

/** How an activity stands, as its row says. */
export interface Standing {
  readonly key: string;
  readonly attempt: number;
  readonly attemptsMax?: number;
  readonly status: "waiting" | "running";
  readonly dueAt: number;
  /** How the last attempt ended. */
  readonly error?: JsonObject;
}

/** A person is asked to decide. */
export interface Asked {
  readonly decision: string;
  readonly state: string;
  readonly asked: string;
  readonly due?: number;
}

export interface WaitingFacts {
  readonly head: RunHead;
  readonly state: State;
  readonly activities: readonly Standing[];
  readonly decisions: readonly Asked[];
  /** Events that active states listen to. */
  readonly events: readonly string[];
  /** How many events wait in its inbox. */
  readonly inboxSize: number;
  /** Why a parked run is parked, and since when. */
  readonly parked?: { readonly reason: JsonObject; readonly at: number };
  /** Whether this process has the code of its machine. */
  readonly isLoaded: boolean;
  readonly now: number;
}

export type Wait =
  | {
      readonly for: "timer";
      readonly key: string;
      readonly due: number;
      readonly state?: string;
      readonly event: string;
      readonly isOverdue: boolean;
    }
  | { readonly for: "event"; readonly events: readonly string[] }
  | ({ readonly for: "person" } & Asked)
  | {
      readonly for: "activity";
      readonly key: string;
      readonly id: string;
      readonly activity: string;
      readonly state?: string;
      readonly status: "waiting" | "running";
      readonly attempt: number;
      readonly attemptsMax?: number;
      readonly nextAt?: number;
      readonly error?: JsonObject;
    }
  | { readonly for: "child"; readonly run: string; readonly id: string; readonly machine: string }
  | { readonly for: "operator"; readonly reason: JsonObject; readonly since: number }
  | { readonly for: "worker"; readonly since: number; readonly why: string }
  | { readonly for: "nothing"; readonly status: RunStatus };

/** From when on what is due counts as overdue: workers look at least every few seconds, and a takeover takes some more. */
export const overdueMs = 60_000;
/** From how many attempts on an activity counts as stuck: by then its backoff is long, and it fails for a reason. */
export const attemptsStuck = 5;

/** All it waits for; what explains most comes first. */
export function waitsOf(facts: WaitingFacts): readonly Wait[] {
  const { head, parked, now } = facts;
  if (head.status !== "active" && head.status !== "parked") return [{ for: "nothing", status: head.status }];
  const operator: Wait[] =
    head.status === "parked"
      ? [{ for: "operator", reason: parked?.reason ?? {}, since: parked?.at ?? head.updatedAt }]
      : [];
  const waits: Wait[] = [
    ...operator,
    ...workerWaits(facts),
    ...facts.decisions.map(personWait),
    ...activityWaits(facts),
    ...childWaits(facts),
    ...facts.state.timers.map((timer) => timerWait(timer, now)),
  ];
  const { events } = facts;
  return events.length === 0 ? waits : [...waits, { for: "event", events }];
}

function workerWaits({ head, isLoaded, inboxSize, now }: WaitingFacts): Wait[] {
  if (head.status !== "active") return [];
  if (!isLoaded)
    return [
      {
        ...{ for: "worker", since: head.updatedAt },
        why: `this process has no code of ${head.machine}@${head.version}`,
      },
    ];
  const late = head.wakeAt !== undefined && head.wakeAt < now - overdueMs ? head.wakeAt : undefined;
  if (late !== undefined)
    return [{ for: "worker", since: late, why: "a timer is overdue and no worker took it up" }];
  if (inboxSize > 0 && head.updatedAt < now - overdueMs)
    return [
      { for: "worker", since: head.updatedAt, why: "events wait in its inbox and no worker took them" },
    ];
  return [];
}

const personWait = ({ decision, state, asked, due }: Asked): Wait => ({
  ...{ for: "person", decision, state, asked },
  ...(due === undefined ? {} : { due }),
});

function activityWaits({ state, activities, now }: WaitingFacts): Wait[] {
  return state.activities.map((activity): Wait => {
    const row = activities.find(({ key }) => key === activity.key);
    const { key, id, activity: name, state: at } = activity;
    return {
      ...{ for: "activity", key, id, activity: name },
      ...(at === undefined ? {} : { state: at }),
      ...{ status: row?.status ?? "running", attempt: row?.attempt ?? 0 },
      ...(row?.attemptsMax === undefined ? {} : { attemptsMax: row.attemptsMax }),
      ...(row !== undefined && row.dueAt > now ? { nextAt: row.dueAt } : {}),
      ...(row?.error === undefined ? {} : { error: row.error }),
    };
  });
}

const childWaits = ({ head, state }: WaitingFacts): Wait[] =>
  state.children.map(
    ({ key, id, machine }): Wait => ({ for: "child", run: childName(head.run, key), id, machine }),
  );

function timerWait({ key, due, state, event }: Timer, now: number): Wait {
  return {
    ...{ for: "timer", key, due, event: event.type, isOverdue: due < now - overdueMs },
    ...(state === undefined ? {} : { state }),
  };
}

/** What a run waits for in one line, for people. */
export function lineOf(waits: readonly Wait[], now: number): string {
  const [first, ...rest] = waits;
  if (first === undefined) return "waits for nothing that is known";
  const more = rest.filter((wait) => wait.for !== "event" && !isDeadlineOf(wait, first)).length;
  return `${sayOf(first, now)}${more === 0 ? "" : `, and ${more} more`}`;
}

/** Whether a timer is what ends the time to decide, which is told with the decision. */
const isDeadlineOf = (wait: Wait, decision: Wait): boolean =>
  decision.for === "person" &&
  wait.for === "timer" &&
  wait.state === decision.state &&
  wait.due === decision.due;

function sayOf(wait: Wait, now: number): string {
  switch (wait.for) {
    case "nothing":
      return `has ended: ${wait.status}`;
    case "operator":
      return `is parked: ${textOf(wait.reason)}`;
    case "worker":
      return `waits for a worker: ${wait.why}`;
    case "person":
      return `waits for a decision: ${wait.asked}${wait.due === undefined ? "" : `, until ${timeOf(wait.due)}`}`;
    case "activity":
      return `waits for ${wait.activity}${attemptOf(wait)}`;
    case "child":
      return `waits for the child ${wait.id} (${wait.machine}), run ${wait.run}`;
    case "timer":
      return wait.due <= now
        ? `waits for a timer that was due at ${timeOf(wait.due)}`
        : `sleeps until ${timeOf(wait.due)}`;
    case "event":
      return `waits for ${wait.events.slice(0, 5).join(", ")}${wait.events.length > 5 ? " …" : ""}`;
  }
}

function attemptOf(wait: Extract<Wait, { for: "activity" }>): string {
  const { attempt, attemptsMax, nextAt, error } = wait;
  const of = attemptsMax === undefined ? "" : ` of ${attemptsMax}`;
  const why = error === undefined ? "" : `, last error: ${textOf(error)}`;
  if (nextAt !== undefined) return `: attempt ${attempt}${of} failed, the next at ${timeOf(nextAt)}${why}`;
  return attempt > 1 ? `: attempt ${attempt}${of}${why}` : "";
}

const textOf = ({ message, code, name }: Readonly<Record<string, Json>>): string =>
  String(message ?? code ?? name ?? "no reason is known");

const timeFormat = new Intl.DateTimeFormat("sv-SE", {
  ...{ dateStyle: "short", timeStyle: "medium", timeZone: "UTC" },
});
/** The last time there is, by ECMAScript. */
const timeMax = 8.64e15;

/** A time for people, in UTC and to the second. No clock is read: it is made of what came in. */
export function timeOf(ms: number): string {
  return Math.abs(ms) <= timeMax ? `${timeFormat.format(ms)} UTC` : "some day";
}
