/** Invocations: activities and child machines that live as long as the state that started them. */
import type { CompensateNode, InvokeNode, StateNode } from "./chart.ts";
import { describeError } from "./describe-error.ts";
import { doneInvokeType, type Event, settledEvent, settles } from "./event.ts";
import { freeze, freezeDeep, type Json, type JsonObject, toJson } from "./json.ts";
import type { Activity, Child } from "./state.ts";
import { type Work, without } from "./work.ts";

/** Starts the invocations of the states entered and still active; false if there were none. https://www.w3.org/TR/scxml/#mainEventLoop */
export function startInvocations(work: Work): boolean {
  const { entered } = work;
  if (entered === undefined) return false;
  work.entered = undefined;
  for (const node of entered.toSorted((one, other) => one.index - other.index)) {
    node.invokes.forEach((invoke, index) => {
      startInvocation(work, node, invoke, index);
    });
  }
  return true;
}

/** Starts one invocation of a state. */
export function startInvocation(work: Work, node: StateNode, invoke: InvokeNode, index: number): void {
  try {
    const id = invoke.id(work);
    invoke.storeId?.(work, id);
    const invocation = { key: work.nextKey(), id, state: node.path, index };
    const source = invoke.source(work);
    const { input, options } = partsOf(work, invoke);
    if (invoke.kind === "activity") {
      startActivity(work, { ...invocation, activity: source }, input, options);
    } else {
      work.addChild(
        { ...invocation, machine: source, ...(invoke.autoforward ? { autoforward: true } : {}) },
        input,
      );
    }
  } catch (error) {
    work.fail(error);
  }
}

/** What is computed of an invocation; that of a worker is seen from the event that brings its item. */
function partsOf(work: Work, { input, options, flow, item }: InvokeNode): InvocationParts {
  const parts = () => ({
    input: input(work),
    options: flow === undefined ? options : freezeDeep({ ...options, ...flow(work) }),
  });
  if (item === undefined) return parts();
  const { event } = work;
  work.event = item(work);
  try {
    return parts();
  } finally {
    work.event = event;
  }
}

interface InvocationParts {
  readonly input: Json | undefined;
  readonly options: JsonObject;
}

/** Starts an activity, or lets it fail before it begins: what does not fit its schema would only do harm. */
function startActivity(work: Work, activity: Activity, input: Json | undefined, options: JsonObject): void {
  const check = work.chart.schemas?.activities.get(activity.activity)?.input;
  let fitting = input;
  try {
    fitting = check === undefined ? input : check(input);
  } catch (error) {
    work.enqueue(freezeDeep(settledEvent(activity, { error: describeError(error) })));
    return;
  }
  work.addActivity(activity, fitting, options);
}

/** The event by the id its invocation goes by now: a migration may have given it another one since it began. */
export function underItsId({ activities, children }: Work, event: Event): Event {
  const { invocation, invokeId } = event;
  if (invocation === undefined || invokeId === undefined) return event;
  const from = ({ key }: { readonly key: string }) => key === invocation;
  const { id } = activities.find(from) ?? children.find(from) ?? { id: invokeId };
  if (id === invokeId) return event;
  const type = settles(event) ? event.type.slice(0, event.type.length - invokeId.length) + id : event.type;
  return freeze({ ...event, type, invokeId: id });
}

/** The event that ends an activity, with its output as its schema wants it: one that does not fit has failed. */
export function admitResult({ chart, activities }: Work, event: Event): Event {
  const activity = activities.find(({ key }) => key === event.invocation);
  if (activity === undefined) return event;
  const check = chart.schemas?.activities.get(activity.activity)?.output;
  if (check === undefined || event.type !== doneInvokeType(activity.id)) return event;
  try {
    const output = check(event.data);
    if (output === event.data) return event;
    return freezeDeep(settledEvent(activity, output === undefined ? {} : { output }));
  } catch (error) {
    return freezeDeep(settledEvent(activity, { error: describeError(error) }));
  }
}

/**
 * Takes note of an event from an invocation before anything else sees it: its finalize runs, and an invocation that
 * ended is no longer pending. False if it is no longer wanted: its state was left, or it ended before.
 */
export function takeFromInvocation(work: Work, event: Event): boolean {
  const from = ({ key }: { readonly key: string }) => key === event.invocation;
  const invocation: Activity | Child | undefined = work.activities.find(from) ?? work.children.find(from);
  if (invocation === undefined) return endedBefore(work, event);
  const invoke =
    invocation.state === undefined
      ? undefined
      : work.chart.byPath.get(invocation.state)?.invokes[invocation.index as number];
  if (settles(event)) {
    if (work.activities.some(from)) work.activities = without(work.activities, from);
    else work.children = without(work.children, from);
    if (invoke?.compensate !== undefined && event.type === doneInvokeType(invocation.id))
      recordCompensation(work, invoke.compensate, invocation.key);
  }
  invoke?.finalize?.(work);
  return true;
}

/** What was done can be undone from now on, whatever becomes of the event that says so. */
function recordCompensation(work: Work, { activity, input }: CompensateNode, key: string): void {
  try {
    const given = input === undefined ? work.event.data : input(work);
    // The child's context will hold it this deep, and must be able to.
    const kept = given === undefined ? {} : { input: toJson(given, ["steps", 0, "input"], "compensation") };
    work.addCompensation({ key, activity, ...kept });
  } catch (error) {
    work.fail(error);
  }
}

/** Passes an event from outside on to the children that asked for it. */
export function forwardToChildren(work: Work, event: Event): void {
  for (const child of work.children) {
    if (child.autoforward === undefined) continue;
    const { timer: _timer, invocation: _invocation, ...copy } = event;
    work.dispatch(work.nextKey(), freeze(copy), { child: child.id }, undefined);
  }
}

/**
 * In SCXML a child that ended by itself says so even if its state was left meanwhile (a cancelled one never does), as
 * long as no later invocation goes by the same name. https://www.w3.org/TR/scxml/#invoke
 */
function endedBefore(work: Work, event: Event): boolean {
  return (
    work.chart.matching === "scxml" &&
    settles(event) &&
    !work.children.some(({ id }) => id === event.invokeId)
  );
}
