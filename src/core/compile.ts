/**
 * From a definition to a chart: it is taken in as a plain copy, its shorthand is expanded, and then two passes follow:
 * first the states (`tree.ts`), so that every name can be found; then what they do. All problems are collected, each with
 * the path of its place; nothing is thrown half-way, and nothing of the definition is run.
 */
import { compileBlocks, compileUpdates, compileWork } from "./actions.ts";
import {
  type Chart,
  type Code,
  isDescendant,
  type Route,
  type StateNode,
  type TransitionNode,
  transitionDomain,
} from "./chart.ts";
import { type Compiler, listOf, type Parts } from "./compiler.ts";
import type { DataModel } from "./data-model.ts";
import type { MachineDefinition, MachineReference } from "./definition.ts";
import {
  afterType,
  doneInvokeType,
  doneStateType,
  errorInvokeType,
  isMapType,
  type Matching,
  unknownInvokeType,
} from "./event.ts";
import { compileContracts, compileGuard, compileGuards } from "./guard.ts";
import { leadsBack } from "./history.ts";
import { isSchemaLike, takeIn } from "./intake.ts";
import { compileInvoke } from "./invoke.ts";
import { InvokeIds } from "./invoke-ids.ts";
import { isObject, type JsonObject } from "./json.ts";
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
import { type Fix, inside, itemsAt, type Problem, Problems, show, someOf } from "./problem.ts";
import { modelOf, reportingModel } from "./reporting-model.ts";
import { schemasOf } from "./schema.ts";
import { checkText, entriesAt, flagAt, isName, partsAt, type Shape } from "./shape.ts";
import { expandShorthand } from "./shorthand/expand.ts";
import { initialsOf, isGiven, targetsOf } from "./target.ts";
import { describe, Tree } from "./tree.ts";
import { delayOf, jsonOf } from "./value.ts";
import { Vocabulary } from "./vocabulary.ts";

export interface Compiled {
  /** What was compiled: a copy of what was given, with its shorthand expanded. */
  readonly definition: MachineDefinition;
  readonly chart: Chart;
  /** Named guards and updates the definition uses and does not have. */
  readonly missing: readonly string[];
  readonly machines: Readonly<Record<string, MachineReference>>;
}

export interface CompileOptions {
  /** Whether a definition that has some guards, updates or machines may get others later. */
  readonly open?: boolean;
}

export type Compilation =
  | { readonly problems: readonly Problem[]; readonly id: unknown; readonly compiled: undefined }
  | { readonly problems: readonly []; readonly id: unknown; readonly compiled: Compiled };

/** Turns a definition into its chart, or into the list of everything that is wrong with it. Never throws. */
export function compile(given: unknown, { open = false }: CompileOptions = {}): Compilation {
  const problems = new Problems();
  const taken = takeIn(given, problems);
  if (taken === undefined) return { problems: problems.list, id: undefined, compiled: undefined };
  const definition = expandShorthand(taken, problems);
  const connection = new Connection(definition, problems, open);
  connection.connect();
  const compiled = connection.result();
  const { list } = problems;
  const { id } = definition;
  return list.length > 0 ? { problems: list, id, compiled: undefined } : { problems: [], id, compiled };
}

class Connection implements Compiler {
  readonly definition: Parts;
  readonly model: DataModel;
  readonly vocabulary: Vocabulary;
  readonly nearest;
  readonly tracksWrites: boolean;
  readonly #model: DataModel;
  readonly #problems: Problems;
  readonly #matching: Matching;
  readonly #tree: Tree;
  readonly #invokeIds = new InvokeIds();
  #transitionCount = 0;

  constructor(definition: Parts, problems: Problems, open: boolean) {
    this.definition = definition;
    this.#problems = problems;
    this.nearest = problems.nearest;
    this.#model = modelOf(definition.model, problems);
    this.model = reportingModel(this.#model, problems);
    this.#matching = (definition.matching ?? "exact") as Matching;
    const { id, version } = definition;
    if (!isName(id)) this.problem("id", "is missing", "a machine needs a name");
    if (this.#matching !== "exact" && this.#matching !== "scxml")
      this.problem("matching", `is ${show(this.#matching)}`, "write exact or scxml");
    if (version !== undefined && !Number.isSafeInteger(version))
      this.problem("version", "must be a whole number");
    checkLimits(definition.limits, this);
    checkCheckpoint(definition.checkpoint, this);
    this.vocabulary = new Vocabulary(this, definition, open);
    this.#tree = new Tree(definition, this);
    this.tracksWrites = this.#tree.nodes.some((node) => node.kind === "parallel");
  }

  problem(path: string, problem: string, fix?: Fix): void {
    this.#problems.problem(path, problem, fix);
  }

  find(name: string): StateNode | undefined {
    return this.#tree.find(name);
  }

  paths(): Iterable<string> {
    return this.#tree.byPath.keys();
  }

  connect(): void {
    if (this.#tree.isFull) return;
    compileGuards(this);
    compileUpdates(this);
    for (const [node, { state, place }] of this.#tree.sources) {
      this.#connectRoute(node, state, place);
      this.#connectHandlers(node, state, place);
      this.#connectInvokes(node, state, place);
      this.#connectDelays(node, state, place);
      this.#connectContent(node, state, place);
      if (!Array.isArray(state.on)) sortBySpecificity(node.transitions);
    }
    for (const [node, { place }] of this.#tree.sources) {
      if (leadsBack(node))
        this.problem(inside(place, "target"), "leads back to itself", "a default needs a state");
    }
    if (this.#matching === "exact") this.vocabulary.checkEvents();
  }

  #connectRoute(node: StateNode, state: Parts, place: string): void {
    const at = inside(place, "initial");
    if (node.kind === "compound") {
      node.initial = this.#initialRoute(node, state.initial, at);
    } else if (node.kind === "history") {
      node.initial = this.#defaultRoute(node, state, place);
    } else if (state.initial !== undefined) {
      this.problem(
        at,
        `cannot be on ${describe(node)}`,
        "it is for states with states inside, and not parallel",
      );
    }
  }

  #defaultRoute(node: StateNode, state: Parts, place: string): Route {
    const parent = node.parent as StateNode;
    const at = inside(place, "target");
    const targets = targetsOf(this, this.#tree, node, state.target, at);
    if (!isGiven(state.target)) this.problem(at, "is missing", "a history state needs a default");
    for (const target of targets) {
      if (!isDescendant(target, parent)) this.problem(at, `must lie inside ${show(parent.path)}`);
    }
    return { targets, run: compileWork(this, parent, state, place) };
  }

  #initialRoute(node: StateNode, initial: unknown, place: string): Route {
    const parts = isObject(initial) ? partsAt(this, initial, "initial", place) : { target: initial };
    if (isGiven(parts.target)) {
      const at = isObject(initial) ? inside(place, "target") : place;
      const targets = initialsOf(this, this.#tree, node, parts.target, at);
      return { targets, run: compileWork(this, node, parts, place) };
    }
    const known = node.children.map(({ key }) => key);
    if (known.length > 0) this.problem(place, "is missing", `name one of ${someOf(known)}`);
    return { targets: [], run: undefined };
  }

  #connectHandlers(node: StateNode, state: Parts, place: string): void {
    const { on, onDone } = state;
    const at = inside(place, "on");
    if (Array.isArray(on)) {
      for (const [handler, here] of itemsAt(on, at)) this.#connectListed(node, handler, here);
    } else {
      for (const [event, handlers] of entriesAt(this, on, at)) {
        const here = inside(at, event);
        if (event === "") this.problem(here, "needs an event", "without one, write it under `always`");
        this.vocabulary.hear([event], here);
        this.#addTransitions(node, [event], handlers, here, { platform: isMapType(event) });
      }
    }
    if (onDone !== undefined) {
      const here = inside(place, "onDone");
      if (node.parent === undefined)
        this.problem(here, "never happens: a machine that is done takes no more events");
      if (node.kind === "atomic")
        this.problem(here, "never happens: there is no state inside that could be done");
      this.#addTransitions(node, [doneStateType(node.name)], onDone, here, { platform: true });
    }
    this.#addTransitions(node, [], state.always, inside(place, "always"));
  }

  /** A handler in a list says itself which events it is for. */
  #connectListed(node: StateNode, handler: unknown, place: string): void {
    const { event } = isObject(handler) ? (handler as Parts) : {};
    const given = listOf(event);
    const wrong = given.find((one) => typeof one !== "string");
    if (wrong !== undefined)
      this.problem(inside(place, "event"), `is ${show(wrong)}`, "write a name, or a list of names");
    const events = given
      .flatMap((one) => (typeof one === "string" ? one.trim().split(/\s+/) : []))
      .filter(isName);
    if (isObject(handler) && events.length === 0 && wrong === undefined)
      this.problem(place, "needs an event", "without one, write it under `always`");
    this.vocabulary.hear(events, inside(place, "event"));
    this.#addTransitions(node, events.length === 0 ? [""] : events, handler, place, { shape: "handler" });
  }

  #addTransitions(
    node: StateNode,
    descriptors: readonly string[],
    given: unknown,
    place: string,
    { platform = false, timed = false, shape = "transition" as Shape } = {},
  ): void {
    for (const [one, at] of itemsAt(given, place)) {
      const named = typeof one === "string";
      const parts = named ? { target: one } : partsAt(this, one, shape, at);
      if (!timed) resumePolicy(parts.resume, inside(at, "resume"), false, this);
      const targets = targetsOf(this, this.#tree, node, parts.target, named ? at : inside(at, "target"));
      const transition = this.#transition(node, { descriptors, platform, targets }, parts, at);
      (descriptors.length === 0 ? node.eventless : node.transitions).push(transition);
    }
    for (const descriptor of descriptors) this.vocabulary.descriptors.add(descriptor);
  }

  #transition(
    node: StateNode,
    { targets: named, ...listens }: Pick<TransitionNode, "descriptors" | "platform" | "targets">,
    parts: Parts,
    place: string,
  ): TransitionNode {
    const reenter = flagAt(this, parts.reenter, inside(place, "reenter"));
    checkText(this, parts.description, inside(place, "description"));
    const historic = named.some((target) => target.kind === "history");
    const domain = historic ? undefined : transitionDomain(node, named, reenter);
    // An atomic state that targets itself without re-entering just stays: there is nothing to leave or enter.
    const targets = historic || domain !== undefined ? named : [];
    return {
      index: this.#transitionCount++,
      source: node,
      ...listens,
      targets,
      reenter,
      historic,
      domain,
      guard: compileGuard(this, parts.guard, inside(place, "guard")),
      run: compileWork(this, node, parts, place),
      require: compileContracts(this, parts.require, inside(place, "require")),
      ensure: compileContracts(this, parts.ensure, inside(place, "ensure")),
    };
  }

  #connectInvokes(node: StateNode, { invoke }: Parts, place: string): void {
    const list = itemsAt(invoke, inside(place, "invoke"));
    list.forEach(([given, at], index) => {
      const parts = partsAt(this, given, "invocation", at);
      if (!isObject(given)) return;
      const id = parts.id ?? (list.length > 1 ? `${node.path}:${index}` : node.path);
      if (typeof id === "string" && !this.#invokeIds.add(node, id))
        this.problem(inside(at, "id"), `is used twice at once: ${show(id)}`);
      node.invokes.push(compileInvoke(this, node, parts, id, at));
      for (const [key, typeOf] of settledTypes) {
        if (parts[key] === undefined) continue;
        const here = inside(at, key);
        if (typeof id !== "string") this.problem(here, "needs an invocation whose id is a constant");
        else this.#addTransitions(node, [typeOf(id)], parts[key], here, { platform: true });
      }
    });
  }

  #connectDelays(node: StateNode, { after }: Parts, place: string): void {
    const at = inside(place, "after");
    const listed = Array.isArray(after);
    const list = listed
      ? itemsAt(after, at).map(([one, here]) => [isObject(one) ? one.delay : 0, one, here] as const)
      : entriesAt(this, after, at).map(([delay, given]) => [delay, given, inside(at, delay)] as const);
    list.forEach(([delay, transitions, here], index) => {
      const type = afterType(node.path, index);
      const resume = sharedResumePolicy(listOf(transitions), inside(here, "resume"), this);
      const delayAt = listed ? inside(here, "delay") : here;
      node.delays.push({ type, ms: delayOf(this, delay, delayAt), resume });
      const shape = listed ? "delayed transition" : "transition";
      this.#addTransitions(node, [type], transitions, here, { platform: true, timed: true, shape });
    });
  }

  #connectContent(node: StateNode, state: Parts, place: string): void {
    node.entry = compileBlocks(this, node, state.entry, inside(place, "entry"));
    node.exit = compileBlocks(this, node, state.exit, inside(place, "exit"));
    node.invariants = compileContracts(this, state.invariants, inside(place, "invariants"));
    node.require = compileContracts(this, state.require, inside(place, "require"));
    node.ensure = compileContracts(this, state.ensure, inside(place, "ensure"));
    node.writes = writePolicy(state.writes, inside(place, "writes"), this);
    const defer = inside(place, "defer");
    node.defer = listOf(state.defer).filter(isName);
    this.vocabulary.hear(node.defer, defer);
    const isSchemaOfOutput = node.parent === undefined && isSchemaLike(state.output);
    if (state.output !== undefined && !isSchemaOfOutput)
      node.output = jsonOf(this, state.output, inside(place, "output"));
    if (state.data !== undefined)
      node.declare = this.model.declare(state.data as JsonObject, inside(place, "data")) as Code;
  }

  result(): Compiled {
    const { definition } = this;
    const priorities = entriesAt(this, definition.priorities, "priorities");
    const chart: Chart = {
      id: definition.id as string,
      version: (definition.version ?? 1) as number,
      root: this.#tree.nodes[0] as StateNode,
      nodes: this.#tree.nodes,
      byPath: this.#tree.byPath,
      byId: this.#tree.byId,
      matching: this.#matching,
      model: this.#model,
      start: this.model.start(definition.start, "start"),
      unhandled: unhandledPolicy(definition.unhandled, this),
      schemas: schemasOf(definition as unknown as MachineDefinition, this),
      descriptors: [...this.vocabulary.descriptors].filter((descriptor) => descriptor !== "*"),
      priorities: prioritiesOf(priorities, this),
      compensates: this.#tree.nodes.some(({ invokes }) => invokes.some(({ compensate }) => compensate)),
      cache: { byPaths: new WeakMap(), byKey: new Map() },
    };
    const { missing, machines } = this.vocabulary;
    return { definition: definition as unknown as MachineDefinition, chart, missing, machines };
  }
}

const settledTypes = [
  ["onDone", doneInvokeType],
  ["onError", errorInvokeType],
  ["onUnknown", unknownInvokeType],
] as const;
