/**
 * Plans: what taking a set of transitions leaves and enters. Without history a plan depends on the configuration alone,
 * so it is made once and kept there.
 */
import { limits } from "../limits.ts";
import {
  type Chart,
  type Code,
  type Configuration,
  type Entry,
  isDescendant,
  isLeaf,
  type Plan,
  type StateNode,
  type TransitionNode,
} from "./chart.ts";
import { intern, newConfiguration } from "./configuration.ts";
import { domainOf, effectiveTargets, type History, remembered } from "./history.ts";

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
  const entering = new Entering({}, chart.root);
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
  const entering = new Entering(recalled, chart.root);
  for (const transition of transitions) {
    const domain = domainOf(transition, history);
    if (domain !== undefined) entering.addTransition(transition, domain);
  }
  const plan = finishPlan(chart, exits, transitions, entering, from.leaves);
  return {
    ...plan,
    remembers,
    quiet: plan.quiet && remembers.length === 0,
    historic: entering.historic || transitions.some(({ historic }) => historic),
  };
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
  readonly staying = new Set<StateNode>();
  readonly byDefault = new Set<StateNode>();
  readonly fallbacks = new Map<StateNode, Code>();
  historic = false;
  private readonly history: History;
  /** What the transition at hand leaves. */
  private domain: StateNode;

  constructor(history: History, root: StateNode) {
    this.history = history;
    this.domain = root;
  }

  addTransition(transition: TransitionNode, domain: StateNode): void {
    this.domain = domain;
    const { targets, source } = transition;
    for (const target of targets) this.addDescendants(target);
    for (const target of effectiveTargets(transition, this.history)) {
      // A state that is its own target without being left is not entered again; what is inside it is.
      if (target === source && domain === source) this.staying.add(target);
      this.addAncestors(target, domain);
    }
    // A parallel state that stays lost all its regions; those no target lies in are entered by default.
    if (domain.kind === "parallel") this.addRegions(domain);
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

  /**
   * The states between a target and `above`. A history wants those up to its own parent, which may lie above what is
   * left; the specification's algorithm would enter what is active a second time, and nothing is entered here that was
   * not left.
   */
  private addAncestors(node: StateNode, above: StateNode): void {
    const top = isDescendant(this.domain, above) ? this.domain : above;
    for (let up = node.parent as StateNode; isDescendant(up, top); up = up.parent as StateNode) {
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
    stays: entering.staying.has(node),
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
