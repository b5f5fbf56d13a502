/** Values that many routes share: JSON, names, times, pages, and what a query may say. */
import { z } from "@hono/zod-openapi";
import type { Json as JsonValue } from "../../core/json.ts";
import { limits } from "../../limits.ts";
import { isStorable } from "../../runtime/name.ts";

/** Any JSON value; what came as JSON cannot be anything else. */
export const Json = (z.unknown() as unknown as z.ZodType<JsonValue>).openapi({
  description: "Any JSON value.",
});
export const JsonObject = z
  .custom<Readonly<Record<string, JsonValue>>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  )
  .openapi({ type: "object", description: "A JSON object." });

/** A name that users choose: of a run, a subject, a key. */
export const Name = z
  .string()
  .min(1)
  .max(limits.nameLengthMax)
  .refine(isStorable, "has characters that stores cannot keep");
/** Milliseconds since 1970. */
export const Time = z
  .number()
  .openapi({ description: "Milliseconds since 1970.", example: 1_789_000_000_000 });
/** A position in a journal; the first is 1. */
export const Seq = z.int().min(0);
export const Attribute = z.union([z.string(), z.number(), z.boolean()]);

const numberOf = (value: unknown): unknown =>
  typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;

/** A whole number in a query or a path. */
export const wholeNumber = (least = 0, most = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(numberOf, z.int().min(least).max(most)).openapi({
    type: "integer",
    minimum: least,
    ...(most === Number.MAX_SAFE_INTEGER ? {} : { maximum: most }),
  });

/** `true` or `false` in a query. */
export const Flag = z
  .preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean())
  .openapi({ type: "boolean" });

/** How many of a list are wanted at most. */
export const Limit = wholeNumber(1, limits.pageMax).openapi({
  description: "How many at most; 50 unless given.",
});
export const Cursor = z
  .string()
  .max(limits.cursorLengthMax)
  .openapi({ description: "Where the page before ended: its `next`, as it is." });

export const Checkpoint = wholeNumber(1).openapi({ description: "A checkpoint of the run's journal." });

export const RunParams = z.object({
  run: Name.openapi({ param: { name: "run", in: "path" }, example: "order-17" }),
});

export const Patch = z
  .union([
    z.object({ op: z.literal("set"), path: z.array(z.union([z.string(), z.number()])), value: Json }),
    z.object({ op: z.literal("delete"), path: z.array(z.union([z.string(), z.number()])) }),
    z.object({
      op: z.literal("append"),
      path: z.array(z.union([z.string(), z.number()])),
      value: z.union([z.array(Json), z.string()]),
    }),
    z.object({
      op: z.literal("splice"),
      path: z.array(z.union([z.string(), z.number()])),
      index: z.int(),
      remove: z.int(),
      insert: z.array(Json),
    }),
  ])
  .openapi("Patch", {
    description:
      "One difference; apply them in order. Paths begin at the state: `context`, `configuration` …",
  });
export type Patch = z.output<typeof Patch>;

export const Spending = z
  .object({ tokens: z.number().optional(), cost: z.number().optional() })
  .openapi("Spending");

/** An error as it is kept in journals. */
export const Failure = z
  .looseObject({
    name: z.string().optional(),
    message: z.string().optional(),
    code: z.union([z.string(), z.number()]).optional(),
  })
  .openapi("Failure");
export type Failure = z.output<typeof Failure>;
