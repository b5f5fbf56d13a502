/** Invocations, from what the author wrote to what a step starts. */
import { compileBlock } from "./actions.ts";
import type { CompensateNode, InvokeNode, StateNode } from "./chart.ts";
import type { Compiler, Parts } from "./compiler.ts";
import { flowOf } from "./flow.ts";
import { freezeDeep, isObject, type Json, type JsonObject, toJson } from "./json.ts";
import { itemInput, itemOf } from "./map.ts";
import { constantMs } from "./policy.ts";
import { inside, messageOf, show } from "./problem.ts";
import { flagAt, isName, namesAt, partsAt } from "./shape.ts";
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
  const either = activity !== (parts.machine !== undefined);
  if (!either) compiler.problem(place, "needs either an activity or a machine");
  checkKind(compiler, parts, activity, place);
  return {
    kind: activity ? "activity" : "machine",
    id: idOf(compiler, parts.id, id, inside(place, "id")),
    source: either ? sourceOf(compiler, parts, place) : nowhere,
    input:
      parts.item !== undefined && parts.input === undefined
        ? itemInput(parts.item)
        : jsonOf(compiler, parts.input, inside(place, "input")),
    item: itemOf(compiler, parts.item, inside(place, "item")),
    options: optionsOf(compiler, parts, place),
    flow: activity ? flowOf(compiler, parts, place) : undefined,
    autoforward: flagAt(compiler, parts.autoforward, inside(place, "autoforward")),
    finalize: compileBlock(compiler, node, parts.finalize, inside(place, "finalize")),
    compensate: compensateOf(compiler, parts, inside(place, "compensate")),
    storeId:
      parts.idLocation === undefined
        ? undefined
        : compiler.model.location(parts.idLocation as JsonObject, inside(place, "idLocation")),
  };
}

/** Stands for a source that is missing; a machine with such a one never runs. */
const nowhere: InvokeNode["source"] = () => "";

/** An id the author gave must be a name; the root's own is empty, as its path is. */
function idOf(compiler: Compiler, given: unknown, id: unknown, place: string): InvokeNode["id"] {
  return given === undefined ? () => id as string : textOf(compiler, id, place);
}

function sourceOf(compiler: Compiler, { activity, machine }: Parts, place: string): InvokeNode["source"] {
  if (activity === undefined) return machineOf(compiler, machine, inside(place, "machine"));
  const at = inside(place, "activity");
  if (typeof activity === "string") compiler.vocabulary.useActivity(activity, at);
  return textOf(compiler, activity, at);
}

const activityOnly = [
  ...["retry", "timeout", "heartbeat", "once", "reconcile", "compensate"],
  ...["concurrency", "rate", "priority"],
];

/** Options of an activity that are on a child machine would be ignored in silence, and the other way round. */
function checkKind(compiler: Compiler, parts: Parts, activity: boolean, place: string): void {
  for (const key of activity ? ["autoforward"] : activityOnly) {
    if (parts[key] === undefined) continue;
    const problem = activity
      ? "is for child machines, and this is an activity"
      : "is for activities, and this is a child machine";
    compiler.problem(inside(place, key), problem);
  }
  const once = flagAt(compiler, parts.once, inside(place, "once"));
  if (once && parts.onUnknown === undefined && parts.reconcile === undefined) {
    const fix = "give onUnknown, or an activity to reconcile with";
    compiler.problem(
      inside(place, "once"),
      "leaves it open what happens when nobody can know whether it ran",
      fix,
    );
  }
}

/** What goes to the runtime as it is, checked as far as it can be without running it. */
function optionsOf(compiler: Compiler, parts: Parts, place: string): JsonObject {
  const options: Record<string, Json> = {};
  for (const key of ["retry", "timeout", "heartbeat", "once", "reconcile"]) {
    if (parts[key] === undefined) continue;
    try {
      options[key] = toJson(parts[key], [], key);
    } catch (error) {
      compiler.problem(inside(place, key), `cannot be used: ${messageOf(error)}`);
    }
  }
  for (const key of ["timeout", "heartbeat"])
    if (options[key] !== undefined) constantMs(options[key], inside(place, key), compiler);
  if (options.retry !== undefined) checkRetry(compiler, options.retry, inside(place, "retry"));
  if (options.reconcile !== undefined)
    compiler.vocabulary.useActivity(options.reconcile, inside(place, "reconcile"));
  return freezeDeep(options);
}

function checkRetry(compiler: Compiler, given: Json, place: string): void {
  const { attempts, first, factor, max, never } = partsAt(compiler, given, "retry", place);
  if (attempts !== undefined && !(Number.isSafeInteger(attempts) && (attempts as number) > 0))
    compiler.problem(inside(place, "attempts"), `is ${show(attempts)}`, "write a whole number above zero");
  if (factor !== undefined && !(typeof factor === "number" && factor >= 1))
    compiler.problem(inside(place, "factor"), `is ${show(factor)}`, "write a number of at least 1");
  for (const [key, duration] of Object.entries({ first, max }))
    if (duration !== undefined) constantMs(duration, inside(place, key), compiler);
  namesAt(compiler, never, inside(place, "never"));
}

function compensateOf(compiler: Compiler, { compensate }: Parts, place: string): CompensateNode | undefined {
  if (compensate === undefined) return undefined;
  const isNamed = !isObject(compensate);
  const { activity, input } = isNamed
    ? ({ activity: compensate } as Parts)
    : partsAt(compiler, compensate, "compensation", place);
  if (isName(activity))
    compiler.vocabulary.useActivity(activity, isNamed ? place : inside(place, "activity"));
  else compiler.problem(place, "needs the name of an activity that undoes this one");
  return {
    activity: activity as string,
    input: input === undefined ? undefined : jsonOf(compiler, input, inside(place, "input")),
  };
}
