/** Errors as data: what is known of one, as JSON. */
import { isHoldfastError } from "../errors.ts";
import { type JsonObject, toJson } from "./json.ts";

/** An error as JSON, for the event that reports it. Data models add what they know, such as the place, as its `data`. */
export function describeError(error: unknown): JsonObject {
  if (isHoldfastError(error)) return { name: error.name, code: error.code, message: error.message };
  try {
    if (!(error instanceof Error)) return { name: "Error", message: String(error) };
    const { data } = error as { readonly data?: unknown };
    const known = { name: String(error.name), message: String(error.message) };
    return typeof data === "object" ? { ...known, ...toOwnJson(data) } : known;
  } catch {
    return { name: "Error", message: "something was thrown that cannot be shown" };
  }
}

/** What an error carries is its thrower's business: what is not JSON stays out of the event, and what is, is copied. */
function toOwnJson(data: object | null): JsonObject {
  try {
    return structuredClone(toJson(data, [])) as JsonObject;
  } catch {
    return {};
  }
}
