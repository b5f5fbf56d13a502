/**
 * A plan as the plain model object that SCION takes. Guards and actions are functions over the state of one run, which
 * the driver owns. Nothing here is shared with the way Holdfast's own definition is made, except the plan.
 */
import type {
  ActionPlan,
  EntryPlan,
  GuardPlan,
  Plan,
  StatePlan,
  TransitionPlan,
} from "../../test/generate/plan.ts";
import { counterMax } from "../../test/generate/plan.ts";
import { payloadNumber, probe } from "../../test/generate/probe.ts";
import { doneName, plant, type Tree } from "../../test/generate/tree.ts";

export interface ScionEvent {
  readonly name: string;
  readonly data?: unknown;
}

/** What SCION binds to `this` while it runs an action. */
interface ScionScope {
  raise(event: ScionEvent): void;
}

type ScionAction = (this: ScionScope, event: ScionEvent | null | undefined) => void;

interface ScionTransition {
  readonly event?: string;
  readonly target?: readonly string[];
  readonly type?: "internal";
  readonly cond?: (event: ScionEvent | undefined) => boolean;
  readonly onTransition: readonly ScionAction[];
}

export interface ScionState {
  readonly id?: string;
  readonly $type: "state" | "parallel" | "final" | "history" | "initial";
  readonly isDeep?: boolean;
  readonly states?: readonly ScionState[];
  readonly transitions?: readonly ScionTransition[];
  readonly onEntry?: readonly (readonly ScionAction[])[];
  readonly onExit?: readonly (readonly ScionAction[])[];
  readonly donedata?: () => number;
}

/** The state of one run outside SCION: its data model, so to speak. */
export interface ScionRun {
  readonly counters: Record<string, number>;
  readonly log: string[];
  /** Whether a final state of the root was entered. SCION goes on after that; SCXML does not. */
  ended: boolean;
  /** The event under which that happened; SCION gives the last exit handlers none. */
  lastEvent: ScionEvent | undefined;
  /** Whether the step under way has been found to have no end: from then on no transition is taken. */
  unbounded: boolean;
  isIn(id: string): boolean;
}

/** The model of a plan, whose functions work on the given run. */
export function scionModel(plan: Plan, run: ScionRun): ScionState {
  const tree = plant(plan.root);
  const idOf = (key: string): string => scionId(tree, key);

  const model = (state: StatePlan): ScionState => {
    const id = idOf(state.key);
    if (state.kind === "history") {
      const transitions = [entryTransition(state.fallback!)];
      return { id, $type: "history", ...(state.deep === true ? { isDeep: true } : {}), transitions };
    }
    const initial: ScionState[] =
      state.initial === undefined
        ? []
        : [{ $type: "initial", transitions: [entryTransition(state.initial)] }];
    const states = [...initial, ...state.states.map(model)];
    const { output } = state;
    const ends = state.kind === "final" && tree.get(state.key)!.parent!.parent === undefined;
    return {
      id,
      $type: state.kind === "parallel" || state.kind === "final" ? state.kind : "state",
      ...(states.length === 0 ? {} : { states }),
      transitions: transitionsOf(state),
      onEntry: [...(ends ? [[end]] : []), ...state.entry.map((block) => block.map(action))],
      onExit: state.exit.map((block) => block.map(action)),
      ...(output === undefined ? {} : { donedata: () => output }),
    };
  };

  const entryTransition = (entry: EntryPlan): ScionTransition => ({
    target: entry.targets.map(idOf),
    onTransition: entry.actions.map(action),
  });

  const transitionsOf = (state: StatePlan): ScionTransition[] => {
    const always = state.transitions.flatMap((transition) =>
      "always" in transition.trigger ? [transitionOf(state, transition, undefined)] : [],
    );
    const handlers = state.transitions.flatMap((transition) => {
      const descriptors = descriptorsOf(transition, state, tree);
      return plan.matching === "scxml"
        ? [{ descriptors, transition }]
        : descriptors.map((descriptor) => ({ descriptors: [descriptor], transition }));
    });
    const inOrder = plan.matching === "scxml" ? handlersThenDone(handlers) : bySpecificity(handlers);
    return [
      ...always,
      ...inOrder.flatMap(({ descriptors, transition }) =>
        descriptors.length === 0 ? [] : [transitionOf(state, transition, descriptors)],
      ),
    ];
  };

  const transitionOf = (
    state: StatePlan,
    transition: TransitionPlan,
    descriptors: readonly string[] | undefined,
  ): ScionTransition => {
    const isRoot = state === plan.root;
    const { guard } = transition;
    const takes = (event: ScionEvent | undefined): boolean =>
      descriptors === undefined ||
      plan.matching === "scxml" ||
      descriptors.some((descriptor) => descriptor.endsWith("*") || descriptor === event?.name);
    return {
      ...(descriptors === undefined ? {} : { event: descriptors.join(" ") }),
      ...(transition.targets.length === 0 ? {} : { target: transition.targets.map(idOf) }),
      // Holdfast's root is what <scxml> is to SCXML: no transition leaves it.
      ...(transition.reenter === true && !isRoot ? {} : { type: "internal" }),
      cond: (event) =>
        !run.ended && !run.unbounded && takes(event) && (guard === undefined || holds(guard, event)),
      onTransition: transition.actions.map(action),
    };
  };

  const end: ScionAction = (event) => {
    run.ended = true;
    run.lastEvent = event ?? undefined;
  };

  const action = (planned: ActionPlan): ScionAction => {
    if ("log" in planned)
      return (given) => {
        const event = given ?? run.lastEvent;
        const typed = event === undefined ? undefined : { type: event.name, data: event.data };
        run.log.push(probe(planned.log, typed, run.counters));
      };
    if ("count" in planned) return () => count(planned.count);
    if ("throws" in planned) return fail;
    if (!("counter" in planned))
      return function () {
        this.raise({ name: planned.raise });
      };
    return function () {
      if (run.counters[`c${planned.counter}`]! >= planned.below) return;
      count(planned.counter);
      this.raise({ name: planned.raise });
    };
  };

  const count = (index: number): void => {
    const name = `c${index}`;
    run.counters[name] = Math.min(run.counters[name]! + 1, counterMax);
  };

  const holds = (guard: GuardPlan, event: ScionEvent | undefined): boolean => {
    if ("not" in guard) return !holds(guard.not, event);
    if ("and" in guard) return guard.and.every((part) => holds(part, event));
    if ("or" in guard) return guard.or.some((part) => holds(part, event));
    if ("in" in guard) return run.isIn(idOf(guard.in));
    if ("throws" in guard) return fail();
    if ("parity" in guard) {
      const n = payloadNumber(event?.data);
      return n !== undefined && n % 2 === guard.parity;
    }
    const value = run.counters[`c${guard.counter}`]!;
    return "odd" in guard ? value % 2 === 1 : value < guard.below;
  };

  return model(plan.root);
}

/** The id a state has in SCION's model: also the name in its done events. */
export function scionId(tree: Tree, key: string): string {
  const place = tree.get(key)!;
  return place.parent === undefined ? place.state.key : doneName(place);
}

function fail(): never {
  throw new Error("This action always fails.");
}

interface Handler {
  readonly descriptors: readonly string[];
  readonly transition: TransitionPlan;
}

function descriptorsOf(transition: TransitionPlan, state: StatePlan, tree: Tree): readonly string[] {
  if ("events" in transition.trigger) return transition.trigger.events;
  return "done" in transition.trigger ? [`done.state.${scionId(tree, state.key)}`] : [];
}

const handlersThenDone = (handlers: readonly Handler[]): Handler[] => [
  ...handlers.filter(({ transition }) => !("done" in transition.trigger)),
  ...handlers.filter(({ transition }) => "done" in transition.trigger),
];

/** Exact names first, then prefixes, the longest first, then `*`. */
function bySpecificity(handlers: readonly Handler[]): Handler[] {
  const tier = ({ descriptors: [descriptor = ""] }: Handler): number => {
    if (descriptor === "*") return 1_000;
    return descriptor.endsWith(".*") ? 100 - descriptor.split(".").length : 0;
  };
  return [...handlers].sort((one, other) => tier(one) - tier(other));
}
