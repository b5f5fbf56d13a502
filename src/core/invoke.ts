/** Invocations, from what the author wrote to what a step starts. */
import { compileBlock } from "./actions.ts";
import type { CompensateNode, InvokeNode, StateNode } from "./chart.ts";
import type { Compiler, Parts } from "./compiler.ts";
import { freezeDeep, type Json, type JsonObject, showValue, toJson } from "./json.ts";
import { constantMs } from "./policy.ts";
import { join } from "./tree.ts";
import { jsonOf, machineOf, textOf } from "./value.ts";

/** One invocation of a state, by the id it goes by. */
export function compileInvoke(
  compiler: Compiler,
  node: StateNode,
  parts: Parts,
  id: unknown,
  place: string,
): InvokeNode {
  const activity = parts.activity !== undefined;
  if (activity === (parts.machine !== undefined))
    compiler.problem(place, "needs either an activity or a machine");
  return {
    kind: activity ? "activity" : "machine",
    id: textOf(compiler, id, join(place, "id")),
    source: activity
      ? textOf(compiler, parts.activity, join(place, "activity"))
      : machineOf(compiler, parts.machine, join(place, "machine")),
    input: jsonOf(compiler, parts.input, join(place, "input")),
    options: optionsOf(compiler, parts, place),
    autoforward: parts.autoforward === true,
    finalize: compileBlock(compiler, node, parts.finalize, join(place, "finalize")),
    compensate: compensateOf(compiler, parts, join(place, "compensate")),
    storeId:
      parts.idLocation === undefined
        ? undefined
        : compiler.model.location(parts.idLocation as JsonObject, join(place, "idLocation")),
  };
}

/** What goes to the runtime as it is, checked as far as it can be without running it. */
function optionsOf(compiler: Compiler, parts: Parts, place: string): JsonObject {
  const options: Record<string, Json> = {};
  for (const key of ["retry", "timeout", "heartbeat", "once", "reconcile"])
    if (parts[key] !== undefined) options[key] = toJson(parts[key], [], key);
  const { retry, timeout, heartbeat, reconcile } = options;
  const { first, max } = { ...(retry as JsonObject | undefined) };
  const durations = { timeout, heartbeat, "retry.first": first, "retry.max": max };
  for (const [key, duration] of Object.entries(durations))
    if (duration !== undefined) constantMs(duration, join(place, key), compiler);
  if (reconcile !== undefined && !isName(reconcile))
    compiler.problem(join(place, "reconcile"), `is ${showValue(reconcile)}; name an activity`);
  return freezeDeep(options);
}

function compensateOf(compiler: Compiler, parts: Parts, place: string): CompensateNode | undefined {
  const { compensate } = parts;
  if (compensate === undefined) return undefined;
  if (parts.activity === undefined) compiler.problem(place, "is for activities, and this is a child machine");
  const { activity, input } = (
    typeof compensate === "object" ? { ...compensate } : { activity: compensate }
  ) as Parts;
  if (!isName(activity)) compiler.problem(place, "needs the name of an activity that undoes this one");
  return {
    activity: activity as string,
    input: input === undefined ? undefined : jsonOf(compiler, input, join(place, "input")),
  };
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
