/** Problems as RFC 9457 has them, with the code of the error registry. */
import { z } from "@hono/zod-openapi";

export const Problem = z
  .object({
    type: z.string().openapi({
      description: "A link to what is said of the code.",
      example: "https://holdfast.dev/errors#RUN_UNKNOWN",
    }),
    title: z.string().openapi({ description: "What the code means, the same every time." }),
    status: z.int(),
    detail: z.string().openapi({ description: "What happened, to what, and what to do." }),
    code: z.string().openapi({ description: "Of the error registry; decide by it.", example: "RUN_UNKNOWN" }),
    retry: z.enum(["never", "later", "after-fix"]).openapi({ description: "Whether trying again can help." }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: "Where there are several: each with its place." }),
  })
  .openapi("Problem");
export type Problem = z.output<typeof Problem>;
