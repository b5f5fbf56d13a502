/** Errors as answers: whatever is thrown becomes a problem with the code, the status and the words of the registry. */
import { errors, HoldfastError, isHoldfastError, statusOf } from "../errors.ts";
import type { Problem } from "./contract/problem.ts";

/** The error of whoever asked wrongly: each place with what is wrong there. */
export function requestError(problems: readonly { path: string; message: string }[]): HoldfastError {
  const list = problems.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new HoldfastError("REQUEST_INVALID", `The request does not fit its route. ${list}`, {
    details: { problems },
  });
}

/** What is told of an error. What is no error of ours is a mistake of the server, and says nothing of its inside. */
export function problemOf(error: unknown): Problem {
  const known = isHoldfastError(error)
    ? error
    : new HoldfastError("SERVER_FAILED", "The server made a mistake; its log says which");
  const { code, retry, details } = known;
  const listed = listOf(details.problems);
  return {
    type: `https://holdfast.dev/errors#${code}`,
    title: errors[code].meaning,
    status: statusOf(code),
    detail: known.message.toWellFormed(),
    ...{ code, retry },
    ...(listed === undefined ? {} : { errors: listed }),
  };
}

/** Problems with their places, as definitions and requests have them. */
function listOf(problems: unknown): Problem["errors"] {
  if (!Array.isArray(problems) || problems.length === 0) return undefined;
  return problems.map((one: unknown) => {
    if (typeof one === "string") return { path: "", message: one.toWellFormed() };
    const { path = "", problem, message, fix } = one as Readonly<Record<string, string | undefined>>;
    const what = `${message ?? problem ?? ""}${fix === undefined ? "" : `; ${fix}`}`;
    return { path: path.toWellFormed(), message: what.toWellFormed() };
  });
}

export function problemResponse(error: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const problem = problemOf(error);
  const retryAfter = isHoldfastError(error) ? error.details.retryAfterS : undefined;
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      ...{ "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
      ...(problem.status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(typeof retryAfter === "number" ? { "retry-after": String(retryAfter) } : {}),
    },
  });
}
