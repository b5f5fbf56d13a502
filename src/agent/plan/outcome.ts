/** Whether what a task gave is what was wanted of it. */

import type { Json, JsonObject } from "../../core/json.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import { isSchema, type Schema } from "../../core/schema.ts";

/** Says of a result that it will do (`true`, or nothing), or why not. It may take its time, and ask a model. */
export type OutcomeCheck<Request> = (result: Json, request: Request) => Verdict | Promise<Verdict>;
type Verdict = true | string | undefined;

/** What a result must be: a schema, or a function that judges it. */
export type Validator<Request> = Schema | OutcomeCheck<Request>;

/** A result that is not what was wanted: trying the same again does not help, knowing why may. */
export class OutcomeRefused extends Error {
  override readonly name = "OutcomeRefused";
}

/** Throws OutcomeRefused, with the reason, if a result does not pass. */
export async function judge<Request extends { readonly expects?: JsonObject | undefined }>(
  result: Json,
  request: Request,
  validator: Validator<Request> | undefined,
): Promise<void> {
  if (request.expects !== undefined) await ask(jsonSchema(request.expects), result);
  if (isSchema(validator)) await ask(validator, result);
  else if (validator !== undefined) {
    const verdict = await validator(result, request);
    if (typeof verdict === "string") throw new OutcomeRefused(verdict);
  }
}

/** Outside of a step a schema may take its time. */
async function ask(schema: Schema, result: Json): Promise<void> {
  const { issues } = await schema["~standard"].validate(result);
  if (issues === undefined) return;
  const shown = issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return `${["result", ...keys].join(".")}: ${message}`;
  });
  throw new OutcomeRefused(`The result is not what was wanted: ${shown.join("; ")}`);
}
