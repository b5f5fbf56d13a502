/** What a JSON Schema says of a list's items. */
import type { JsonObject } from "../json.ts";
import { type Check, canonical, type Maker, type Visit } from "./visit.ts";

export function itemChecks(schema: JsonObject, maker: Maker): Check[] {
  const checks: Check[] = [];
  const forList = (holds: (list: readonly unknown[], visit: Visit) => boolean) =>
    checks.push((value, visit) => !Array.isArray(value) || holds(value, visit));
  const { minItems, maxItems, uniqueItems, contains } = schema;
  if (typeof minItems === "number")
    forList((list, visit) => list.length >= minItems || visit.fail(`must have at least ${minItems} items`));
  if (typeof maxItems === "number")
    forList((list, visit) => list.length <= maxItems || visit.fail(`must have at most ${maxItems} items`));
  if (uniqueItems === true) forList(areDifferent);
  const first = ((schema.prefixItems ?? []) as unknown[]).map((one) => maker.own(one));
  const rest = schema.items === undefined ? undefined : maker.own(schema.items);
  if (first.length > 0 || rest !== undefined) {
    forList((list, visit) =>
      visit.every(list.entries(), ([index, item]) => {
        const check = first[index] ?? rest;
        return check === undefined || visit.inside(index, check, item);
      }),
    );
  }
  if (contains !== undefined) {
    const one = maker.own(contains);
    forList(
      (list, visit) =>
        list.some((item) => visit.passes(one, item, undefined)) ||
        visit.fail("must contain an item that it lacks"),
    );
  }
  return checks;
}

function areDifferent(list: readonly unknown[], visit: Visit): boolean {
  const known = new Set<string>();
  return visit.every(list.entries(), ([index, item]) => {
    const text = canonical(item, visit);
    if (!known.has(text)) return Boolean(known.add(text));
    visit.path.push(index);
    visit.fail("is in the list twice");
    visit.path.pop();
    return false;
  });
}
