/**
 * From a definition to a chart, in two passes: first the states, so that every name can be found; then what they do.
 * All problems are collected, each with the path of its place in the definition; nothing is thrown half-way.
 */
import { limits } from "../limits.ts";
import {
  type ActionCompiler,
  compileBlock,
  compileBlocks,
  compileContracts,
  compileGuard,
  compileWork,
  delayOf,
  jsonOf,
  listOf,
  machineOf,
  textOf,
} from "./actions.ts";
import {
  type Chart,
  type Code,
  type InvokeNode,
  isDescendant,
  type Route,
  type StateKind,
  type StateNode,
  type StepScope,
  type TransitionNode,
  transitionDomain,
} from "./chart.ts";
import type {
  MachineDefinition,
  MachineReference,
  StateDefinition,
  UnhandledPolicy,
  WritePolicy,
} from "./definition.ts";
import { afterType, doneInvokeType, doneStateType, errorInvokeType, unknownInvokeType } from "./event.ts";
import { freezeDeep, type Json, type JsonObject, toJson } from "./json.ts";
import { plainModel } from "./plain-model.ts";
import { descend, resolveTarget } from "./target.ts";

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

type Parts = Readonly<Record<string, unknown>>;

/** Turns a definition into its chart, or into the list of everything that is wrong with it. */
export function compile(definition: MachineDefinition): Compiled {
  const compilation = new Compilation(definition);
  compilation.addStates();
  compilation.connectStates();
  return compilation.result();
}

class Compilation implements ActionCompiler {
  readonly definition: MachineDefinition;
  readonly model;
  readonly guards;
  readonly updates;
  tracksWrites = false;

  private readonly nodes: StateNode[] = [];
  private readonly transitions: TransitionNode[] = [];
  private readonly byPath = new Map<string, StateNode>();
  private readonly byId = new Map<string, StateNode>();
  private readonly sources = new Map<
    StateNode,
    { readonly state: StateDefinition; readonly place: string }
  >();
  private readonly problems: Problem[] = [];
  private readonly unimplemented = new Set<string>();
  private readonly machines: Record<string, MachineReference>;
  private readonly descriptors = new Set<string>();

  constructor(definition: MachineDefinition) {
    this.definition = definition;
    this.model = definition.model ?? plainModel;
    this.guards = definition.guards ?? {};
    this.updates = definition.updates ?? {};
    this.machines = { ...definition.machines };
  }

  problem(path: string, problem: string): void {
    this.problems.push({ path: path || "definition", problem });
  }

  missing(what: string): void {
    this.unimplemented.add(what);
  }

  find(name: string): StateNode | undefined {
    return name.startsWith("#") ? this.byId.get(name.slice(1)) : this.byPath.get(name);
  }

  machineName(machine: unknown): string | undefined {
    if (typeof machine === "string") return machine;
    if (!isReference(machine)) return undefined;
    this.machines[machine.id] = machine;
    return machine.id;
  }

  // Pass one: the states.

  addStates(): void {
    const { id, version, states } = this.definition;
    if (typeof id !== "string" || id === "") this.problem("id", "is missing; a machine needs a name");
    if (version !== undefined && !Number.isSafeInteger(version))
      this.problem("version", "must be a whole number");
    if (states === undefined || Object.keys(states).length === 0)
      this.problem("states", "is empty; a machine needs a state");
    this.addState(this.definition, "", undefined, "");
    this.tracksWrites = this.nodes.some((node) => node.kind === "parallel");
  }

  private addState(state: StateDefinition, key: string, parent: StateNode | undefined, place: string): void {
    const path = parent === undefined ? "" : parent.path === "" ? key : `${parent.path}.${key}`;
    const depth = parent === undefined ? 0 : parent.depth + 1;
    if (parent !== undefined && (key === "" || /[.#]/.test(key) || key === "__proto__")) {
      this.problem(place, "has a bad key: state keys are not empty and have no dot or # in them");
    }
    if (this.nodes.length >= limits.statesMax || depth > limits.stateDepthMax) {
      this.problem(
        place,
        `is too much: a machine has at most ${limits.statesMax} states, ${limits.stateDepthMax} deep`,
      );
      return;
    }
    const node = newNode(this.nodes.length, kindOf(state, parent), { state, key, path, depth, parent });
    this.nodes.push(node);
    this.byPath.set(path, node);
    this.sources.set(node, { state, place });
    if (parent !== undefined) {
      (node.kind === "history" ? parent.histories : parent.children).push(node);
      this.addId(node, state.id, place);
    }
    this.checkKind(node, state, place);
    for (const [childKey, child] of Object.entries(state.states ?? {})) {
      this.addState(child, childKey, node, join(place, "states", childKey));
    }
    node.last = this.nodes.length - 1;
  }

  private addId(node: StateNode, id: unknown, place: string): void {
    if (id === undefined) return;
    if (typeof id !== "string" || id === "") this.problem(join(place, "id"), "must be a name");
    else if (this.byId.has(id)) this.problem(join(place, "id"), `is used twice: ${JSON.stringify(id)}`);
    else this.byId.set(id, node);
  }

  private checkKind(node: StateNode, state: StateDefinition, place: string): void {
    const { type } = state;
    if (type !== undefined && type !== "parallel" && type !== "final" && type !== "history") {
      this.problem(
        join(place, "type"),
        `is ${JSON.stringify(type)}; write parallel, final or history, or leave it out`,
      );
    }
    if (isLeafKind(node.kind) && state.states !== undefined && Object.keys(state.states).length > 0) {
      this.problem(join(place, "states"), `cannot be inside a ${node.kind} state`);
    }
    const inert = node.kind === "final" || node.kind === "history";
    if (inert && (state.on ?? state.always ?? state.after ?? state.invoke ?? state.onDone) !== undefined) {
      this.problem(place, `is a ${node.kind} state and cannot have transitions or invocations`);
    }
    if (node.parent?.kind === "parallel" && node.kind === "final") {
      this.problem(place, "is final, and a parallel state has regions only: put it inside a region");
    }
  }

  // Pass two: what they do.

  connectStates(): void {
    for (const node of this.nodes) {
      const { state, place } = this.sources.get(node) as { state: StateDefinition; place: string };
      this.connectRoute(node, state, place);
      this.connectHandlers(node, state, place);
      this.connectInvokes(node, state, place);
      this.connectDelays(node, state, place);
      this.connectContent(node, state, place);
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
      typeof initial === "object" && !Array.isArray(initial) ? initial : { target: initial }
    ) as Parts;
    const names = listOf(parts.target) as string[];
    const fallback = node.children[0];
    if (names.length === 0) {
      const known = node.children.map((child) => child.key).join(", ");
      this.problem(place, `is missing; name one of ${known}`);
      return { targets: fallback === undefined ? [] : [fallback], run: undefined };
    }
    const targets = names.flatMap((name) => {
      const found = name.startsWith("#")
        ? resolveTarget(name, node, this.byId)
        : descend(node, name.replace(/^\./, ""));
      if (found !== undefined && isDescendant(found, node)) return [found];
      const known = node.children.map((child) => child.key).join(", ");
      this.problem(place, `names no state inside: ${JSON.stringify(name)}; there are ${known}`);
      return [];
    });
    return { targets, run: compileWork(this, node, parts, place) };
  }

  private connectHandlers(node: StateNode, state: StateDefinition, place: string): void {
    const { on } = state;
    if (Array.isArray(on)) {
      on.forEach((handler: Parts, index) => {
        const events = listOf(handler.event).flatMap((event) => String(event).trim().split(/\s+/));
        this.addTransitions(node, events, handler, `${join(place, "on")}[${index}]`);
      });
    } else {
      const entries = Object.entries(on ?? {}).sort(
        ([one], [other]) => specificity(other) - specificity(one),
      );
      for (const [event, handlers] of entries)
        this.addTransitions(node, [event], handlers, join(place, "on", event));
    }
    if (state.onDone !== undefined) {
      this.addTransitions(node, [doneStateType(node.name)], state.onDone, join(place, "onDone"));
    }
    this.addTransitions(node, [], state.always, join(place, "always"));
  }

  private addTransitions(
    node: StateNode,
    descriptors: readonly string[],
    given: unknown,
    place: string,
  ): void {
    const list = listOf(given);
    list.forEach((one, index) => {
      const at = list.length > 1 ? `${place}[${index}]` : place;
      const parts = (typeof one === "string" ? { target: one } : (one ?? {})) as Parts;
      const transition = this.transition(node, descriptors, parts, at);
      this.transitions.push(transition);
      (descriptors.length === 0 ? node.eventless : node.transitions).push(transition);
    });
    for (const descriptor of descriptors) this.descriptors.add(descriptor);
  }

  private transition(
    node: StateNode,
    descriptors: readonly string[],
    parts: Parts,
    place: string,
  ): TransitionNode {
    const named = this.resolve(node, parts.target, join(place, "target"));
    const historic = named.some((target) => target.kind === "history");
    const domain = historic ? undefined : transitionDomain(node, named, parts.reenter === true);
    // An atomic state that targets itself without re-entering just stays: there is nothing to leave or enter.
    const targets = historic || domain !== undefined ? named : [];
    return {
      index: this.transitions.length,
      source: node,
      descriptors,
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
    return listOf(target).flatMap((name) => {
      const found = typeof name === "string" ? resolveTarget(name, source, this.byId) : undefined;
      if (found !== undefined) return [found];
      const siblings = (source.parent ?? source).children.map((child) => child.key).join(", ");
      this.problem(
        place,
        `names no state: ${JSON.stringify(name)}; from here there are ${siblings}, .child and #id`,
      );
      return [];
    });
  }

  private connectInvokes(node: StateNode, state: StateDefinition, place: string): void {
    const list = listOf(state.invoke) as readonly Parts[];
    list.forEach((parts, index) => {
      const at = list.length > 1 ? `${join(place, "invoke")}[${index}]` : join(place, "invoke");
      const fallback = list.length > 1 ? `${node.path}:${index}` : node.path;
      const id = parts.id ?? fallback;
      node.invokes.push(this.invoke(node, parts, id, at));
      const settled: [string, (id: string) => string][] = [
        ["onDone", doneInvokeType],
        ["onError", errorInvokeType],
        ["onUnknown", unknownInvokeType],
      ];
      for (const [key, typeOf] of settled) {
        if (parts[key] === undefined) continue;
        if (typeof id === "string") this.addTransitions(node, [typeOf(id)], parts[key], join(at, key));
        else this.problem(join(at, key), "needs an invocation whose id is a constant");
      }
    });
  }

  private invoke(node: StateNode, parts: Parts, id: unknown, place: string): InvokeNode {
    const activity = parts.activity !== undefined;
    if (activity === (parts.machine !== undefined))
      this.problem(place, "needs either an activity or a machine");
    const options: Record<string, Json> = {};
    for (const key of ["retry", "timeout", "once"])
      if (parts[key] !== undefined) options[key] = toJson(parts[key], [], key);
    return {
      kind: activity ? "activity" : "machine",
      id: textOf(this, id, join(place, "id")),
      source: activity
        ? textOf(this, parts.activity, join(place, "activity"))
        : machineOf(this, parts.machine, join(place, "machine")),
      input: jsonOf(this, parts.input, join(place, "input")),
      options: freezeDeep(options),
      autoforward: parts.autoforward === true,
      finalize: compileBlock(this, node, parts.finalize, join(place, "finalize")),
      storeId:
        parts.idLocation === undefined
          ? undefined
          : this.model.location(parts.idLocation as JsonObject, join(place, "idLocation")),
    };
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
      node.delays.push({ type, ms: delayOf(this, delay, at) });
      this.addTransitions(node, [type], transitions, at);
    });
  }

  private connectContent(node: StateNode, state: StateDefinition, place: string): void {
    node.entry = compileBlocks(this, node, state.entry, join(place, "entry"));
    node.exit = compileBlocks(this, node, state.exit, join(place, "exit"));
    node.invariants = compileContracts(this, state.invariants, join(place, "invariants"));
    node.require = compileContracts(this, state.require, join(place, "require"));
    node.ensure = compileContracts(this, state.ensure, join(place, "ensure"));
    node.writes = this.writePolicy(state.writes, join(place, "writes"));
    if (state.defer !== undefined) {
      node.defer = state.defer;
      for (const descriptor of state.defer) this.descriptors.add(descriptor);
    }
    if (state.output !== undefined) node.output = jsonOf(this, state.output, join(place, "output"));
    if (state.data !== undefined) node.declare = this.model.declare(state.data, join(place, "data")) as Code;
  }

  private writePolicy(writes: unknown, place: string): (path: string) => WritePolicy {
    const policies = (typeof writes === "object" ? writes : { "": writes ?? "reject" }) as Record<
      string,
      WritePolicy
    >;
    for (const policy of Object.values(policies)) {
      if (policy !== "reject" && policy !== "last" && policy !== "first") {
        this.problem(place, `has the policy ${JSON.stringify(policy)}; write reject, last or first`);
      }
    }
    const prefixes = Object.entries(policies).sort(([one], [other]) => other.length - one.length);
    return (path) =>
      prefixes.find(([prefix]) => prefix === "" || path === prefix || path.startsWith(`${prefix}.`))?.[1] ??
      "reject";
  }

  result(): Compiled {
    const { definition } = this;
    for (const event of Object.keys(definition.events ?? {})) this.descriptors.add(event);
    const chart: Chart = {
      id: definition.id,
      version: definition.version ?? 1,
      root: this.nodes[0] as StateNode,
      nodes: this.nodes,
      transitions: this.transitions,
      byPath: this.byPath,
      byId: this.byId,
      matching: definition.matching ?? "exact",
      model: this.model,
      start: this.model.start(definition.start, "start") as (
        scope: StepScope,
        input: Json | undefined,
      ) => JsonObject,
      unhandled: this.unhandledPolicy(),
      descriptors: [...this.descriptors].filter((descriptor) => descriptor !== "*"),
      priorities: Object.entries(definition.priorities ?? {}).sort(
        ([one], [other]) => specificity(other) - specificity(one),
      ),
    };
    return { chart, problems: this.problems, missing: [...this.unimplemented], machines: this.machines };
  }

  private unhandledPolicy(): { known: UnhandledPolicy; unknown: UnhandledPolicy } {
    const { unhandled } = this.definition;
    const policy =
      typeof unhandled === "string"
        ? { known: unhandled, unknown: unhandled }
        : { known: unhandled?.known ?? "ignore", unknown: unhandled?.unknown ?? "reject" };
    for (const [key, value] of Object.entries(policy)) {
      if (value !== "ignore" && value !== "defer" && value !== "reject") {
        this.problem(`unhandled.${key}`, `is ${JSON.stringify(value)}; write ignore, defer or reject`);
      }
    }
    return policy;
  }
}

interface NodeParts {
  readonly state: StateDefinition;
  readonly key: string;
  readonly path: string;
  readonly depth: number;
  readonly parent: StateNode | undefined;
}

function newNode(index: number, kind: StateKind, { state, key, path, depth, parent }: NodeParts): StateNode {
  return {
    index,
    kind,
    key,
    path,
    name: parent === undefined ? path : (state.id ?? path),
    depth,
    parent,
    children: [],
    histories: [],
    last: index,
    initial: undefined,
    deep: state.history === "deep",
    transitions: [],
    eventless: [],
    entry: [],
    exit: [],
    declare: undefined,
    delays: [],
    invokes: [],
    output: undefined,
    defer: [],
    invariants: [],
    require: [],
    ensure: [],
    writes: () => "reject",
    tags: state.tags ?? [],
  };
}

function kindOf(state: StateDefinition, parent: StateNode | undefined): StateKind {
  if (state.type === "parallel" || state.type === "final" || state.type === "history") return state.type;
  return parent === undefined || Object.keys(state.states ?? {}).length > 0 ? "compound" : "atomic";
}

function isLeafKind(kind: StateKind): boolean {
  return kind === "final" || kind === "history";
}

/** Exact keys before prefixes, longer prefixes before shorter ones, `*` last. */
function specificity(descriptor: string): number {
  if (descriptor === "*") return 0;
  return descriptor.endsWith(".*") ? descriptor.length : Number.MAX_SAFE_INTEGER;
}

function isReference(value: unknown): value is MachineReference {
  return typeof value === "object" && value !== null && "chart" in value;
}

function join(...parts: string[]): string {
  return parts.filter((part) => part !== "").join(".");
}
