/** Agents: conversations, plans and boards, as their runs' states tell them at any checkpoint. */
import { z } from "@hono/zod-openapi";
import { limits } from "../../limits.ts";
import { route } from "./route.ts";
import {
  Checkpoint,
  Failure,
  Json,
  JsonObject,
  Limit,
  Name,
  RunParams,
  Seq,
  Time,
  wholeNumber,
} from "./value.ts";

export const MessagePart = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("thinking"), text: z.string(), signature: z.string().optional() }),
    z.object({
      type: z.literal("file"),
      mediaType: z.string(),
      url: z.string().optional(),
      data: z.string().optional(),
      name: z.string().optional(),
    }),
    z.object({ type: z.literal("call"), id: z.string(), tool: z.string(), input: Json }),
    z.object({
      type: z.literal("result"),
      call: z.string(),
      tool: z.string(),
      output: Json,
      isError: z.literal(true).optional(),
    }),
  ])
  .openapi("MessagePart");
export type MessagePart = z.output<typeof MessagePart>;

export const Message = z
  .object({
    id: z.string(),
    role: z.enum(["system", "user", "assistant", "tool"]),
    parts: z.array(MessagePart),
    at: Time,
    metadata: JsonObject.optional(),
    position: z.int(),
    after: z.int().nullable().openapi({ description: "The position of the message it comes after." }),
    versions: z
      .array(z.int())
      .openapi({ description: "Positions of what was said in its place on all branches, its own included." }),
  })
  .openapi("Message");
export type Message = z.output<typeof Message>;

const TaskStatus = z.enum(["pending", "running", "done", "failed", "skipped"]);
export const Task = z
  .object({
    id: z.string(),
    title: z.string(),
    kind: z.string().optional(),
    input: Json.optional(),
    needs: z.array(z.string()),
    estimateMs: z.number().optional(),
    expects: JsonObject.optional(),
    status: TaskStatus,
    attempts: z.int(),
    startedAt: Time.optional(),
    endedAt: Time.optional(),
    result: Json.optional(),
    error: Failure.optional(),
  })
  .openapi("Task");
export type Task = z.output<typeof Task>;

export const PlanReport = z
  .object({
    goal: z.string(),
    notes: z.array(z.object({ text: z.string(), at: Time })),
    revision: z.int(),
    tasks: z.array(Task),
    progress: z.object({
      total: z.int(),
      done: z.int(),
      skipped: z.int(),
      failed: z.int(),
      running: z.int(),
      ready: z.int(),
      waiting: z.int(),
      blocked: z.int(),
      share: z.number(),
    }),
    criticalPath: z.object({ tasks: z.array(z.string()), ms: z.number() }),
    bottlenecks: z.array(z.string()),
  })
  .openapi("PlanReport");
export type PlanReport = z.output<typeof PlanReport>;

export const ToolCall = z
  .object({
    id: z.string(),
    tool: z.string(),
    input: Json,
    status: z
      .string()
      .openapi({ description: "`running`, `done`, `failed`, `rejected`, `cancelled` or `unknown`." }),
    output: Json.optional(),
    error: Failure.optional(),
    startedAt: Time,
    ms: z.number().optional(),
    attempt: z.int(),
  })
  .openapi("ToolCall");
export type ToolCall = z.output<typeof ToolCall>;

const Decided = z.object({
  isApproved: z.boolean(),
  by: z.string().optional(),
  note: z.string().optional(),
  at: Time.nullable(),
  input: Json.optional(),
});

export const WindowReport = z
  .object({
    at: Time,
    head: z.int().nullable(),
    budget: z.number(),
    tokens: z.number(),
    system: z.string(),
    stretches: z.array(
      z.object({
        how: z.enum(["shown", "summarised", "left"]),
        from: z.int(),
        to: z.int(),
        messages: z.int(),
        summary: z.string().optional().openapi({ description: "The id of the summary that stood for them." }),
      }),
    ),
    left: z.object({
      dropped: z.int(),
      summarised: z.int(),
      cleared: z.array(z.string()),
      cut: z.array(z.string()),
      pending: z.array(z.string()),
    }),
  })
  .openapi("WindowReport", {
    description: "What the model saw when it was asked last, and what was left out.",
  });
export type WindowReport = z.output<typeof WindowReport>;

export const ConversationReport = z
  .object({
    run: z.string(),
    agent: z.string(),
    version: z.int(),
    seq: Seq,
    status: z.enum(["active", "done", "cancelled", "failed"]),
    phase: z.string().openapi({
      description:
        "`idle`, `understanding`, `recalling`, `planning`, `thinking`, `summarising`, `acting`, `waiting`, `reflecting`, `stopping`, `done`, `error`, `away`, `handedOver` or `closed`.",
    }),
    turn: z.looseObject({
      number: z.int(),
      message: z.string(),
      thoughts: z.int(),
      tokens: z.number(),
      cost: z.number(),
      revisions: z.int(),
    }),
    ended: z
      .looseObject({
        message: z.string(),
        outcome: z.enum(["answered", "failed", "stopped"]),
        reason: Failure.optional(),
        head: z.int().nullable(),
      })
      .nullable()
      .openapi({ description: "How the last turn ended." }),
    queued: z.array(z.object({ id: z.string(), parts: z.array(MessagePart) })),
    thread: z.object({
      messages: z.array(Message).openapi({ description: "Of the branch, the oldest first." }),
      before: z
        .int()
        .nullable()
        .openapi({ description: "The `head` that gives those before; null if there are none." }),
      branches: z.array(
        z.object({ head: z.int(), id: z.string(), length: z.int(), at: Time, active: z.boolean() }),
      ),
      summaries: z.array(
        z.object({
          id: z.string(),
          from: z.int(),
          to: z.int(),
          text: z.string(),
          at: Time,
          by: z.string().optional(),
        }),
      ),
    }),
    approvals: z.object({
      open: z.array(
        z.object({
          call: z.string().openapi({ description: "Also the `decision` of the inbox." }),
          tool: z.string(),
          input: Json,
          position: z.int(),
          askedAt: Time,
          decideBy: Time.nullable(),
        }),
      ),
      decided: z.array(
        z.object({ ...Decided.shape, call: z.string(), tool: z.string(), asked: Json, position: z.int() }),
      ),
    }),
    plan: PlanReport.nullable(),
    calls: z.array(ToolCall),
    used: z.object({ thoughts: z.int(), input: z.number(), output: z.number(), cost: z.number() }),
    window: WindowReport.nullable(),
    topics: z
      .array(
        z.object({
          id: z.int(),
          label: z.string(),
          stretches: z.array(z.object({ from: z.int(), to: z.int() })),
          isCurrent: z.boolean(),
        }),
      )
      .openapi({
        description: "What it was about, in the order it came up; empty where topics are not tracked.",
      }),
    successor: z.string().nullable(),
  })
  .openapi("ConversationReport");
export type ConversationReport = z.output<typeof ConversationReport>;

export const PlannerReport = z
  .object({ run: z.string(), seq: Seq, plan: PlanReport })
  .openapi("PlannerReport", { description: "Of a planner's run: a plan without a conversation." });

export const BoardReport = z
  .object({
    run: z.string(),
    seq: Seq,
    version: z.int().openapi({ description: "The number of the newest change." }),
    entries: z.array(z.object({ key: z.string(), value: Json, version: z.int(), by: z.string(), at: Time })),
    reviews: z.array(
      z.object({
        id: z.string(),
        key: z.string(),
        value: Json,
        by: z.string(),
        at: Time,
        ifVersion: z.int(),
      }),
    ),
    leases: z.array(z.object({ token: z.int(), names: z.array(z.string()), by: z.string(), until: Time })),
    queue: z
      .array(z.object({ names: z.array(z.string()), by: z.string(), ms: z.number(), until: Time.nullable() }))
      .openapi({ description: "Who waits for leases, the one who has waited longest first." }),
    proposals: z.array(
      z.object({
        id: z.string(),
        question: z.string(),
        options: z.array(z.string()),
        voters: z.array(z.object({ name: z.string(), weight: z.number() })),
        rule: z.string(),
        quorum: z.number(),
        closesAt: Time.nullable(),
        closedAt: Time.nullable(),
        by: z.string(),
        at: Time,
        ballots: z.array(z.object({ by: z.string(), choice: z.array(z.string()) })),
      }),
    ),
  })
  .openapi("BoardReport");
export type BoardReport = z.output<typeof BoardReport>;

export const conversationRoutes = {
  "runs.conversation": route("runs.conversation", {
    permission: "read",
    summary: "What was said with an agent, its plan, its calls, and what its model saw; at any checkpoint.",
    params: RunParams,
    query: z.object({
      at: Checkpoint.optional(),
      head: wholeNumber(0)
        .optional()
        .openapi({ description: "The message that ends the wanted part; `before` of the last answer." }),
      limit: Limit.optional().openapi({ description: "How many messages at most; 200 unless given." }),
    }),
    answer: ConversationReport,
  }),
  "runs.plan": route("runs.plan", {
    permission: "read",
    summary: "The plan of a planner's or an agent's run, at any checkpoint.",
    params: RunParams,
    query: z.object({ at: Checkpoint.optional() }),
    answer: PlannerReport,
  }),
  "runs.say": route("runs.say", {
    permission: "operate",
    summary: "Say something to an agent.",
    isKeyed: true,
    description:
      "The message's id is `id`, else the `Idempotency-Key`, else a new one; a repeated one is the same message.",
    params: RunParams,
    body: z.strictObject({
      text: z.string().min(1).max(limits.saidLengthMax),
      id: Name.optional(),
      instead: Name.optional().openapi({
        description: "The message of the user that this is said instead of.",
      }),
    }),
    answer: z.object({ message: z.string(), seq: Seq, outcome: z.enum(["taken", "deferred", "waiting"]) }),
  }),
  "runs.board": route("runs.board", {
    permission: "read",
    summary: "What stands on a board, at any checkpoint.",
    params: RunParams,
    query: z.object({ at: Checkpoint.optional() }),
    answer: BoardReport,
  }),
};
