/**
 * Structured logs: a line for every step, attempt and problem, with the same few fields, so that a search for a run finds all of it.
 * Whoever writes them is pino, or has its shape.
 */
import { describeError } from "../core/describe-error.ts";
import type { Observer } from "../runtime/observer.ts";
import { placeOf, stepOf } from "./fields.ts";

/** What writes a line: pino's shape, which others have as well. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Logs what happens in a runtime. Steps, ends and what runs log themselves are `info`; what was refused, and attempts that failed, are
 * `warn`; problems and runs that failed are `error`; attempts that begin or end well are `debug`. No payload or context is logged.
 */
export function logs(logger: Logger): Observer {
  return {
    committed({ head, steps }) {
      const place = placeOf(head);
      for (const step of steps) {
        const fields = { ...place, ...stepOf(step) };
        if (step.error === undefined) logger.info(fields, "step");
        else logger.warn({ ...fields, error: describeError(step.error) }, "step refused");
      }
      if (head.status === "failed") logger.error(place, "run failed");
      else if (head.status !== "active") logger.info(place, `run ${head.status}`);
    },
    attempt(begun, go) {
      logger.debug(begun, "attempt begins");
      return go().then((over) => {
        if (over.error === undefined) logger.debug({ ...begun, ...over }, "attempt done");
        else logger.warn({ ...begun, ...over }, "attempt failed");
      });
    },
    logged: ({ run, label, data }) => logger.info({ run, label, data }, "log"),
    problem: ({ tenant, run, error }) =>
      logger.error({ tenant, run, error: describeError(error) }, "problem"),
  };
}
