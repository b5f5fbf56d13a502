/** Journals: what happened in a run, step by step, in pages and live. */
import { z } from "@hono/zod-openapi";
import { route } from "./route.ts";
import { RunStatus } from "./runs.ts";
import {
  Attribute,
  Checkpoint,
  Failure,
  Json,
  JsonObject,
  Limit,
  Patch,
  RunParams,
  Seq,
  Spending,
  Time,
  wholeNumber,
} from "./value.ts";

export const JournalEvent = z
  .looseObject({
    type: z.string(),
    data: Json.optional(),
    kind: z.enum(["internal", "platform"]).optional(),
    by: z.string().optional().openapi({ description: "Who sent it, where that is known." }),
    invocation: z
      .string()
      .optional()
      .openapi({ description: "The key of the activity or child that it comes from." }),
    timer: z.string().optional().openapi({ description: "The key of the timer that fired." }),
  })
  .openapi("JournalEvent");

export const Effect = z
  .looseObject({
    type: z.enum(["activity", "spawn", "timer", "send", "emit", "log", "reply", "cancel"]),
    key: z.string().optional(),
    id: z.string().optional(),
    activity: z.string().optional(),
    machine: z.string().optional(),
    input: Json.optional(),
    due: Time.optional(),
    data: Json.optional(),
  })
  .openapi("Effect", { description: "What a step asked the world to do." });

export const JournalEntry = z
  .object({
    seq: Seq,
    at: Time,
    hash: z.string(),
    event: JournalEvent,
    outcome: z.enum(["taken", "ignored", "deferred", "refused"]),
    patches: z.array(Patch),
    effects: z.array(Effect),
    error: Failure.optional().openapi({ description: "Why it was refused." }),
    dropped: z.array(JsonObject).optional(),
    spent: Spending.optional(),
    configuration: z.array(z.string()).openapi({ description: "After this step." }),
    status: RunStatus.openapi({ description: "After this step." }),
  })
  .openapi("JournalEntry");
export type JournalEntry = z.output<typeof JournalEntry>;

export const JournalPage = z
  .object({
    entries: z.array(JournalEntry).openapi({ description: "In order." }),
    first: Seq.openapi({
      description: "The first checkpoint that is kept; later than 1 if the journal was pruned.",
    }),
    last: Seq.openapi({ description: "The newest checkpoint of the run." }),
    before: Seq.optional().openapi({ description: "For the page before, if there is one: `?before=`." }),
    next: Seq.optional().openapi({ description: "For the page after, if there is one: `?from=`." }),
  })
  .openapi("JournalPage");
export type JournalPage = z.output<typeof JournalPage>;

export const StepNews = z
  .object({
    run: z.string(),
    machine: z.string(),
    version: z.int(),
    status: RunStatus,
    subject: z.string(),
    attributes: z.record(z.string(), Attribute),
    createdAt: Time,
    completedAt: Time.optional(),
    seq: Seq,
    at: Time,
    event: z.string().openapi({ description: "The type of the event that was taken." }),
    outcome: z.enum(["taken", "ignored", "deferred", "refused"]),
    configuration: z.array(z.string()),
    needsPerson: z.boolean(),
  })
  .openapi("StepNews", { description: "One step of any run, for lists and dashboards." });
export type StepNews = z.output<typeof StepNews>;

export const Chunk = z
  .object({ offset: z.int(), attempt: z.int(), data: Json })
  .openapi("Chunk", { description: "A piece of what an activity says while it runs." });
export type Chunk = z.output<typeof Chunk>;

/** What a stream of all runs may also say. */
export const Gap = z.object({ missed: z.boolean() }).openapi("Gap", {
  description: "The event `gap`: what happened in between is not kept here; read lists anew.",
});

const streams =
  "Server-sent events; `id` is for `Last-Event-ID`, with which it goes on where it was. A comment every 15 s keeps it open. `event: end` says that there will be no more.";

export const journalRoutes = {
  "runs.journal": route("runs.journal", {
    permission: "read",
    summary: "A page of a run's journal, each entry with the configuration after it.",
    params: RunParams,
    query: z.object({
      from: Checkpoint.optional().openapi({ description: "From this checkpoint on." }),
      before: Checkpoint.optional().openapi({ description: "The newest before this one, in order." }),
      limit: Limit.optional(),
    }),
    answer: JournalPage,
  }),
  "runs.follow": route("runs.follow", {
    permission: "read",
    summary: "A run's steps from a checkpoint on, and those to come, until it has ended.",
    description: `${streams} \`id\` is the checkpoint.`,
    params: RunParams,
    query: z.object({
      from: Checkpoint.optional().openapi({ description: "From the next one on, unless given." }),
    }),
    answer: JournalEntry,
  }),
  "steps.follow": route("steps.follow", {
    permission: "read",
    summary: "The steps of all runs of the tenant, as they come.",
    description: `${streams} \`event: gap\` says that some were missed.`,
    answer: StepNews,
  }),
  "runs.chunks": route("runs.chunks", {
    permission: "read",
    summary: "What an activity says while it runs, until it is over.",
    description: `${streams} \`id\` is the offset.`,
    params: z.object({ ...RunParams.shape, key: z.string().min(1).max(64) }),
    query: z.object({ from: wholeNumber(0).optional() }),
    answer: Chunk,
  }),
};
