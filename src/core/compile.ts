/**
 * From a definition to a chart, in two passes: first the states (`tree.ts`), so that every name can be found; then what
 * they do. All problems are collected, each with the path of its place; nothing is thrown half-way.
 */
import { compileBlocks, compileWork } from "./actions.ts";
import {
  areOrthogonal,
  type Chart,
  type Code,
  isDescendant,
  type Route,
  type StateNode,
  type TransitionNode,
  transitionDomain,
} from "./chart.ts";
import { type Compiler, listOf, type Parts } from "./compiler.ts";
import type { MachineDefinition, MachineReference, StateDefinition } from "./definition.ts";
import {
  afterType,
  doneInvokeType,
  doneStateType,
  errorInvokeType,
  type Matching,
  unknownInvokeType,
} from "./event.ts";
import { compileContracts, compileGuard } from "./guard.ts";
import { leadsBack } from "./history.ts";
import { compileInvoke } from "./invoke.ts";
import { showValue } from "./json.ts";
import { plainModel } from "./plain-model.ts";
import {
  checkCheckpoint,
  checkLimits,
  prioritiesOf,
  resumePolicy,
  sharedResumePolicy,
  sortBySpecificity,
  unhandledPolicy,
  writePolicy,
} from "./policy.ts";
import { isSchema, schemasOf } from "./schema.ts";
import { descend, resolveTarget } from "./target.ts";
import { join, Tree } from "./tree.ts";
import { delayOf, jsonOf } from "./value.ts";

export interface Problem {
  readonly path: string;
  readonly problem: string;
}

export interface Compiled {
  readonly chart: Chart;
  readonly problems: readonly Problem[];
  /** Named guards and updates the definition uses and does not have. */
  readonly missing: readonly string[];
  readonly machines: Readonly<Record<string, MachineReference>>;
}

/** Turns a definition into its chart, or into the list of everything that is wrong with it. */
export function compile(definition: MachineDefinition): Compiled {
  const compilation = new Compilation(definition);
  compilation.connectStates();
  return compilation.result();
}

class Compilation implements Compiler {
  readonly definition: MachineDefinition;
  readonly model;
  readonly guards;
  readonly updates;
  readonly tracksWrites: boolean;
  private readonly matching: Matching;

  private readonly tree: Tree;
  private transitionCount = 0;
  private readonly problems: Problem[] = [];
  private readonly unimplemented = new Set<string>();
  private readonly machines: Record<string, MachineReference>;
  private readonly descriptors = new Set<string>();
  /** The states that invoke something, by the id of the invocation. */
  private readonly invokers = new Map<unknown, StateNode[]>();

  constructor(definition: MachineDefinition) {
    this.definition = definition;
    this.model = definition.model ?? plainModel;
    this.guards = definition.guards ?? {};
    this.updates = definition.updates ?? {};
    this.matching = definition.matching ?? "exact";
    this.machines = { ...definition.machines };
    const { id, version } = definition;
    if (typeof id !== "string" || id === "") this.problem("id", "is missing; a machine needs a name");
    if (this.matching !== "exact" && this.matching !== "scxml")
      this.problem("matching", `is ${showValue(this.matching)}; write exact or scxml`);
    if (version !== undefined && !Number.isSafeInteger(version))
      this.problem("version", "must be a whole number");
    checkLimits(definition.limits, this);
    checkCheckpoint(definition.checkpoint, this);
    this.tree = new Tree(definition, (path, problem) => this.problem(path, problem));
    this.tracksWrites = this.tree.nodes.some((node) => node.kind === "parallel");
  }

  problem(path: string, problem: string): void {
    this.problems.push({ path: path || "definition", problem });
  }

  missing(what: string): void {
    this.unimplemented.add(what);
  }

  find(name: string): StateNode | undefined {
    return this.tree.find(name);
  }

  machineName(machine: unknown): string | undefined {
    if (typeof machine === "string") return machine;
    if (!isReference(machine)) return undefined;
    this.machines[machine.id] = machine;
    return machine.id;
  }

  connectStates(): void {
    for (const [node, { state, place }] of this.tree.sources) {
      // Each on its own, so that what is malformed in one does not hide the problems of the others.
      this.attempt(place, () => this.connectRoute(node, state, place));
      this.attempt(place, () => this.connectHandlers(node, state, place));
      this.attempt(place, () => this.connectInvokes(node, state, place));
      this.attempt(place, () => this.connectDelays(node, state, place));
      this.attempt(place, () => this.connectContent(node, state, place));
      if (!Array.isArray(state.on)) sortBySpecificity(node.transitions);
    }
    for (const [node, { place }] of this.tree.sources) {
      if (leadsBack(node))
        this.problem(join(place, "target"), "leads back to itself; a default needs a state");
    }
  }

  /** Definitions may come from anywhere: whatever cannot even be read is a problem like any other. */
  private attempt(place: string, connect: () => void): void {
    try {
      connect();
    } catch (error) {
      this.problem(place, `cannot be read: ${(error as Error).message}`);
    }
  }

  private connectRoute(node: StateNode, state: StateDefinition, place: string): void {
    if (node.kind === "compound") {
      node.initial = this.initialRoute(node, state.initial, join(place, "initial"));
    } else if (node.kind === "history") {
      const targets = this.resolve(node, state.target, join(place, "target"));
      if (targets.length === 0)
        this.problem(join(place, "target"), "is missing; a history state needs a default");
      for (const target of targets) {
        if (!isDescendant(target, node.parent as StateNode)) {
          this.problem(join(place, "target"), `must lie inside ${JSON.stringify(node.parent?.path)}`);
        }
      }
      node.initial = { targets, run: compileWork(this, node.parent as StateNode, state as Parts, place) };
    } else if (state.initial !== undefined) {
      this.problem(join(place, "initial"), `cannot be on a ${node.kind} state`);
    }
  }

  private initialRoute(node: StateNode, initial: unknown, place: string): Route {
    const parts = (
      typeof initial === "object" && initial !== null && !Array.isArray(initial)
        ? initial
        : { target: initial }
    ) as Parts;
    const names = listOf(parts.target) as string[];
    const fallback = node.children[0];
    if (names.length === 0) {
      const known = node.children.map((child) => child.key).join(", ");
      this.problem(place, `is missing; name one of ${known}`);
      return { targets: fallback === undefined ? [] : [fallback], run: undefined };
    }
    const targets = names.flatMap((name) => {
      const found = String(name).startsWith("#")
        ? resolveTarget(name, node, this.tree.byId)
        : descend(node, String(name).replace(/^\./, ""));
      if (found !== undefined && isDescendant(found, node)) return [found];
      const known = node.children.map((child) => child.key).join(", ");
      this.problem(place, `names no state inside: ${JSON.stringify(name)}; there are ${known}`);
      return [];
    });
    this.checkTogether(targets, place);
    return { targets, run: compileWork(this, node, parts, place) };
  }

  private connectHandlers(node: StateNode, state: StateDefinition, place: string): void {
    const { on } = state;
    if (Array.isArray(on)) {
      on.forEach((handler: Parts, index) => {
        const at = `${join(place, "on")}[${index}]`;
        const events = listOf(handler.event).flatMap((event) => String(event).trim().split(/\s+/));
        if (events.length === 0) this.problem(at, "needs an event; without one, write it under `always`");
        this.addTransitions(node, events, handler, at);
      });
    } else {
      for (const [event, handlers] of Object.entries(on ?? {}))
        this.addTransitions(node, [event], handlers, join(place, "on", event));
    }
    if (state.onDone !== undefined) {
      if (node.parent === undefined)
        this.problem("onDone", "never happens: a machine that is done takes no more events");
      this.addPlatformTransitions(node, doneStateType(node.name), state.onDone, join(place, "onDone"));
    }
    this.addTransitions(node, [], state.always, join(place, "always"));
  }

  /** Handlers of what the platform announces: they mean that one event, and only when the platform made it. */
  private addPlatformTransitions(
    node: StateNode,
    type: string,
    given: unknown,
    place: string,
    timed = false,
  ): void {
    this.addTransitions(node, [type], given, place, { platform: true, timed });
  }

  private addTransitions(
    node: StateNode,
    descriptors: readonly string[],
    given: unknown,
    place: string,
    { platform, timed } = { platform: false, timed: false },
  ): void {
    const list = listOf(given);
    list.forEach((one, index) => {
      const at = list.length > 1 ? `${place}[${index}]` : place;
      const parts = (typeof one === "string" ? { target: one } : (one ?? {})) as Parts;
      if (!timed) resumePolicy(parts.resume, join(at, "resume"), false, this);
      const transition = this.transition(node, { descriptors, platform }, parts, at);
      (descriptors.length === 0 ? node.eventless : node.transitions).push(transition);
    });
    for (const descriptor of descriptors) this.descriptors.add(descriptor);
  }

  private transition(
    node: StateNode,
    listens: Pick<TransitionNode, "descriptors" | "platform">,
    parts: Parts,
    place: string,
  ): TransitionNode {
    const named = this.resolve(node, parts.target, join(place, "target"));
    const historic = named.some((target) => target.kind === "history");
    const domain = historic ? undefined : transitionDomain(node, named, parts.reenter === true);
    // An atomic state that targets itself without re-entering just stays: there is nothing to leave or enter.
    const targets = historic || domain !== undefined ? named : [];
    return {
      index: this.transitionCount++,
      source: node,
      ...listens,
      targets,
      reenter: parts.reenter === true,
      historic,
      domain,
      guard: compileGuard(this, parts.guard, join(place, "guard")),
      run: compileWork(this, node, parts, place),
      require: compileContracts(this, parts.require, join(place, "require")),
      ensure: compileContracts(this, parts.ensure, join(place, "ensure")),
    };
  }

  private resolve(source: StateNode, target: unknown, place: string): StateNode[] {
    const targets = listOf(target).flatMap((name) => {
      const found = typeof name === "string" ? resolveTarget(name, source, this.tree.byId) : undefined;
      if (found !== undefined) return [found];
      const siblings = (source.parent ?? source).children.map((child) => child.key).join(", ");
      this.problem(
        place,
        `names no state: ${JSON.stringify(name)}; from here there are ${siblings}, .child and #id`,
      );
      return [];
    });
    this.checkTogether(targets, place);
    return targets;
  }

  /** Several targets must be able to be active together: each pair in different regions of one parallel state. */
  private checkTogether(targets: readonly StateNode[], place: string): void {
    targets.forEach((later, index) => {
      for (const earlier of targets.slice(0, index)) {
        if (!areOrthogonal(earlier, later)) {
          const pair = `${JSON.stringify(earlier.path)} and ${JSON.stringify(later.path)}`;
          this.problem(place, `cannot lead to ${pair} at once`);
        }
      }
    });
  }

  private connectInvokes(node: StateNode, state: StateDefinition, place: string): void {
    const list = listOf(state.invoke) as readonly Parts[];
    list.forEach((parts, index) => {
      const at = list.length > 1 ? `${join(place, "invoke")}[${index}]` : join(place, "invoke");
      const fallback = list.length > 1 ? `${node.path}:${index}` : node.path;
      const id = parts.id ?? fallback;
      this.checkInvokeId(node, id, at);
      node.invokes.push(compileInvoke(this, node, parts, id, at));
      const settled: [string, (id: string) => string][] = [
        ["onDone", doneInvokeType],
        ["onError", errorInvokeType],
        ["onUnknown", unknownInvokeType],
      ];
      for (const [key, typeOf] of settled) {
        if (parts[key] === undefined) continue;
        if (typeof id === "string") this.addPlatformTransitions(node, typeOf(id), parts[key], join(at, key));
        else this.problem(join(at, key), "needs an invocation whose id is a constant");
      }
    });
  }

  /** Two invocations that can be under way together need names of their own: each hears of its end by its name. */
  private checkInvokeId(node: StateNode, id: unknown, place: string): void {
    const others = this.invokers.get(id) ?? [];
    const together = (other: StateNode) =>
      other === node || isDescendant(node, other) || isDescendant(other, node) || areOrthogonal(other, node);
    if (typeof id === "string" && others.some(together)) {
      this.problem(join(place, "id"), `is used twice at once: ${JSON.stringify(id)}`);
    }
    this.invokers.set(id, [...others, node]);
  }

  private connectDelays(node: StateNode, state: StateDefinition, place: string): void {
    const { after } = state;
    const list = Array.isArray(after)
      ? after.map((one: Parts) => [one.delay, one] as const)
      : Object.entries((after ?? {}) as Parts);
    list.forEach(([delay, transitions], index) => {
      const at = Array.isArray(after)
        ? `${join(place, "after")}[${index}]`
        : join(place, "after", String(delay));
      const type = afterType(node.path, index);
      const resume = sharedResumePolicy(listOf(transitions), join(at, "resume"), this);
      node.delays.push({ type, ms: delayOf(this, delay, at), resume });
      this.addPlatformTransitions(node, type, transitions, at, true);
    });
  }

  private connectContent(node: StateNode, state: StateDefinition, place: string): void {
    node.entry = compileBlocks(this, node, state.entry, join(place, "entry"));
    node.exit = compileBlocks(this, node, state.exit, join(place, "exit"));
    node.invariants = compileContracts(this, state.invariants, join(place, "invariants"));
    node.require = compileContracts(this, state.require, join(place, "require"));
    node.ensure = compileContracts(this, state.ensure, join(place, "ensure"));
    node.writes = writePolicy(state.writes, join(place, "writes"), this);
    node.defer = listOf(state.defer) as readonly string[];
    for (const descriptor of node.defer) this.descriptors.add(descriptor);
    // The machine itself may have a schema in its place, of what its final states give.
    if (state.output !== undefined && !isSchema(state.output))
      node.output = jsonOf(this, state.output, join(place, "output"));
    if (state.data !== undefined) node.declare = this.model.declare(state.data, join(place, "data")) as Code;
  }

  result(): Compiled {
    const { definition } = this;
    for (const event of Object.keys(definition.events ?? {})) this.descriptors.add(event);
    const chart: Chart = {
      id: definition.id,
      version: definition.version ?? 1,
      root: this.tree.nodes[0] as StateNode,
      nodes: this.tree.nodes,
      byPath: this.tree.byPath,
      byId: this.tree.byId,
      matching: this.matching,
      model: this.model,
      start: this.startOf(definition.start),
      unhandled: unhandledPolicy(definition.unhandled, this),
      schemas: schemasOf(definition, this),
      descriptors: [...this.descriptors].filter((descriptor) => descriptor !== "*"),
      priorities: prioritiesOf(definition.priorities, this),
      compensates: this.tree.nodes.some(({ invokes }) => invokes.some(({ compensate }) => compensate)),
      cache: { byPaths: new WeakMap(), byKey: new Map() },
    };
    return { chart, problems: this.problems, missing: [...this.unimplemented], machines: this.machines };
  }

  private startOf(source: unknown): Chart["start"] {
    try {
      return this.model.start(source, "start");
    } catch (error) {
      this.problem("start", `cannot be used: ${(error as Error).message}`);
      return () => ({});
    }
  }
}

function isReference(value: unknown): value is MachineReference {
  return typeof value === "object" && value !== null && "chart" in value;
}
