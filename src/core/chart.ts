/**
 * A machine, compiled: states numbered in document order, so that a subtree is an interval, every target resolved,
 * every handler turned into code over the step under way. Made once by `compile.ts`; afterwards nothing changes but
 * the cache of configurations, which only remembers what would be computed again.
 */
import type { DataModel, ModelScope } from "./data-model.ts";
import type { UnhandledPolicy, WritePolicy } from "./definition.ts";
import type { Address } from "./effect.ts";
import type { Event, Matching } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Schemas } from "./schema.ts";
import type { State } from "./state.ts";
import type { Due } from "./timer.ts";

/** A step under way, as compiled actions see it. `work.ts` implements it. */
export interface StepScope extends ModelScope {
  /** The context before the work an `ensure` contract judges. */
  old: JsonObject;
  /** The lists that are being gone through; `map.ts` looks after them. */
  maps: State["maps"];
  /** Raises `error.execution` without stopping the block. */
  fail(error: unknown, sendId?: string): void;
  /** A name nothing else in this run has. */
  nextKey(): string;
  raise(event: Event): void;
  /** Raises an event as the platform's own. */
  announce(event: Event): void;
  send(request: SendRequest): void;
  cancelSends(id: string): void;
  emit(event: Event): void;
  log(label: string | undefined, data: Json | undefined): void;
  spawn(machine: string, id: string | undefined, input: Json | undefined): void;
  reply(to: string, data: Json): void;
  /** Undoes what was recorded, in a child; announces the end at once if there is nothing to undo. */
  compensate(): void;
  stop(id: string): void;
  /** An update of `node` replaced the context. */
  wrote(node: StateNode, before: JsonObject, after: JsonObject): void;
  isActive(node: StateNode): boolean;
}

export interface SendRequest {
  readonly event: Event;
  readonly to: Address;
  readonly via: string | undefined;
  readonly delayMs: number;
  readonly resume: Due["resume"];
  readonly id: string | undefined;
}

export type Code = (scope: StepScope) => void;
export type Condition = (scope: StepScope) => boolean;
export type Compute<Value> = (scope: StepScope) => Value;

export interface Contract {
  readonly name: string;
  readonly holds: Condition;
}

export type StateKind = "atomic" | "compound" | "parallel" | "final" | "history";

export interface StateNode {
  readonly index: number;
  readonly kind: StateKind;
  readonly key: string;
  readonly path: string;
  /** The author's id, or the path. */
  readonly name: string;
  readonly depth: number;
  readonly parent: StateNode | undefined;
  /** Without histories. */
  readonly children: StateNode[];
  readonly histories: StateNode[];
  /** The index of the last descendant, or its own: the subtree is `index … last`. */
  last: number;
  /** Of a compound state: its initial; of a history: its default. */
  initial: Route | undefined;
  readonly deep: boolean;
  readonly transitions: TransitionNode[];
  readonly eventless: TransitionNode[];
  entry: readonly Code[];
  exit: readonly Code[];
  declare: Code | undefined;
  readonly delays: Delay[];
  readonly invokes: InvokeNode[];
  output: Compute<Json | undefined> | undefined;
  defer: readonly string[];
  invariants: readonly Contract[];
  require: readonly Contract[];
  ensure: readonly Contract[];
  writes: (path: string) => WritePolicy;
  readonly tags: readonly string[];
}

/** Where to go and what to do on the way, without an event. */
export interface Route {
  readonly targets: readonly StateNode[];
  readonly run: Code | undefined;
}

export interface TransitionNode extends Route {
  readonly index: number;
  readonly source: StateNode;
  /** Empty for eventless transitions. */
  readonly descriptors: readonly string[];
  /** Listens to what the platform announces, and to nothing that merely has the same name. */
  readonly platform: boolean;
  readonly guard: Condition | undefined;
  /** Leaves its source and enters it again, even for a target inside. */
  readonly reenter: boolean;
  /** What it leaves: everything active below this state. Undefined without targets, and where history decides. */
  readonly domain: StateNode | undefined;
  /** Whether a history state is among the targets, so that domain and entry depend on what is remembered. */
  readonly historic: boolean;
  readonly require: readonly Contract[];
  readonly ensure: readonly Contract[];
}

export interface Delay {
  readonly type: string;
  readonly ms: Compute<number>;
  readonly resume: Due["resume"];
}

export interface InvokeNode {
  readonly id: Compute<string>;
  readonly kind: "activity" | "machine";
  readonly source: Compute<string>;
  readonly input: Compute<Json | undefined>;
  /** For a worker of a map: the event that brings its item to `input`. */
  readonly item: Compute<Event> | undefined;
  readonly options: JsonObject;
  /** What else goes to the runtime, made in the step. */
  readonly flow: Compute<JsonObject> | undefined;
  readonly autoforward: boolean;
  readonly finalize: Code | undefined;
  readonly compensate: CompensateNode | undefined;
  readonly storeId: ((scope: ModelScope, id: string) => void) | undefined;
}

export interface CompensateNode {
  readonly activity: string;
  /** Undefined for what the activity gave. */
  readonly input: Compute<Json | undefined> | undefined;
}

export interface Configuration {
  readonly leaves: readonly StateNode[];
  readonly paths: readonly string[];
  /** All active states but the root, in document order. */
  readonly states: readonly StateNode[];
  readonly active: ReadonlySet<StateNode>;
  /** Whether the machine itself is done here. */
  readonly final: boolean;
  /** The invariants of the active states. */
  readonly invariants: readonly { readonly state: StateNode; readonly contract: Contract }[];
  /** Whether any active state has eventless transitions. */
  readonly eventless: boolean;
  /** By event type, and by transition: filled as they are asked for. */
  readonly candidates: Map<string, Candidates>;
  readonly plans: Map<TransitionNode | string, Plan>;
}

/** For one event in one configuration: what each leaf would take, innermost first. */
export interface Candidates {
  readonly perLeaf: readonly (readonly TransitionNode[])[];
  /** The answer itself, where no guard and no history has a say in it. */
  readonly certain: readonly TransitionNode[] | undefined;
}

/** What a set of transitions does to a configuration. */
export interface Plan {
  readonly transitions: readonly TransitionNode[];
  /** Innermost first, in reverse document order. */
  readonly exits: readonly StateNode[];
  /** In document order. */
  readonly entries: readonly Entry[];
  readonly next: Configuration;
  /** What the histories of the states that are left will remember. */
  readonly remembers: readonly { readonly history: StateNode; readonly paths: readonly string[] }[];
  /** Nothing happens on leaving and entering: no actions, timers, invocations, contracts or final states. */
  readonly quiet: boolean;
}

export interface Entry {
  readonly node: StateNode;
  /** The content of its initial transition, when it is entered by default. */
  readonly initial: Code | undefined;
  /** The content of its history's default transition, when there was nothing to remember. */
  readonly fallback: Code | undefined;
  /** It was active all along, and only starts its inside again. */
  readonly stays: boolean;
}

export interface Chart {
  readonly id: string;
  readonly version: number;
  readonly root: StateNode;
  /** In document order; `nodes[i].index === i`. */
  readonly nodes: readonly StateNode[];
  readonly byPath: ReadonlyMap<string, StateNode>;
  readonly byId: ReadonlyMap<string, StateNode>;
  readonly matching: Matching;
  readonly model: DataModel;
  readonly start: (scope: StepScope, input: Json | undefined) => JsonObject;
  readonly unhandled: { readonly known: UnhandledPolicy; readonly unknown: UnhandledPolicy };
  /** What payloads and the context must be; undefined where the definition says nothing of it. */
  readonly schemas: Schemas | undefined;
  /** Event descriptors some state handles or the definition declares. */
  readonly descriptors: readonly string[];
  readonly priorities: readonly (readonly [descriptor: string, priority: number])[];
  /** Whether any activity has a compensation, so that runs may need the machine of `compensation.ts`. */
  readonly compensates: boolean;
  /** The configurations met so far; `configuration.ts` fills it. */
  readonly cache: {
    readonly byPaths: WeakMap<readonly string[], Configuration>;
    readonly byKey: Map<string, Configuration>;
  };
}

/** Whether `node` lies strictly below `above`. */
export function isDescendant(node: StateNode, above: StateNode): boolean {
  return node.index > above.index && node.index <= above.last;
}

export function isLeaf(node: StateNode): boolean {
  return node.kind === "atomic" || node.kind === "final";
}

/** The state that a path (`a.b`) or an id (`#a`) names. */
export function findNode(chart: Chart, name: string): StateNode | undefined {
  return name.startsWith("#") ? chart.byId.get(name.slice(1)) : chart.byPath.get(name);
}

/** The nearest state above both, or one of them if it is above the other. */
export function leastCommonAncestor(one: StateNode, other: StateNode): StateNode {
  let common = one;
  while (common !== other && !isDescendant(other, common)) common = common.parent as StateNode;
  return common;
}

/** Whether two states lie in different regions of one parallel state, and so are active or not independently. */
export function areOrthogonal(one: StateNode, other: StateNode): boolean {
  const common = leastCommonAncestor(one, other);
  return common.kind === "parallel" && common !== one && common !== other;
}

/**
 * What a transition leaves: everything active below this state. https://www.w3.org/TR/scxml/#getTransitionDomain
 * An internal one stays in its source; for the others it is the nearest *compound* ancestor (or the root) of source
 * and targets: never a parallel state, whose regions stand and fall together.
 */
export function transitionDomain(
  source: StateNode,
  targets: readonly StateNode[],
  reenter: boolean,
): StateNode | undefined {
  if (targets.length === 0) return undefined;
  const inside = targets.every((target) => target === source || isDescendant(target, source));
  if (inside && !reenter) return isLeaf(source) ? undefined : source;
  let domain = source.parent ?? source;
  while (
    domain.parent !== undefined &&
    (domain.kind === "parallel" || !targets.every((target) => isDescendant(target, domain)))
  ) {
    domain = domain.parent;
  }
  return domain;
}

/** The priority an event has among those that wait. */
export function priorityOf(
  chart: Chart,
  type: string,
  matches: (descriptor: string, type: string) => boolean,
): number {
  for (const [descriptor, priority] of chart.priorities) if (matches(descriptor, type)) return priority;
  return 0;
}
