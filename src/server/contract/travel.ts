/** Travel: back to a checkpoint, on from one in another run, and what differs. */
import { z } from "@hono/zod-openapi";
import { limits } from "../../limits.ts";
import { JournalEntry } from "./journal.ts";
import { route } from "./route.ts";
import { RunDetail } from "./runs.ts";
import { Checkpoint, Json, JsonObject, Name, Patch, RunParams, Seq, Time } from "./value.ts";

const Work = z.object({
  kind: z.enum(["activity", "timer", "child"]),
  key: z.string(),
  id: z.string().optional(),
  name: z.string().openapi({ description: "The activity, the machine, or the event that the timer fires." }),
  state: z.string().optional(),
  input: Json.optional(),
  due: Time.optional(),
});

export const TravelPreview = z
  .object({
    kind: z.enum(["fork", "rollback"]),
    at: Seq,
    configuration: z.array(z.string()).openapi({ description: "Where it would go on." }),
    begins: z
      .array(Work)
      .openapi({ description: "What would begin again: it may do something in the world once more." }),
    stays: z.array(Work).openapi({ description: "What is under way, and would stay so." }),
    cancels: z.array(Work).openapi({ description: "What would be cancelled." }),
    done: z
      .array(z.object({ seq: Seq, activity: z.string(), key: z.string() }))
      .openapi({ description: "Activities that ended since then; what they did stays done." }),
    isMore: z.boolean().openapi({ description: "Whether more was done than is listed." }),
    patches: z.array(Patch).openapi({ description: "What turns the state of now into that one." }),
    refused: z.string().optional().openapi({ description: "Why it cannot be done." }),
  })
  .openapi("TravelPreview");
export type TravelPreview = z.output<typeof TravelPreview>;

const Told = z.object({ run: z.string(), entry: JournalEntry.omit({ configuration: true, status: true }) });

export const Diff = z
  .object({ from: Seq, to: Seq, patches: z.array(Patch), before: JsonObject, after: JsonObject })
  .openapi("Diff", { description: "`before` and `after` are the two states." });
export type Diff = z.output<typeof Diff>;

export const Comparison = z
  .object({
    common: z.int().openapi({ description: "Steps they have in common." }),
    first: z
      .object({ one: Told.optional(), other: Told.optional() })
      .openapi({ description: "The first step in which they are not alike, on each side." }),
    patches: z
      .array(Patch)
      .openapi({ description: "What turns the newest state of the one into the other's." }),
  })
  .openapi("Comparison");
export type Comparison = z.output<typeof Comparison>;

export const Changed = z.object({ path: z.string(), change: Told.optional() }).openapi("Changed", {
  description: "The step that last changed what stands at a path; none if it never was.",
});
export type Changed = z.output<typeof Changed>;

export const travelRoutes = {
  "runs.travel": route("runs.travel", {
    permission: "read",
    summary: "What going back to a checkpoint, or forking from it, would do.",
    params: RunParams,
    query: z.object({ at: Checkpoint, kind: z.enum(["fork", "rollback"]) }),
    answer: TravelPreview,
  }),
  "runs.preview": route("runs.preview", {
    permission: "develop",
    summary: "What going back to a checkpoint, or forking from it, with an edited context would do.",
    description:
      "The step is taken as the run or the fork would take it, and nothing of it is kept: `refused` says whether it would " +
      "break an invariant or a schema. Keys are those that it would give.",
    params: RunParams,
    body: z.strictObject({
      at: z.int().min(1),
      kind: z.enum(["fork", "rollback"]),
      context: JsonObject.openapi({ description: "The whole context it would go on with." }),
    }),
    answer: TravelPreview,
  }),
  "runs.rollback": route("runs.rollback", {
    permission: "develop",
    summary: "Take a run back to a checkpoint, in a new step.",
    params: RunParams,
    body: z.strictObject({
      to: z.int().min(1),
      context: JsonObject.optional().openapi({ description: "The whole context it goes on with, edited." }),
    }),
    answer: z.object({ seq: Seq.openapi({ description: "The checkpoint of that step." }), run: RunDetail }),
  }),
  "runs.fork": route("runs.fork", {
    permission: "develop",
    summary: "Begin another run from a checkpoint of this one.",
    description: "The fork's id is `fork`, else the `Idempotency-Key`, else a new one.",
    params: RunParams,
    body: z.strictObject({
      at: z.int().min(1).optional().openapi({ description: "The newest checkpoint unless given." }),
      fork: Name.optional().openapi({ description: "The fork's own id." }),
      context: JsonObject.optional().openapi({ description: "The whole context it begins with, edited." }),
    }),
    answer: RunDetail,
    status: 201,
    isKeyed: true,
  }),
  "runs.diff": route("runs.diff", {
    permission: "read",
    summary: "What turns a run's state at one checkpoint into that at another.",
    params: RunParams,
    query: z.object({ from: Checkpoint, to: Checkpoint.optional() }),
    answer: Diff,
  }),
  "runs.changed": route("runs.changed", {
    permission: "read",
    summary: "The step that last changed what stands at a path of the context.",
    params: RunParams,
    query: z.object({
      path: z.string().max(limits.pathLengthMax).openapi({ example: "$.items[0].price" }),
    }),
    answer: Changed,
  }),
  "runs.compare": route("runs.compare", {
    permission: "read",
    summary: "What two runs have in common, where they part, and what differs now.",
    query: z.object({ one: Name, other: Name }),
    answer: Comparison,
  }),
};
