/**
 * Configurations and the plans out of them. A configuration is a legal set of active states, made once per chart and
 * remembered; so are the plans of its transitions, since without history they depend on nothing else. This is where
 * a step's cost goes from "compute sets" to "look up".
 */
import { limits } from "../limits.ts";
import {
  type Chart,
  type Code,
  type Contract,
  isDescendant,
  isLeaf,
  type StateNode,
  type TransitionNode,
  transitionDomain,
} from "./chart.ts";
import { descriptorMatches } from "./event.ts";

/** What histories remember: paths of states by the path of the history state. */
export type History = Readonly<Record<string, readonly string[]>>;

export interface Configuration {
  readonly leaves: readonly StateNode[];
  readonly paths: readonly string[];
  /** All active states but the root, in document order. */
  readonly states: readonly StateNode[];
  readonly active: ReadonlySet<StateNode>;
  /** Whether the machine itself is done here. */
  readonly final: boolean;
  /** Active states with invariants, and whether any active state has eventless transitions. */
  readonly invariants: readonly { readonly state: StateNode; readonly contract: Contract }[];
  readonly eventless: Candidates | undefined;
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
}

interface Cache {
  readonly byPaths: WeakMap<readonly string[], Configuration>;
  readonly byKey: Map<string, Configuration>;
}

const caches = new WeakMap<Chart, Cache>();

function cacheOf(chart: Chart): Cache {
  let cache = caches.get(chart);
  if (cache === undefined) {
    cache = { byPaths: new WeakMap(), byKey: new Map() };
    caches.set(chart, cache);
  }
  return cache;
}

/** The configuration whose leaves have these paths; undefined if they are not one of this chart. */
export function configurationOf(chart: Chart, paths: readonly string[]): Configuration | undefined {
  const cache = cacheOf(chart);
  const known = cache.byPaths.get(paths) ?? cache.byKey.get(paths.join("\n"));
  if (known !== undefined) return known;
  const leaves: StateNode[] = [];
  for (const path of paths) {
    const node = chart.byPath.get(path);
    if (node === undefined || !isLeaf(node)) return undefined;
    leaves.push(node);
  }
  return isLegal(chart, leaves) ? intern(chart, leaves) : undefined;
}

/** Whether leaves in document order are exactly one way to be in the chart. */
function isLegal(chart: Chart, leaves: readonly StateNode[]): boolean {
  let next = 0;
  const covers = (node: StateNode): boolean => {
    if (isLeaf(node)) return leaves[next++] === node;
    if (node.kind === "parallel") return node.children.every(covers);
    const leaf = leaves[next];
    const child = node.children.find(
      (one) => leaf !== undefined && (one === leaf || isDescendant(leaf, one)),
    );
    return child !== undefined && covers(child);
  };
  return covers(chart.root) && next === leaves.length;
}

/** The one configuration with these leaves. */
function intern(chart: Chart, leaves: readonly StateNode[]): Configuration {
  const cache = cacheOf(chart);
  const paths = leaves.map((leaf) => leaf.path);
  const key = paths.join("\n");
  let configuration = cache.byKey.get(key);
  if (configuration === undefined) {
    // Regions multiply: a chart with many of them has more configurations than are worth remembering.
    if (cache.byKey.size >= limits.cachedMax) cache.byKey.clear();
    configuration = newConfiguration(chart, leaves, Object.freeze(paths));
    cache.byKey.set(key, configuration);
    cache.byPaths.set(configuration.paths, configuration);
  }
  return configuration;
}

function newConfiguration(
  chart: Chart,
  leaves: readonly StateNode[],
  paths: readonly string[],
): Configuration {
  const active = new Set<StateNode>();
  for (const leaf of leaves) {
    for (let node: StateNode | undefined = leaf; node?.parent !== undefined; node = node.parent)
      active.add(node);
  }
  const states = [...active].sort((one, other) => one.index - other.index);
  const withRoot = [chart.root, ...states];
  const perLeaf = leaves.map((leaf) => upwards(leaf).flatMap((node) => node.eventless));
  return {
    leaves,
    paths,
    states,
    active,
    final: leaves.length > 0 && isFinal(chart.root, active),
    invariants: withRoot.flatMap((state) => state.invariants.map((contract) => ({ state, contract }))),
    eventless: perLeaf.some((list) => list.length > 0) ? { perLeaf, certain: certainOf(perLeaf) } : undefined,
    candidates: new Map(),
    plans: new Map(),
  };
}

function isFinal(node: StateNode, active: ReadonlySet<StateNode>): boolean {
  if (node.kind === "parallel") return node.children.every((region) => isFinal(region, active));
  return node.children.some((child) => child.kind === "final" && active.has(child));
}

/** A state and its ancestors, innermost first, the root included. */
export function upwards(node: StateNode): StateNode[] {
  const chain: StateNode[] = [];
  for (let up: StateNode | undefined = node; up !== undefined; up = up.parent) chain.push(up);
  return chain;
}

/** The transitions each leaf would take for an event of this type, innermost first, guards aside. */
export function candidatesFor(chart: Chart, configuration: Configuration, type: string): Candidates {
  const known = configuration.candidates.get(type);
  if (known !== undefined) return known;
  const matches = ({ descriptors }: TransitionNode) =>
    descriptors.some((descriptor) => descriptorMatches(descriptor, type, chart.matching));
  const perLeaf = configuration.leaves.map((leaf) =>
    upwards(leaf).flatMap((node) => node.transitions.filter(matches)),
  );
  const candidates: Candidates = { perLeaf, certain: certainOf(perLeaf) };
  // Types come from outside, so what is remembered must be bounded.
  if (configuration.candidates.size >= limits.cachedMax) configuration.candidates.clear();
  configuration.candidates.set(type, candidates);
  return candidates;
}

function certainOf(perLeaf: readonly (readonly TransitionNode[])[]): readonly TransitionNode[] | undefined {
  const enabled = new Set<TransitionNode>();
  for (const [first] of perLeaf) {
    if (first === undefined) continue;
    if (first.guard !== undefined || first.historic) return undefined;
    enabled.add(first);
  }
  return removeConflicts([...enabled], {});
}

/**
 * Of transitions that leave a common state, the one with the inner source stays, else the earlier one.
 * https://www.w3.org/TR/scxml/#removeConflictingTransitions
 */
export function removeConflicts(
  enabled: readonly TransitionNode[],
  history: History,
): readonly TransitionNode[] {
  if (enabled.length < 2) return enabled;
  let kept: TransitionNode[] = [];
  for (const transition of enabled) {
    const rivals = kept.filter((other) => conflict(transition, other, history));
    if (rivals.every((other) => isDescendant(transition.source, other.source))) {
      kept = kept.filter((other) => !rivals.includes(other));
      kept.push(transition);
    }
  }
  return kept;
}

/** Two exit sets meet exactly if one domain contains the other: each holds at least its own source's active child. */
function conflict(one: TransitionNode, other: TransitionNode, history: History): boolean {
  const inner = domainOf(one, history);
  const outer = domainOf(other, history);
  if (inner === undefined || outer === undefined) return false;
  return inner === outer || isDescendant(inner, outer) || isDescendant(outer, inner);
}

function domainOf(transition: TransitionNode, history: History): StateNode | undefined {
  if (!transition.historic) return transition.domain;
  return transitionDomain(transition.source, effectiveTargets(transition, history), transition.reenter);
}

/** Targets with histories replaced by what they remember, or by their defaults. */
function effectiveTargets(
  transition: { readonly targets: readonly StateNode[] },
  history: History,
): StateNode[] {
  return transition.targets.flatMap((target) => {
    if (target.kind !== "history") return [target];
    return (
      remembered(target, history) ??
      effectiveTargets(target.initial as NonNullable<StateNode["initial"]>, history)
    );
  });
}

function remembered(node: StateNode, history: History): StateNode[] | undefined {
  const paths = Object.hasOwn(history, node.path) ? history[node.path] : undefined;
  // Paths are relative to the state whose history it is, so that they resolve without the chart.
  return paths?.map((path) => {
    let found = node.parent as StateNode;
    const rest = found.path === "" ? path : path.slice(found.path.length + 1);
    for (const key of rest.split(".")) found = found.children.find((child) => child.key === key) as StateNode;
    return found;
  });
}

/** What taking these transitions from this configuration does. */
export function planFor(
  chart: Chart,
  from: Configuration,
  transitions: readonly TransitionNode[],
  history: History,
): Plan {
  const [only] = transitions;
  const key =
    transitions.length === 1 ? (only as TransitionNode) : transitions.map(({ index }) => index).join();
  const known = from.plans.get(key);
  if (known !== undefined) return known;
  const plan = makePlan(chart, from, transitions, history);
  if (!plan.historic) {
    if (from.plans.size >= limits.cachedMax) from.plans.clear();
    from.plans.set(key, plan);
  }
  return plan;
}

/** Before the first step: nothing is active. */
export function nowhere(chart: Chart): Configuration {
  return newConfiguration(chart, [], []);
}

/** The way out of a chart: everything is left, and the configuration stays for those who ask where it ended. */
export function finalPlan(chart: Chart, from: Configuration): Plan {
  const exits = [...from.states.toReversed(), chart.root];
  return { transitions: [], exits, entries: [], next: from, remembers: [], quiet: false };
}

/** The way into a chart: its root entered by default. */
export function initialPlan(chart: Chart): Plan {
  const entering = new Entering({});
  entering.addDescendants(chart.root);
  return finishPlan(chart, [], [], entering, []);
}

function makePlan(
  chart: Chart,
  from: Configuration,
  transitions: readonly TransitionNode[],
  history: History,
): Plan & { readonly historic: boolean } {
  const exits = exitSet(from, transitions, history);
  const remembers = exits.flatMap((node) =>
    node.histories.map((one) => ({ history: one, paths: toRemember(one, from) })),
  );
  // A transition may enter through a history that another one of the same set just filled.
  const recalled = { ...history };
  for (const { history: node, paths } of remembers) recalled[node.path] = paths;
  const entering = new Entering(recalled);
  for (const transition of transitions) entering.addTransition(transition, domainOf(transition, recalled));
  const plan = finishPlan(chart, exits, transitions, entering, from.leaves);
  return { ...plan, remembers, quiet: plan.quiet && remembers.length === 0, historic: entering.historic };
}

/** https://www.w3.org/TR/scxml/#computeExitSet */
function exitSet(from: Configuration, transitions: readonly TransitionNode[], history: History): StateNode[] {
  const exits = new Set<StateNode>();
  for (const transition of transitions) {
    const domain = domainOf(transition, history);
    if (domain === undefined) continue;
    for (const node of from.states) if (isDescendant(node, domain)) exits.add(node);
  }
  return [...exits].sort((one, other) => other.index - one.index);
}

function toRemember(history: StateNode, from: Configuration): readonly string[] {
  const parent = history.parent as StateNode;
  const nodes = history.deep
    ? from.leaves.filter((leaf) => isDescendant(leaf, parent))
    : parent.children.filter((child) => from.active.has(child));
  return Object.freeze(nodes.map((node) => node.path));
}

/** The entry set under construction. https://www.w3.org/TR/scxml/#computeEntrySet */
class Entering {
  readonly nodes = new Set<StateNode>();
  readonly byDefault = new Set<StateNode>();
  readonly fallbacks = new Map<StateNode, Code>();
  historic = false;
  private readonly history: History;

  constructor(history: History) {
    this.history = history;
  }

  addTransition(transition: TransitionNode, domain: StateNode | undefined): void {
    if (domain === undefined) return;
    const { targets, source } = transition;
    for (const target of targets) {
      // A state that is its own target without being left is not entered again; what is inside it is.
      if (target === source && domain === source) this.addContent(target);
      else this.addDescendants(target);
    }
    for (const target of effectiveTargets(transition, this.history)) this.addAncestors(target, domain);
  }

  addDescendants(node: StateNode): void {
    if (node.kind === "history") {
      this.addHistory(node);
      return;
    }
    this.nodes.add(node);
    this.addContent(node);
  }

  private addContent(node: StateNode): void {
    if (node.kind === "compound") {
      this.byDefault.add(node);
      this.addAll((node.initial as NonNullable<StateNode["initial"]>).targets, node);
    } else if (node.kind === "parallel") {
      this.addRegions(node);
    }
  }

  private addHistory(node: StateNode): void {
    this.historic = true;
    const parent = node.parent as StateNode;
    const states = remembered(node, this.history);
    if (states !== undefined) {
      this.addAll(states, parent);
      return;
    }
    const fallback = node.initial as NonNullable<StateNode["initial"]>;
    if (fallback.run !== undefined) this.fallbacks.set(parent, fallback.run);
    this.addAll(fallback.targets, parent);
  }

  private addAll(targets: readonly StateNode[], above: StateNode): void {
    for (const target of targets) this.addDescendants(target);
    for (const target of targets) this.addAncestors(target, above);
  }

  private addAncestors(node: StateNode, above: StateNode): void {
    for (
      let up = node.parent as StateNode;
      up !== above && isDescendant(up, above);
      up = up.parent as StateNode
    ) {
      this.nodes.add(up);
      if (up.kind === "parallel") this.addRegions(up);
    }
  }

  private addRegions(parallel: StateNode): void {
    for (const region of parallel.children) {
      let entered = false;
      for (const node of this.nodes) if (isDescendant(node, region)) entered = true;
      if (!entered) this.addDescendants(region);
    }
  }
}

function finishPlan(
  chart: Chart,
  exits: readonly StateNode[],
  transitions: readonly TransitionNode[],
  entering: Entering,
  leavesBefore: readonly StateNode[],
): Plan {
  const nodes = [...entering.nodes].sort((one, other) => one.index - other.index);
  const entries = nodes.map((node) => ({
    node,
    initial: entering.byDefault.has(node) ? node.initial?.run : undefined,
    fallback: entering.fallbacks.get(node),
  }));
  const left = new Set(exits);
  const leaves = [...leavesBefore.filter((leaf) => !left.has(leaf)), ...nodes.filter(isLeaf)];
  leaves.sort((one, other) => one.index - other.index);
  return {
    transitions,
    exits,
    entries,
    next: intern(chart, leaves),
    remembers: [],
    quiet: exits.every(isQuietToLeave) && entries.every(isQuietToEnter),
  };
}

function isQuietToLeave(node: StateNode): boolean {
  return node.exit.length + node.ensure.length + node.delays.length + node.invokes.length === 0;
}

function isQuietToEnter({ node, initial, fallback }: Entry): boolean {
  const content = node.entry.length + node.require.length + node.delays.length + node.invokes.length;
  return content === 0 && node.kind !== "final" && (initial ?? fallback ?? node.declare) === undefined;
}
