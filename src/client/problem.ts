/** Problems of a server as errors of ours. */
import { type ErrorCode, errors, HoldfastError } from "../errors.ts";
import type { Problem } from "../server/contract.ts";

/** The error that a problem tells of; a code that this version does not know is a mistake of the server. */
export function errorOf(
  { code, detail, status, errors: problems = [] }: Problem,
  details: Readonly<Record<string, unknown>> = {},
): HoldfastError {
  const known = Object.hasOwn(errors, code) ? (code as ErrorCode) : "SERVER_FAILED";
  return new HoldfastError(known, detail, { details: { status, problems, ...details } });
}
