/** The inbox: decisions that wait for a person. */
import { z } from "@hono/zod-openapi";
import { limits } from "../../limits.ts";
import { isStorable } from "../../runtime/name.ts";
import { route } from "./route.ts";
import { Attribute, Cursor, Json, JsonObject, Limit, Name, Seq, Time } from "./value.ts";

export const Verdict = z.enum(["approve", "edit", "reject", "respond"]).openapi("Verdict", {
  description:
    "`edit` approves with another input; `respond` rejects with words (`note`) that whoever asked goes on with.",
});
export type Verdict = z.output<typeof Verdict>;

export const Decision = z
  .object({
    decision: z.string().openapi({ description: "Its id within the run; the same for as long as it waits." }),
    run: z.string(),
    machine: z.string(),
    version: z.int(),
    subject: z.string(),
    attributes: z.record(z.string(), Attribute),
    kind: z
      .enum(["tool", "approval"])
      .openapi({ description: "An agent's tool call, or an `approval` of a machine." }),
    state: z.string().openapi({ description: "The path of the state that waits." }),
    asked: z.string().openapi({ description: "What is asked, in a few words." }),
    description: z.string().optional(),
    tool: z.string().optional(),
    input: Json.optional().openapi({ description: "What the tool is to be called with." }),
    schema: JsonObject.optional().openapi({ description: "Of the input, where it is known." }),
    context: Json.optional().openapi({ description: "Of an approval: what is known, unless it is long." }),
    events: z
      .object({ approve: z.string(), reject: z.string() })
      .openapi({ description: "The events that decide it." }),
    since: Time,
    seq: Seq.openapi({ description: "The checkpoint at which it began to wait." }),
    due: Time.optional().openapi({ description: "When it is too late to decide." }),
    allowed: z.array(Verdict),
  })
  .openapi("Decision");
export type Decision = z.output<typeof Decision>;

export const InboxPage = z
  .object({
    decisions: z.array(Decision).openapi({ description: "Of the newest runs first." }),
    next: z.string().optional(),
  })
  .openapi("InboxPage");
export type InboxPage = z.output<typeof InboxPage>;

export const Decided = z
  .object({
    run: z.string(),
    decision: z.string(),
    outcome: z
      .enum(["taken", "refused", "ignored", "deferred", "waiting"])
      .openapi({ description: "`waiting`: it is durable, and the run is parked or takes its time." }),
    seq: Seq,
    verdict: z.enum(["approve", "reject"]).optional().openapi({
      description:
        "Which way it was decided; of what had been decided before, that way, whatever was asked for now.",
    }),
    isRepeat: z
      .boolean()
      .openapi({ description: "Whether it had been decided before, so that nothing changed." }),
  })
  .openapi("Decided");
export type Decided = z.output<typeof Decided>;

export const inboxRoutes = {
  "inbox.list": route("inbox.list", {
    permission: "read",
    summary: "Decisions that wait for a person.",
    query: z.object({
      machine: Name.optional(),
      run: Name.optional(),
      limit: Limit.optional(),
      cursor: Cursor.optional(),
    }),
    answer: InboxPage,
  }),
  "inbox.decide": route("inbox.decide", {
    permission: "operate",
    summary: "Decide. Deciding twice is deciding once.",
    description:
      "Who decided is the `by` of the event that decides. It and the `note` also go into the data of that event. Where that has a " +
      "schema they go there if it has fields for them; a note that would be lost is refused.",
    params: z.object({
      run: Name,
      decision: z
        .string()
        .min(1)
        .max(limits.decisionLengthMax)
        .refine(isStorable, "has characters that stores cannot keep"),
    }),
    body: z.strictObject({
      verdict: Verdict,
      note: z.string().max(limits.noteLengthMax).optional(),
      input: Json.optional().openapi({ description: "With `edit`: what the tool is called with instead." }),
    }),
    answer: Decided,
  }),
};
