/**
 * The step: one event in, a new state and effects out. A pure function: the time comes in, names come from
 * (seq, index), and whatever should happen in the world goes out as data.
 *
 * S1. The state that goes in is never changed, and goes out again, the same reference, when a step is refused or
 *     ignored; the one exception is a timer that fired, which is spent whatever becomes of its event.
 * S2. A step runs until nothing is enabled any more: eventless transitions first, then what was raised, and only then
 *     is it over. https://www.w3.org/TR/scxml/#AlgorithmforSCXMLInterpretation
 * S3. A step that would break a contract, an invariant or a bound is refused as a whole.
 * S4. Nothing a machine's own functions throw gets out of a step: errors are events.
 */
import { HoldfastError, isHoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { admitCall, admitEvent, admitState, type Runnable } from "./admit.ts";
import type { StateNode, TransitionNode } from "./chart.ts";
import { defers, nextDeferred, unhandledPolicy } from "./deferral.ts";
import type { Effect } from "./effect.ts";
import {
  cancelEvent,
  compensationId,
  compensationName,
  type Event,
  type EventShape,
  resumeEvent,
  sentBy,
  startEvent,
} from "./event.ts";
import {
  admitResult,
  forwardToChildren,
  startInvocations,
  takeFromInvocation,
  underItsId,
} from "./invocation.ts";
import { freeze, isObject, type Json, type JsonObject, showValue } from "./json.ts";
import type { Machine } from "./machine.ts";
import { leave, outputOf, settleRegions, takePlan, takeTransitions } from "./microstep.ts";
import { admitData } from "./payload.ts";
import { finalPlan, initialPlan, nowhere } from "./plan.ts";
import { refuseEarly, refuseEnded, refuseInvariant, refuseUnhandled } from "./refusal.ts";
import { selectEventless, selectTransitions } from "./select.ts";
import type { State, Timer } from "./state.ts";
import { type Outage, resumedDue } from "./timer.ts";
import type { Trace } from "./trace.ts";
import { type AskedOptions, blankState, type StepOptions, Work, without } from "./work.ts";

/** What became of the event: a transition took it, nothing wanted it, it waits for later, or the step was refused. */
export type Outcome = "taken" | "ignored" | "deferred" | "refused";

export interface Step<Context = JsonObject> {
  readonly state: State<Context>;
  readonly effects: readonly Effect[];
  readonly outcome: Outcome;
  /** Why the step was refused. */
  readonly error: HoldfastError | undefined;
  /** The `error.*` events raised on the way, handled or not. */
  readonly errors: readonly Event[];
  /** Deferred events that will never be taken: nothing defers them any more, or the run has ended. */
  readonly dropped: readonly Event[];
  readonly trace: Trace | undefined;
}

/** The first state of a run. Throws what would refuse a later step, since there is no state to stay in. */
export function start<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  input: NoInfer<Input> | undefined,
  options: AskedOptions,
): Step<Context> {
  const { chart } = machine;
  admitCall(machine, options.at);
  const given = admitEvent(sentBy(startEvent(input as Json | undefined), options.by), "input");
  const check = chart.schemas?.input;
  const event = check === undefined ? given : sentBy(startEvent(check(given.data)), options.by);
  const work = new Work(chart, blankState(chart), nowhere(chart), event, options);
  return withModel(work, begin) as Step<Context>;
}

function begin(work: Work): Step {
  work.context = work.chart.start(work, work.event.data);
  takePlan(work, initialPlan(work.chart), work.event);
  settle(work);
  return finish(work, "taken");
}

/** The step a state takes on an event. See the invariants at the head of this file. */
export function step<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  state: State<NoInfer<Context>>,
  event: Event | NoInfer<Ev>,
  options: StepOptions,
): Step<Context> {
  const before = state as unknown as State;
  admitCall(machine, options.at);
  const configuration = admitState(machine, before);
  let work: Work | undefined;
  try {
    const admitted = admitEvent(event);
    if (before.status !== "active") throw refuseEnded(before, admitted);
    work = new Work(machine.chart, before, configuration, admitted, options);
    return withModel(work, admitted.timer === undefined ? take : takeTimer) as Step<Context>;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return unchanged(work?.spent ?? before, "refused", work, error) as Step<Context>;
  }
}

export interface CancelOptions extends AskedOptions {
  /** Why the run cannot go on. With a reason it has failed; without one it was cancelled. */
  readonly reason?: JsonObject;
}

/**
 * Ends a run from outside: all exit actions run, whatever it waited for is cancelled, and a child begins to undo the
 * activities that have a compensation.
 */
export function cancel<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  state: State<NoInfer<Context>>,
  options: CancelOptions,
): Step<Context> {
  const { reason } = options;
  if (reason !== undefined && !isObject(reason))
    throw new HoldfastError(
      "EVENT_INVALID",
      `A reason is an object such as { limit: "steps" }, not ${showValue(reason)}`,
    );
  const event = admitEvent(sentBy(cancelEvent(reason), options.by), "reason");
  const work = workFromOutside(machine, state as unknown as State, event, options);
  if (work.before.status !== "active")
    return unchanged(work.before, "ignored", work, undefined) as Step<Context>;
  return withModel(work, (under) =>
    end(under, reason === undefined ? "cancelled" : "failed"),
  ) as Step<Context>;
}

/** Moves the timers that do not keep to their deadline, after times in which nobody was there to fire them. */
export function resume<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  state: State<NoInfer<Context>>,
  outages: readonly Outage[],
  options: StepOptions,
): Step<Context> {
  const work = workFromOutside(machine, state as unknown as State, admitEvent(resumeEvent(outages)), options);
  const { before } = work;
  const timers = before.timers.map((timer) => movedTimer(work, timer, outages));
  if (work.effects.length === 0) return unchanged(before, "ignored", work, undefined) as Step<Context>;
  work.timers = freeze(timers);
  return stepTo(work, "taken", work.result("active", undefined)) as Step<Context>;
}

function movedTimer(work: Work, timer: Timer, outages: readonly Outage[]): Timer {
  const { due, since } = resumedDue(timer, outages);
  if (since === undefined || since === timer.since) return timer;
  work.effect({ type: "timer", key: timer.key, due });
  return freeze({ ...timer, due, since });
}

/** A step that the platform takes, on an event that no handler can refuse. */
function workFromOutside(machine: Runnable, state: State, event: Event, options: StepOptions): Work {
  admitCall(machine, options.at);
  const configuration = admitState(machine, state);
  return new Work(machine.chart, state, configuration, event, options);
}

export function withModel(work: Work, run: (work: Work) => Step): Step {
  const { model } = work.chart;
  if (model.open === undefined) return run(work);
  try {
    model.open(work);
    return run(work);
  } finally {
    model.close?.(work);
  }
}

/** A timer came due: it is spent, and its event is taken, or goes to whom it was meant for. */
function takeTimer(work: Work): Step {
  const { before, event } = work;
  const timer = before.timers.find(({ key }) => key === event.timer);
  if (timer === undefined) return unchanged(before, "ignored", work, undefined);
  if (work.at < timer.due) throw refuseEarly(timer, work.at);
  work.timers = without(before.timers, (one) => one === timer);
  work.spent = freeze({ ...before, timers: work.timers });
  if (timer.to === undefined) return take(work);
  work.dispatch(timer.key, timer.event, timer.to, timer.via);
  settle(work);
  return finish(work, "taken");
}

/** One event, from its arrival to the stable state after it. */
function take(work: Work): Step {
  const { before, chart } = work;
  work.event = underItsId(work, work.event);
  if (chart.schemas !== undefined) work.event = admitResult(work, admitData(chart, work.event));
  const { event } = work;
  if (event.invocation !== undefined && !takeFromInvocation(work, event)) {
    return unchanged(before, "ignored", work, undefined);
  }
  if (work.children.length > 0) forwardToChildren(work, event);
  const outcome = takeExternal(work, event);
  if (outcome === "ignored" && !changed(work)) return unchanged(before, "ignored", work, undefined);
  if (outcome === "taken" && work.deferred.length > 0) recall(work);
  return finish(work, outcome);
}

/** Whether an event that nothing took left a mark all the same. */
function changed(work: Work): boolean {
  const { before } = work;
  // A model with sessions hands over its context only when asked; finalize or a guard may have changed it.
  const context = work.chart.model.save?.(work) ?? work.context;
  return (
    context !== before.context ||
    work.timers !== before.timers ||
    work.activities !== before.activities ||
    work.children !== before.children ||
    work.effects.length > 0
  );
}

/** What the machine itself makes of an event from outside. */
function takeExternal(work: Work, event: Event): Outcome {
  const transitions = selectTransitions(work, event);
  if (transitions.length === 0) return takeUnhandled(work, event);
  takeTransitions(work, transitions, event);
  settle(work);
  return "taken";
}

function takeUnhandled(work: Work, event: Event): Outcome {
  const policy = unhandledPolicy(work, event);
  if (policy === "reject") throw refuseUnhandled(work, event);
  if (policy === "defer") {
    if (work.deferred.length >= limits.deferredMax) {
      throw new HoldfastError(
        "DEFERRED_FULL",
        `The run defers ${limits.deferredMax} events already, and cannot keep ${JSON.stringify(event.type)}; let a state take them`,
      );
    }
    const { timer: _, ...kept } = event;
    work.deferred = freeze([...work.deferred, freeze(kept)]);
    return "deferred";
  }
  // Nothing took the event, but a guard may look at it, and finalize may have changed what guards see.
  const microsteps = work.microsteps;
  settle(work);
  return work.microsteps === microsteps ? "ignored" : "taken";
}

/** Deferred events come back, the most urgent first, once a state takes them; those nobody defers any more are gone. */
export function recall(work: Work): void {
  while (work.deferred.length > 0 && !isOver(work)) {
    const next = nextDeferred(work);
    if (next === undefined) {
      work.dropped = work.deferred.filter((event) => !defers(work, event));
      work.deferred = without(work.deferred, (event) => work.dropped.includes(event));
      return;
    }
    work.deferred = without(work.deferred, (event) => event === next.event);
    takeTransitions(work, next.transitions, next.event);
    settle(work);
  }
}

/** Runs to a stable state: eventless transitions before raised events, invocations when neither is left. */
export function settle(work: Work): void {
  while (!isOver(work)) {
    const transitions = selectEventless(work);
    if (transitions.length > 0) takeTransitions(work, transitions, undefined);
    else if (!takeRaised(work) && !startInvocations(work)) return;
  }
}

/** Takes the next raised event; false when there is none. */
function takeRaised(work: Work): boolean {
  const event = work.queue?.shift();
  if (event === undefined) return false;
  const transitions: readonly TransitionNode[] = selectTransitions(work, event);
  if (transitions.length > 0) takeTransitions(work, transitions, event);
  else if (work.errors.length > limits.microstepsMax) throw refuseErrors(work);
  return true;
}

/** A guard that fails on error events raises the next one itself, without a single microstep that could be counted. */
function refuseErrors(work: Work): HoldfastError {
  const [last] = work.errors.slice(-1) as [Event];
  return new HoldfastError(
    "STEP_UNBOUNDED",
    `The step on ${JSON.stringify(work.given.type)} did not end after ${limits.microstepsMax} errors, each of which led to the next: ${JSON.stringify(last.data)}`,
    { details: { error: last } },
  );
}

/** Whether a final state of the machine itself is reached. */
function isOver(work: Work): boolean {
  return work.configuration.final;
}

export function finish(work: Work, outcome: Outcome): Step {
  if (isOver(work)) return end(work, "done");
  checkInvariants(work);
  return made(work, outcome, "active", undefined);
}

/** Leaves every state and drops all that is pending. https://www.w3.org/TR/scxml/#exitInterpreter */
function end(work: Work, status: "done" | "cancelled" | "failed"): Step {
  // Contracts can refuse an ending the machine chose; nothing refuses one that comes from outside.
  const judged = status === "done";
  if (judged) checkInvariants(work);
  work.plan = finalPlan(work.chart, work.configuration);
  work.exitedCount = 0;
  for (const node of work.plan.exits) leave(work, node, judged);
  if (judged) settleRegions(work);
  const output = judged ? finalOutput(work) : undefined;
  work.cancelTimers(() => true);
  work.cancelActivities(() => true);
  const compensation = compensationName(work.chart.id);
  // What is being undone is undone to the end, whoever is there to hear of it.
  work.cancelChildren(({ machine }) => machine !== compensation);
  work.children = without(work.children, () => true);
  const input = work.takeCompensations();
  if (input !== undefined && !judged)
    work.effect({ type: "spawn", key: work.nextKey(), id: compensationId, machine: compensation, input });
  work.dropped = work.deferred;
  work.deferred = without(work.deferred, () => true);
  return made(work, "taken", status, output);
}

function finalOutput(work: Work): Json | undefined {
  const { chart, configuration } = work;
  const [leaf] = configuration.leaves as [StateNode];
  const node = leaf.parent === chart.root && leaf.output !== undefined ? leaf : chart.root;
  const output = outputOf(work, node);
  return chart.schemas?.output === undefined ? output : chart.schemas.output(output);
}

/** Refuses a step that leaves a context which does not fit its schema; what did not change is not looked at again. */
function checkContext(work: Work): void {
  const check = work.chart.schemas?.context;
  if (check === undefined || work.context === work.fitting) return;
  work.context = check(work.context) as JsonObject;
  work.fitting = work.context;
}

function checkInvariants(work: Work): void {
  checkContext(work);
  for (const { state, contract } of work.configuration.invariants) {
    let cause: unknown;
    try {
      if (contract.holds(work)) continue;
    } catch (error) {
      cause = error;
    }
    throw refuseInvariant(work, state, contract, cause);
  }
}

function made(work: Work, outcome: Outcome, status: State["status"], output: Json | undefined): Step {
  if (work.chart.model.save !== undefined) work.context = work.chart.model.save(work);
  if (status === "active" || status === "done") checkContext(work);
  const state = work.result(status, output);
  return stepTo(work, outcome, status === "failed" ? withReason(state, work.given) : state);
}

function withReason(state: State, { data }: Event): State {
  return freeze({ ...state, reason: data as JsonObject });
}

function stepTo(work: Work, outcome: Outcome, state: State): Step {
  return {
    state,
    effects: freeze(work.effects),
    outcome,
    error: undefined,
    errors: work.errors,
    dropped: work.dropped,
    trace: work.tracer,
  };
}

const none: readonly never[] = Object.freeze([]);

/** A step that goes nowhere; what was seen on the way is told all the same. */
function unchanged(
  state: State,
  outcome: Outcome,
  work: Work | undefined,
  error: HoldfastError | undefined,
): Step {
  return {
    state,
    effects: none,
    outcome,
    error,
    errors: work?.errors ?? none,
    dropped: none,
    trace: work?.tracer,
  };
}
