/**
 * `approval`: waiting for somebody to say yes or no. It becomes handlers of the two events, each asked by `by`, a timer,
 * and whatever asks; the tag `approval` tells what the state waits for:
 *
 *     approval: { ask: { activity: "notify" }, by: "isManager", timeout: "2 days", onApproved: "paying", onRejected: "declined", onTimeout: "declined" }
 *     invoke: { activity: "notify" }, on: { approve: { target: "paying", guard: "isManager" }, reject: … }, after: { "2 days": "declined" }, tags: ["approval"]
 */
import type { Parts } from "../compiler.ts";
import { isObject } from "../json.ts";
import { inside, itemsAt, show } from "../problem.ts";
import { isName } from "../shape.ts";
import type { Expansion } from "./expansion.ts";

export function expandApproval(parts: Parts, expansion: Expansion, written: string): void {
  const { approve = "approve", reject = "reject", ask } = parts;
  decide(parts, "onApproved", expansion, { event: approve, key: "approve", written });
  decide(parts, "onRejected", expansion, { event: reject, key: "reject", written });
  const askAt = inside(written, "ask");
  if (!isObject(ask) || (ask.activity === undefined && ask.machine === undefined)) {
    if (ask !== undefined) expansion.addBlock("entry", ask, askAt);
  } else if (expansion.state.invoke === undefined) expansion.set("invoke", ask, askAt);
  else
    expansion.checker.problem(
      askAt,
      "cannot be an invocation beside another",
      "put one into a state of its own",
    );
  expansion.addTimeout(parts, written);
  const { tags } = expansion.state;
  if (tags === undefined) expansion.set("tags", ["approval"], written);
  else if (Array.isArray(tags)) expansion.set("tags", [...tags, "approval"], inside(expansion.place, "tags"));
}

/** Adds the handlers of one decision, for those who may decide. */
function decide(
  { by, ...parts }: Parts,
  leads: "onApproved" | "onRejected",
  expansion: Expansion,
  { event, key, written }: { readonly event: unknown; readonly key: string; readonly written: string },
): void {
  const given = parts[leads];
  const at = inside(written, leads);
  if (given === undefined) expansion.checker.problem(at, "is missing", "say where it leads");
  if (!isName(event)) expansion.checker.problem(inside(written, key), `is ${show(event)}`, "name an event");
  if (given === undefined || !isName(event)) return;
  const places = expansion.addHandlers(
    event,
    mapped(given, (one) => guarded(one, by)),
    at,
  );
  itemsAt(given, at).forEach(([one, here], index) => {
    const place = places[index];
    if (place === undefined || by === undefined) return;
    const alone = !isObject(one) || one.guard === undefined;
    expansion.from([...place, "guard", ...(alone ? [] : ["and", 0])], inside(written, "by"));
    if (!alone) expansion.from([...place, "guard", "and", 1], inside(here, "guard"));
  });
}

/** A transition that asks first who decides; what is none is left for others to report. */
function guarded(one: unknown, by: unknown): unknown {
  if (by === undefined || (typeof one !== "string" && !isObject(one))) return one;
  const transition = isObject(one) ? (one as Parts) : { target: one };
  return { ...transition, guard: transition.guard === undefined ? by : { and: [by, transition.guard] } };
}

function mapped(given: unknown, each: (one: unknown) => unknown): unknown {
  return Array.isArray(given) ? given.map(each) : each(given);
}
