/** Retries: how long to wait before the next attempt, and when to stop. Pure; chance comes in. */
import { durationMs } from "../../core/duration.ts";
import type { Json, JsonObject } from "../../core/json.ts";

/** Exponential backoff with full jitter: each wait is between half and all of what the exponent gives. */
export interface RetryPolicy {
  /** How often it is tried in all; 1 means no retry. */
  readonly attemptsMax: number;
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Names or codes of errors that no retry can help. */
  readonly never: readonly string[];
}

/** What an author's `retry` means; what is left out has a sensible value. */
export function retryPolicy(source: Json | undefined): RetryPolicy {
  const { attempts, first, factor, max, never } = (source ?? {}) as Record<string, unknown>;
  return {
    attemptsMax: typeof attempts === "number" ? attempts : source === undefined ? 1 : 5,
    firstMs: durationMs(first ?? "1s"),
    factor: typeof factor === "number" ? factor : 2,
    maxMs: durationMs(max ?? "1m"),
    never: Array.isArray(never) ? never.map(String) : [],
  };
}

/** How long to wait after attempt number `attempt` failed with `error`; undefined when there is to be no other. */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  error: JsonObject,
  chance: number,
): number | undefined {
  if (attempt >= policy.attemptsMax || error.retryable === false) return undefined;
  if (policy.never.includes(String(error.name)) || policy.never.includes(String(error.code)))
    return undefined;
  const whole = Math.min(policy.maxMs, policy.firstMs * policy.factor ** (attempt - 1));
  return Math.round(whole * (0.5 + chance / 2));
}
