/** What an operator looks at: how much there is to do, how long it takes, what fails, who works, who may do what. */
import { z } from "@hono/zod-openapi";
import { permissions, roles } from "../../security/policy.ts";
import { JournalEvent } from "./journal.ts";
import { route } from "./route.ts";
import { Limit, Name, Time, wholeNumber } from "./value.ts";

export const Worker = z
  .object({
    worker: z.string(),
    epoch: z.int(),
    isLeaving: z.boolean(),
    isThis: z.boolean().openapi({ description: "Whether it is the process that answers." }),
    slots: z.int().openapi({ description: "Activities it can run at a time." }),
    running: z.int(),
    waiting: z.int(),
  })
  .openapi("Worker");
export type Worker = z.output<typeof Worker>;

export const Latency = z
  .object({
    count: z.int(),
    p50: z.number(),
    p95: z.number(),
    p99: z.number(),
    max: z.number(),
  })
  .openapi("Latency", { description: "Milliseconds, of the last minutes of this process." });
export type Latency = z.output<typeof Latency>;

export const FailureGroup = z
  .object({
    fingerprint: z.string(),
    kind: z.enum(["refused", "failed", "parked", "activity"]),
    machine: z.string(),
    name: z.string().openapi({ description: "The error's code or name." }),
    message: z.string().openapi({ description: "Of the newest one." }),
    count: z.int(),
    firstAt: Time,
    lastAt: Time,
    lastRun: z.string(),
    lastSeq: z.int(),
  })
  .openapi("FailureGroup", {
    description: "Failures of the same kind, seen by this process since it began.",
  });
export type FailureGroup = z.output<typeof FailureGroup>;

export const ServerOverview = z
  .object({
    latency: z.object({
      requests: Latency.openapi({ description: "Answers of this server, streams left out." }),
      steps: Latency.optional().openapi({
        description: "Steps with what records them, where the runtime is profiled.",
      }),
      commits: Latency.optional().openapi({
        description: "Commits of the store, where the runtime is profiled.",
      }),
      queue: Latency.optional().openapi({ description: "Events, from when they came to their turn." }),
      activities: Latency.optional().openapi({ description: "Attempts of activities." }),
    }),
    workers: z.array(Worker),
    streams: z.int().openapi({ description: "Open streams of this process." }),
    store: z.object({ kind: z.string(), bytes: z.number().optional() }),
  })
  .openapi("ServerOverview", {
    description: "Of all tenants together, so it is told to principals of the server's own tenant only.",
  });
export type ServerOverview = z.output<typeof ServerOverview>;

export const Overview = z
  .object({
    at: Time,
    since: Time.openapi({ description: "Since when this process has counted." }),
    throughput: z
      .object({
        bucketMs: z.int(),
        buckets: z.array(
          z.object({ at: Time, steps: z.int(), started: z.int(), ended: z.int(), failures: z.int() }),
        ),
      })
      .openapi({ description: "The oldest first; empty buckets are there too." }),
    queue: z.object({
      due: z
        .int()
        .openapi({ description: "Runs with something to do that nobody has taken up; counted to a bound." }),
      isMore: z.boolean(),
      oldestMs: z.number().openapi({ description: "How long the oldest has waited; 0 if none." }),
    }),
    timerLagMs: z.number().openapi({ description: "How late timers fired lately, at the worst." }),
    runs: z.object({
      parked: z.int(),
      needPerson: z.int(),
      deadLetters: z.int(),
      isMore: z.boolean().openapi({ description: "Whether one of them is larger than was counted." }),
    }),
    failures: z.array(FailureGroup).openapi({ description: "The newest first." }),
    server: ServerOverview.optional(),
  })
  .openapi("Overview", {
    description: "Of the runs of a tenant, and of the server for those who may see that.",
  });
export type Overview = z.output<typeof Overview>;

export const DeadLetter = z
  .object({
    number: z.int(),
    run: z.string().openapi({ description: "The run it was for." }),
    event: JournalEvent,
    reason: z.enum(["missing", "ended"]),
    at: Time,
  })
  .openapi("DeadLetter");
export type DeadLetter = z.output<typeof DeadLetter>;

export const Role = z.enum(roles).openapi("Role");
export type Role = z.output<typeof Role>;

export const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    role: Role,
    tenant: z.string(),
    createdAt: Time,
    createdBy: z.string(),
    expiresAt: Time.optional(),
    revokedAt: Time.optional(),
    lastUsedAt: Time.optional().openapi({ description: "To within some minutes." }),
  })
  .openapi("ApiKey");
export type ApiKey = z.output<typeof ApiKey>;

export const NewApiKey = z
  .object({
    ...ApiKey.shape,
    key: z
      .string()
      .openapi({ description: "The key itself. It is told now and never again.", example: "hf_…" }),
  })
  .openapi("NewApiKey");
export type NewApiKey = z.output<typeof NewApiKey>;

export const Me = z
  .object({
    id: z.string(),
    tenant: z.string(),
    role: Role,
    via: z.enum(["key", "dev"]),
    permissions: z.array(z.enum(permissions)),
    version: z.string().openapi({ description: "Of Holdfast." }),
    isDev: z.boolean(),
    token: z.string().optional().openapi({
      description: "In dev mode the token that was asked with, for what is to be pasted elsewhere.",
    }),
  })
  .openapi("Me");
export type Me = z.output<typeof Me>;

/** Whose keys are meant. An admin of the server's own tenant sees to those of any, as to those it makes. */
const OfTenant = z.object({ tenant: Name.optional().openapi({ description: "One's own unless given." }) });
const LetterParams = z.object({ number: wholeNumber(1) });
const nothing = z.object({});

export const operationRoutes = {
  "operations.overview": route("operations.overview", {
    permission: "read",
    summary: "How it goes: throughput, latencies, what waits, what fails, who works.",
    answer: Overview,
  }),
  "operations.workers": route("operations.workers", {
    permission: "oversee",
    summary: "Who shares the store, and how much each has to do.",
    answer: z.object({ workers: z.array(Worker) }),
  }),
  "deadLetters.list": route("deadLetters.list", {
    permission: "read",
    summary: "Events that found no run to take them, in the order they were lost.",
    query: z.object({
      after: wholeNumber(0).optional().openapi({ description: "After the one of this number." }),
      limit: Limit.optional(),
    }),
    answer: z.object({ letters: z.array(DeadLetter), next: z.int().optional() }),
  }),
  "deadLetters.redeliver": route("deadLetters.redeliver", {
    permission: "operate",
    summary: "Send one again, to its run or another.",
    params: LetterParams,
    body: z.strictObject({ to: Name.optional() }),
    answer: nothing,
  }),
  "deadLetters.discard": route("deadLetters.discard", {
    permission: "operate",
    summary: "Forget one.",
    params: LetterParams,
    answer: nothing,
  }),
  "keys.list": route("keys.list", {
    permission: "administer",
    summary: "The keys of the tenant, without their secrets.",
    query: OfTenant,
    answer: z.object({ keys: z.array(ApiKey) }),
  }),
  "keys.create": route("keys.create", {
    permission: "administer",
    summary: "Make a key. An admin of the server's own tenant may make keys of any tenant.",
    body: z.strictObject({
      name: z.string().min(1).max(100),
      role: Role,
      tenant: Name.optional().openapi({ description: "One's own unless given." }),
      expiresInMs: z.int().min(1_000).optional().openapi({ description: "Never, unless given." }),
    }),
    answer: NewApiKey,
    status: 201,
  }),
  "keys.revoke": route("keys.revoke", {
    permission: "administer",
    summary: "Revoke a key: it is refused from now on.",
    params: z.object({ key: z.string().min(1).max(64) }),
    query: OfTenant,
    answer: ApiKey,
  }),
  "me.show": route("me.show", {
    permission: "read",
    summary: "Who asks, and what they may do.",
    answer: Me,
  }),
};
