/** Runs: starting, finding, showing and steering them. */
import { z } from "@hono/zod-openapi";
import { limits } from "../../limits.ts";
import { EventType } from "./machines.ts";
import { route } from "./route.ts";
import {
  Attribute,
  Checkpoint,
  Cursor,
  Failure,
  Flag,
  Json,
  JsonObject,
  Limit,
  Name,
  RunParams,
  Seq,
  Spending,
  Time,
  wholeNumber,
} from "./value.ts";

export const RunStatus = z.enum(["active", "parked", "done", "failed", "cancelled"]).openapi("RunStatus");
export type RunStatus = z.output<typeof RunStatus>;

export const Stuck = z
  .object({
    why: z.enum(["parked", "overdue", "retrying"]).openapi({
      description:
        "`parked`: it needs a person. `overdue`: it has had something to do for over a minute and nobody took it up. `retrying`: an activity was tried five times or more.",
    }),
    since: Time,
  })
  .openapi("Stuck");

export const RunSummary = z
  .object({
    run: z.string(),
    machine: z.string(),
    version: z.int(),
    status: RunStatus,
    seq: Seq.openapi({ description: "The newest checkpoint." }),
    subject: z.string(),
    createdAt: Time,
    updatedAt: Time,
    completedAt: Time.optional(),
    wakeAt: Time.optional().openapi({ description: "When its next timer is due." }),
    attributes: z.record(z.string(), Attribute),
    parent: z.object({ run: z.string(), id: z.string() }).optional(),
    fork: z
      .object({ run: z.string(), seq: Seq })
      .optional()
      .openapi({ description: "Where it was forked from." }),
    needsPerson: z.boolean().openapi({ description: "Whether a decision of it stands in the inbox." }),
    stuck: Stuck.optional(),
  })
  .openapi("RunSummary");
export type RunSummary = z.output<typeof RunSummary>;

export const RunPage = z
  .object({
    runs: z.array(RunSummary).openapi({ description: "The newest first." }),
    next: z.string().optional().openapi({ description: "The cursor of the next page, if there is one." }),
  })
  .openapi("RunPage");
export type RunPage = z.output<typeof RunPage>;

export const Wait = z
  .discriminatedUnion("for", [
    z.object({
      for: z.literal("timer"),
      key: z.string(),
      due: Time,
      state: z.string().optional(),
      event: z.string(),
      isOverdue: z.boolean(),
    }),
    z.object({ for: z.literal("event"), events: z.array(z.string()) }),
    z.object({
      for: z.literal("person"),
      decision: z.string(),
      state: z.string(),
      asked: z.string(),
      due: Time.optional(),
    }),
    z.object({
      for: z.literal("activity"),
      key: z.string(),
      id: z.string(),
      activity: z.string(),
      state: z.string().optional(),
      status: z.enum(["waiting", "running"]),
      attempt: z.int().openapi({ description: "Attempts begun so far." }),
      attemptsMax: z.int().optional(),
      nextAt: Time.optional().openapi({ description: "When the next attempt may begin." }),
      error: Failure.optional().openapi({ description: "How the last attempt ended." }),
    }),
    z.object({ for: z.literal("child"), run: z.string(), id: z.string(), machine: z.string() }),
    z.object({ for: z.literal("operator"), reason: Failure, since: Time }),
    z.object({ for: z.literal("worker"), since: Time, why: z.string() }),
    z.object({ for: z.literal("nothing"), status: RunStatus }),
  ])
  .openapi("Wait");
export type Wait = z.output<typeof Wait>;

export const Waiting = z
  .object({
    line: z.string().openapi({
      description: "One line for people.",
      example: "waits for approval: refund 40 € (tool refund)",
    }),
    for: z.array(Wait).openapi({ description: "All it waits for; what explains most comes first." }),
  })
  .openapi("Waiting");
export type Waiting = z.output<typeof Waiting>;

export const Breakpoint = z
  .union([z.strictObject({ state: z.string().min(1) }), z.strictObject({ event: z.string().min(1) })])
  .openapi("Breakpoint", { description: "Where a run is parked: on entering a state, or before an event." });

const RunLimits = z.object({
  steps: z.number().optional(),
  time: z.number().optional(),
  tokens: z.number().optional(),
  cost: z.number().optional(),
});

export const RunDetail = z
  .object({
    ...RunSummary.shape,
    hash: z.string(),
    kind: z.enum(["machine", "agent", "planner", "board"]),
    loaded: z.boolean().openapi({ description: "Whether this process has the code of its machine." }),
    newerVersion: z.int().optional(),
    configuration: z.array(z.string()).openapi({ description: "Paths of the active leaves." }),
    tags: z.array(z.string()).openapi({ description: "Of all active states." }),
    waiting: Waiting,
    nextEvents: z
      .array(EventType)
      .openapi({ description: "What active states listen to; platform events left out." }),
    inboxSize: z.int().openapi({ description: "Events that wait to be taken, counted to a bound." }),
    children: z.array(
      z.object({ run: z.string(), id: z.string(), machine: z.string(), status: RunStatus.optional() }),
    ),
    forks: z.array(z.object({ run: z.string(), seq: Seq })),
    limits: RunLimits.optional(),
    spent: Spending.optional(),
    breakpoints: z.array(Breakpoint),
    output: Json.optional(),
    reason: Failure.optional().openapi({ description: "Why it failed." }),
  })
  .openapi("RunDetail");
export type RunDetail = z.output<typeof RunDetail>;

export const RunQuery = z.object({
  status: RunStatus.optional(),
  machine: Name.optional(),
  version: wholeNumber(0).optional(),
  subject: Name.optional(),
  createdFrom: wholeNumber(0).optional(),
  createdBefore: wholeNumber(0).optional(),
  waiting: z.enum(["person"]).optional().openapi({ description: "Runs whose decision stands in the inbox." }),
  stuck: Flag.optional().openapi({ description: "Runs that are parked or overdue; see `Stuck`." }),
  attributes: z
    .record(z.string(), Attribute)
    .optional()
    .openapi({
      param: { name: "attributes", in: "query", style: "deepObject", explode: true },
      type: "object",
      description:
        "Written `attributes[NAME]=VALUE` or `attribute.NAME=VALUE`, as often as needed. `true`, `false` and numbers are such; in double quotes they are text.",
    }),
  limit: Limit.optional(),
  cursor: Cursor.optional(),
});

export const StartBody = z
  .strictObject({
    machine: Name,
    version: z
      .int()
      .min(0)
      .optional()
      .openapi({ description: "The newest one that runs begin with, unless given." }),
    run: Name.optional().openapi({
      description:
        "Its id. The same id, machine and input again give the same run. Else the `Idempotency-Key` is the id.",
    }),
    input: Json.optional(),
    subject: Name.optional(),
    attributes: z.record(z.string(), Attribute).optional(),
    limits: z
      .strictObject({
        steps: z.number().optional(),
        time: z.union([z.number(), z.string()]).optional(),
        tokens: z.number().optional(),
        cost: z.number().optional(),
      })
      .optional(),
    singleton: z
      .strictObject({ key: Name, policy: z.enum(["attach", "refuse", "replace"]).optional() })
      .optional(),
  })
  .openapi("StartBody");

const SentEvent = z.strictObject({
  type: z.string().min(1),
  data: Json.optional(),
  key: Name.optional().openapi({ description: "A repeated key is the same event." }),
});

export const SendBody = z
  .strictObject({
    events: z.array(SentEvent).min(1).max(limits.sentEventsMax),
    wait: z.enum(["durable", "handled"]).optional().openapi({
      description: "Until they are durable, which is what it does unless told, or until they are taken.",
    }),
    timeoutMs: z.int().min(1).max(limits.askMsMax).optional().openapi({
      description:
        "How long to wait for that, 10 s unless given. What is not taken by then is durable all the same, and told without `handled`.",
    }),
  })
  .openapi("SendBody", {
    description:
      "All of the events become durable, in this order, or none. A single one without a key has the `Idempotency-Key`.",
  });

export const Sent = z
  .object({
    events: z.array(
      z.object({
        type: z.string(),
        handled: z
          .object({
            seq: Seq,
            outcome: z.enum(["taken", "ignored", "deferred", "refused"]),
            error: Failure.optional(),
          })
          .optional()
          .openapi({ description: "With `wait: handled`." }),
      }),
    ),
  })
  .openapi("Sent");

export const RunState = z
  .object({
    run: z.string(),
    seq: Seq,
    state: z.looseObject({
      machine: z.string(),
      version: z.int(),
      status: z.enum(["active", "done", "cancelled", "failed"]),
      configuration: z.array(z.string()),
      context: Json,
      timers: z.array(JsonObject),
      activities: z.array(JsonObject),
      children: z.array(JsonObject),
      deferred: z.array(JsonObject),
      output: Json.optional(),
      reason: Failure.optional(),
    }),
  })
  .openapi("RunState");
export type RunState = z.output<typeof RunState>;

export const BulkBody = z
  .strictObject({
    action: z.enum(["cancel", "retry"]),
    runs: z.array(Name).max(limits.bulkRunsMax).optional(),
    filter: z
      .strictObject({
        status: RunStatus.optional(),
        machine: Name.optional(),
        version: z.int().min(0).optional(),
        subject: Name.optional(),
        createdFrom: z.number().optional(),
        createdBefore: z.number().optional(),
        waiting: z.enum(["person"]).optional(),
        stuck: z.boolean().optional(),
        attributes: z.record(z.string(), Attribute).optional(),
      })
      .optional(),
    dryRun: z.boolean().optional(),
  })
  .openapi("BulkBody", { description: "Either `runs` or a `filter`." });

export const BulkAnswer = z
  .object({
    action: z.enum(["cancel", "retry"]),
    dryRun: z.boolean(),
    matched: z.int(),
    isMore: z.boolean().openapi({ description: "Whether more match than one call looks at; call again." }),
    done: z.int(),
    skipped: z.int().openapi({ description: "Nothing to do: ended, or not parked." }),
    failed: z.int(),
    runs: z.array(
      z.object({
        run: z.string(),
        outcome: z.enum(["done", "would", "skipped", "failed"]),
        error: z.object({ code: z.string(), message: z.string() }).optional(),
      }),
    ),
  })
  .openapi("BulkAnswer");

export const runRoutes = {
  "runs.start": route("runs.start", {
    permission: "develop",
    summary: "Start a run, or attach to the one of the same id, machine and input.",
    body: StartBody,
    answer: RunDetail,
    status: 201,
    isKeyed: true,
  }),
  "runs.list": route("runs.list", {
    permission: "read",
    summary: "Runs, the newest first.",
    query: RunQuery,
    answer: RunPage,
  }),
  "runs.show": route("runs.show", {
    permission: "read",
    summary: "A run: where it is, what it waits for and why, what it takes next.",
    params: RunParams,
    answer: RunDetail,
  }),
  "runs.state": route("runs.state", {
    permission: "read",
    summary: "A run's whole state, now or at a checkpoint.",
    params: RunParams,
    query: z.object({ at: Checkpoint.optional() }),
    answer: RunState,
  }),
  "runs.send": route("runs.send", {
    permission: "operate",
    summary: "Send events.",
    params: RunParams,
    body: SendBody,
    answer: Sent,
    isKeyed: true,
  }),
  "runs.ask": route("runs.ask", {
    permission: "operate",
    summary: "Send an event and wait for the reply that the machine gives to it.",
    description: "The event's key is `key`, else the `Idempotency-Key`.",
    isKeyed: true,
    params: RunParams,
    body: z.strictObject({
      type: z.string().min(1),
      data: Json.optional(),
      key: Name.optional(),
      timeoutMs: z.int().min(1).max(limits.askMsMax).optional(),
    }),
    answer: z.object({ reply: Json }),
  }),
  "runs.cancel": route("runs.cancel", {
    permission: "operate",
    summary: "End a run: exit actions run, what it waits for is cancelled.",
    params: RunParams,
    answer: RunDetail,
  }),
  "runs.retry": route("runs.retry", {
    permission: "operate",
    summary: "Bring a parked run back.",
    params: RunParams,
    answer: RunDetail,
  }),
  "runs.pause": route("runs.pause", {
    permission: "operate",
    summary: "Park a run until it is brought back.",
    params: RunParams,
    answer: RunDetail,
  }),
  "runs.advance": route("runs.advance", {
    permission: "operate",
    summary: "Let a parked run take one event, or so many.",
    params: RunParams,
    body: z.strictObject({ events: z.int().min(1).max(limits.advanceMax).optional() }),
    answer: RunDetail,
  }),
  "runs.breakpoints": route("runs.breakpoints", {
    permission: "operate",
    summary: "Set where a run is parked from now on, instead of any breakpoints it had.",
    params: RunParams,
    body: z.strictObject({ breakpoints: z.array(Breakpoint).max(limits.breakpointsMax) }),
    answer: RunDetail,
  }),
  "runs.bulk": route("runs.bulk", {
    permission: "operate",
    summary: "Cancel or retry many runs.",
    body: BulkBody,
    answer: BulkAnswer,
  }),
};
