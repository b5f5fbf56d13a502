/** Attributes: the values runs are found by, looked at before a store has to keep them. */
import { showValue } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import type { Attribute } from "../store/records.ts";
import { checkName, isStorable } from "./name.ts";

/** Throws NAME_INVALID or ATTRIBUTE_INVALID for what a store could not keep, or would take for something else. */
export function checkAttributes(attributes: unknown = {}): void {
  if (typeof attributes !== "object" || attributes === null || Array.isArray(attributes)) {
    throw new HoldfastError(
      "ATTRIBUTE_INVALID",
      `Attributes are names with their values, as { customer: "c1" }, not ${showValue(attributes)}`,
    );
  }
  for (const [name, value] of Object.entries(attributes)) {
    checkName("attribute", name);
    if (!isAttribute(value)) {
      throw new HoldfastError(
        "ATTRIBUTE_INVALID",
        `The attribute ${JSON.stringify(name)} is ${showValue(value)}: give it text, a finite number, true or false`,
        { details: { name } },
      );
    }
  }
}

function isAttribute(value: unknown): value is Attribute {
  if (typeof value === "string") return isStorable(value);
  return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}
