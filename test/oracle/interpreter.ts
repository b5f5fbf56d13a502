/**
 * The W3C's algorithm for SCXML interpretation, transcribed as literally as TypeScript allows: one method for each
 * procedure, under its name and in its order, naive and slow. It owns nothing but that; what a definition means is
 * read by `document.ts`, what actions do is in `content.ts`.
 *
 * It is a class so that a variant, such as another engine's known deviation, is one overridden procedure. Where
 * Holdfast says more than SCXML can, the addition is marked "Beyond SCXML".
 *
 * https://www.w3.org/TR/scxml/#AlgorithmforSCXMLInterpretation
 */
import type { Event } from "../../src/core/event.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { OrderedSet, Queue } from "./collections.ts";
import { conditionMatch, evaluate, executeContent, type Session } from "./content.ts";
import { descriptorTakes } from "./descriptor.ts";
import {
  type Content,
  type Document,
  getChildStates,
  type StateNode,
  type TransitionNode,
} from "./document.ts";
import {
  documentOrder,
  entryOrder,
  exitOrder,
  getProperAncestors,
  isAtomicState,
  isCompoundState,
  isCompoundStateOrScxmlElement,
  isDescendant,
  isFinalState,
  isHistoryState,
  isParallelState,
  isScxmlElement,
} from "./relations.ts";

/** Far more rounds than any chart of the tests needs: beyond it a macrostep has no end. */
export const roundsMax = 400;

/** A macrostep that does not end, which the algorithm itself has no answer to. */
export class Unbounded extends Error {}

/** The three collections that the procedures of entering pass along and fill. */
interface EntrySet {
  readonly statesToEnter: OrderedSet<StateNode>;
  readonly statesForDefaultEntry: OrderedSet<StateNode>;
  readonly defaultHistoryContent: Map<StateNode, Content>;
}

export class Interpreter implements Session {
  readonly configuration = new OrderedSet<StateNode>();
  readonly historyValue = new Map<StateNode, readonly StateNode[]>();
  readonly internalQueue = new Queue<Event>();
  running = true;
  context: JsonObject;
  event: Event;
  output: Json | undefined;
  /** The configuration that a run ended in, as the algorithm empties it. */
  endedIn: readonly StateNode[] | undefined;
  readonly logs: Json[] = [];
  /** The types of the error events raised on the way. */
  readonly errors: string[] = [];
  /** How many sets of transitions were taken. */
  microsteps = 0;
  protected readonly document: Document;

  constructor(document: Document, context: JsonObject, event: Event) {
    this.document = document;
    this.context = context;
    this.event = event;
  }

  /** `interpret(doc)` up to the point where the first external event is awaited. */
  interpret(): void {
    this.enterStates([this.initialTransition()]);
    this.macrostep();
  }

  /** `mainEventLoop()` for one external event. */
  mainEventLoop(externalEvent: Event): void {
    this.event = externalEvent;
    const enabledTransitions = this.selectTransitions(externalEvent);
    if (enabledTransitions.length > 0) this.microstep(enabledTransitions);
    this.macrostep();
  }

  /** The inner loop of `mainEventLoop()`: eventless transitions first, then internal events, until there are none. */
  private macrostep(): void {
    let macrostepDone = false;
    for (let round = 0; this.running && !macrostepDone; round++) {
      if (round >= roundsMax) throw new Unbounded("The macrostep does not end.");
      let enabledTransitions = this.selectEventlessTransitions();
      if (enabledTransitions.length === 0) {
        if (this.internalQueue.isEmpty()) macrostepDone = true;
        else {
          const internalEvent = this.internalQueue.dequeue();
          this.event = internalEvent;
          enabledTransitions = this.selectTransitions(internalEvent);
        }
      }
      if (enabledTransitions.length > 0) this.microstep(enabledTransitions);
    }
    if (!this.running) this.exitInterpreter();
  }

  /** Leaves every state and hands over the final state's data. https://www.w3.org/TR/scxml/#final */
  private exitInterpreter(): void {
    this.endedIn = this.configuration.toList();
    for (const s of this.configuration.toList().sort(exitOrder)) {
      for (const content of s.onexit) this.executeContent(content);
      this.configuration.delete(s);
      if (isFinalState(s) && isScxmlElement(s.parent)) this.returnDoneEvent(s);
    }
  }

  private returnDoneEvent(s: StateNode): void {
    if (s.donedata !== undefined) this.output = evaluate(s.donedata, this);
  }

  /** For each active leaf, the first enabled transition without an event. https://www.w3.org/TR/scxml/#SelectingTransitions */
  selectEventlessTransitions(): TransitionNode[] {
    const enabledTransitions = new OrderedSet<TransitionNode>();
    const atomicStates = this.configuration.toList().filter(isAtomicState).sort(documentOrder);
    for (const state of atomicStates)
      loop: for (const s of [state, ...getProperAncestors(state, null)])
        for (const t of s.transition)
          if (t.event === undefined && conditionMatch(t.cond, this)) {
            enabledTransitions.add(t);
            break loop;
          }
    return this.removeConflictingTransitions(enabledTransitions);
  }

  /** For each active leaf, the first enabled transition for the event. https://www.w3.org/TR/scxml/#SelectingTransitions */
  selectTransitions(event: Event): TransitionNode[] {
    const enabledTransitions = new OrderedSet<TransitionNode>();
    const atomicStates = this.configuration.toList().filter(isAtomicState).sort(documentOrder);
    for (const state of atomicStates)
      loop: for (const s of [state, ...getProperAncestors(state, null)])
        for (const t of s.transition)
          if (t.event !== undefined && this.nameMatch(t, event.type) && conditionMatch(t.cond, this)) {
            enabledTransitions.add(t);
            break loop;
          }
    return this.removeConflictingTransitions(enabledTransitions);
  }

  /** https://www.w3.org/TR/scxml/#EventDescriptors */
  private nameMatch({ event = [], matching }: TransitionNode, type: string): boolean {
    return event.some((descriptor) => descriptorTakes(descriptor, type, matching));
  }

  /** Exit sets must not meet: the inner source wins, else the earlier leaf. https://www.w3.org/TR/scxml/#SelectingTransitions */
  removeConflictingTransitions(enabledTransitions: OrderedSet<TransitionNode>): TransitionNode[] {
    const filteredTransitions = new OrderedSet<TransitionNode>();
    for (const t1 of enabledTransitions.toList()) {
      let t1Preempted = false;
      const transitionsToRemove = new OrderedSet<TransitionNode>();
      for (const t2 of filteredTransitions.toList())
        if (this.computeExitSet([t1]).hasIntersection(this.computeExitSet([t2]))) {
          if (isDescendant(t1.source, t2.source)) transitionsToRemove.add(t2);
          else {
            t1Preempted = true;
            break;
          }
        }
      if (!t1Preempted) {
        for (const t3 of transitionsToRemove.toList()) filteredTransitions.delete(t3);
        filteredTransitions.add(t1);
      }
    }
    return filteredTransitions.toList();
  }

  /** All exits, then all content, then all entries. https://www.w3.org/TR/scxml/#SelectingTransitions */
  private microstep(enabledTransitions: readonly TransitionNode[]): void {
    this.microsteps += 1;
    // Beyond SCXML: an atomic state that stays in itself has nothing inside that could start again.
    const staying = enabledTransitions.filter((t) => isAtomicState(t.source) && this.staysInItself(t));
    this.exitStates(enabledTransitions);
    this.executeTransitionContent(enabledTransitions);
    this.enterStates(enabledTransitions.filter((t) => !staying.includes(t)));
  }

  /** Histories are filled before any handler runs. https://www.w3.org/TR/scxml/#history */
  private exitStates(enabledTransitions: readonly TransitionNode[]): void {
    const statesToExit = this.computeExitSet(enabledTransitions).toList().sort(exitOrder);
    for (const s of statesToExit)
      for (const h of s.children.filter(isHistoryState)) this.historyValue.set(h, this.historyOf(h, s));
    for (const s of statesToExit) {
      for (const content of s.onexit) this.executeContent(content);
      this.configuration.delete(s);
    }
  }

  /** What a history state `h` of `s` remembers when `s` is exited. */
  historyOf(h: StateNode, s: StateNode): StateNode[] {
    const f = h.isDeep
      ? (s0: StateNode) => isAtomicState(s0) && isDescendant(s0, s)
      : (s0: StateNode) => s0.parent === s;
    return this.configuration.toList().filter(f);
  }

  /** Everything active below the domains. */
  computeExitSet(transitions: readonly TransitionNode[]): OrderedSet<StateNode> {
    const statesToExit = new OrderedSet<StateNode>();
    for (const t of transitions)
      if (t.target.length > 0) {
        const domain = this.getTransitionDomain(t);
        for (const s of this.configuration.toList())
          if (domain !== null && isDescendant(s, domain)) statesToExit.add(s);
      }
    return statesToExit;
  }

  /** In the order of the leaves that selected them. */
  executeTransitionContent(enabledTransitions: readonly TransitionNode[]): void {
    for (const t of enabledTransitions) this.executeContent(t.content);
  }

  /** Handlers, then the content of the initial, then that of the history. https://www.w3.org/TR/scxml/#initial */
  enterStates(enabledTransitions: readonly TransitionNode[]): void {
    const statesToEnter = new OrderedSet<StateNode>();
    const statesForDefaultEntry = new OrderedSet<StateNode>();
    const defaultHistoryContent = new Map<StateNode, Content>();
    this.computeEntrySet(enabledTransitions, { statesToEnter, statesForDefaultEntry, defaultHistoryContent });
    for (const s of statesToEnter.toList().sort(entryOrder)) {
      const stays = enabledTransitions.some((t) => t.source === s && this.staysInItself(t));
      this.configuration.add(s);
      if (!stays) for (const content of s.onentry) this.executeContent(content);
      if (statesForDefaultEntry.isMember(s)) this.executeContent(s.default!.content);
      const historyContent = defaultHistoryContent.get(s);
      if (historyContent !== undefined) this.executeContent(historyContent);
      if (isFinalState(s)) this.finalStateEntered(s);
    }
  }

  /** The last part of `enterStates`. https://www.w3.org/TR/scxml/#CoreIntroduction */
  finalStateEntered(s: StateNode): void {
    // Beyond SCXML: the root may be parallel, and then ends when all its regions have.
    if (this.isInFinalState(this.document.root)) this.running = false;
    if (isScxmlElement(s.parent)) return;
    const parent = s.parent!;
    const grandparent = parent.parent!;
    this.enqueueDone(parent, s);
    if (isParallelState(grandparent) && !isScxmlElement(grandparent))
      if (getChildStates(grandparent).every((child) => this.isInFinalState(child)))
        this.enqueueDone(grandparent);
  }

  enqueueDone(state: StateNode, final?: StateNode): void {
    const type = `done.state.${state.id}`;
    const data = final?.donedata === undefined ? undefined : evaluate(final.donedata, this);
    this.internalQueue.enqueue({ type, kind: "platform", ...(data === undefined ? {} : { data }) });
  }

  private computeEntrySet(transitions: readonly TransitionNode[], entry: EntrySet): void {
    for (const t of transitions) {
      const known = entry.statesToEnter.toList();
      for (const s of t.target) this.addDescendantStatesToEnter(s, entry);
      const ancestor = this.getTransitionDomain(t);
      for (const s of this.getEffectiveTargetStates(t).toList()) {
        this.addAncestorStatesToEnter(s, ancestor, entry);
        // Beyond SCXML: the domain may be a parallel state, whose regions have all been left.
        if (ancestor !== null && isParallelState(ancestor)) this.addRegionsToEnter(ancestor, entry);
      }
      for (const s of entry.statesToEnter.toList())
        if (!known.includes(s) && !this.wasLeft(s, t)) entry.statesToEnter.delete(s);
    }
  }

  /**
   * Beyond SCXML, whose algorithm may enter what was not left: a history adds all states up to its parent, which may lie
   * above the domain of a transition that comes from inside, and their regions. Only what is below the domain is entered,
   * or starts its inside again.
   */
  wasLeft(s: StateNode, t: TransitionNode): boolean {
    const domain = this.getTransitionDomain(t);
    return (
      isScxmlElement(s) ||
      (domain !== null && isDescendant(s, domain)) ||
      (s === t.source && this.staysInItself(t))
    );
  }

  private addDescendantStatesToEnter(state: StateNode, entry: EntrySet): void {
    if (isHistoryState(state)) {
      const remembered = this.historyValue.get(state);
      if (remembered === undefined) entry.defaultHistoryContent.set(state.parent!, state.default!.content);
      const targets = remembered ?? state.default!.target;
      for (const s of targets) this.addDescendantStatesToEnter(s, entry);
      for (const s of targets) this.addAncestorStatesToEnter(s, state.parent!, entry);
      return;
    }
    entry.statesToEnter.add(state);
    if (isCompoundState(state)) {
      entry.statesForDefaultEntry.add(state);
      for (const s of state.default!.target) this.addDescendantStatesToEnter(s, entry);
      for (const s of state.default!.target) this.addAncestorStatesToEnter(s, state, entry);
    } else if (isParallelState(state)) this.addRegionsToEnter(state, entry);
  }

  private addAncestorStatesToEnter(state: StateNode, ancestor: StateNode | null, entry: EntrySet): void {
    for (const anc of getProperAncestors(state, ancestor)) {
      entry.statesToEnter.add(anc);
      if (isParallelState(anc)) this.addRegionsToEnter(anc, entry);
    }
  }

  /** The loop over the children of a parallel state that the two procedures above share. */
  private addRegionsToEnter(parallel: StateNode, entry: EntrySet): void {
    for (const child of getChildStates(parallel))
      if (!entry.statesToEnter.some((s) => isDescendant(s, child)))
        this.addDescendantStatesToEnter(child, entry);
  }

  isInFinalState(s: StateNode): boolean {
    if (isCompoundState(s))
      return getChildStates(s).some((child) => isFinalState(child) && this.configuration.isMember(child));
    if (isParallelState(s)) return getChildStates(s).every((child) => this.isInFinalState(child));
    return false;
  }

  /** What a transition stays inside of. https://www.w3.org/TR/scxml/#SelectingTransitions */
  getTransitionDomain(t: TransitionNode): StateNode | null {
    const tstates = this.getEffectiveTargetStates(t);
    if (tstates.isEmpty()) return null;
    if (t.type === "internal" && isCompoundState(t.source) && tstates.every((s) => isDescendant(s, t.source)))
      return t.source;
    // Beyond SCXML: a transition that does not re-enter stays in any source that has all its targets.
    if (t.type === "internal" && tstates.every((s) => s === t.source || isDescendant(s, t.source)))
      return t.source;
    return this.findLCCA([t.source, ...tstates.toList()]);
  }

  /** Beyond SCXML: whether the source is a target that is not left. What is inside it starts again, it does not. */
  private staysInItself(t: TransitionNode): boolean {
    const tstates = this.getEffectiveTargetStates(t);
    return t.type === "internal" && tstates.isMember(t.source) && this.getTransitionDomain(t) === t.source;
  }

  /** Beyond SCXML: a machine's root may have transitions, which `<scxml>` has not. Nothing is above it, so it is their domain. */
  findLCCA(stateList: readonly StateNode[]): StateNode {
    const [head, ...tail] = stateList;
    for (const anc of getProperAncestors(head!, null).filter(isCompoundStateOrScxmlElement))
      if (tail.every((s) => isDescendant(s, anc))) return anc;
    return this.document.root;
  }

  /** The targets, with histories replaced by what they stand for. https://www.w3.org/TR/scxml/#history */
  getEffectiveTargetStates(transition: { readonly target: readonly StateNode[] }): OrderedSet<StateNode> {
    const targets = new OrderedSet<StateNode>();
    for (const s of transition.target)
      if (isHistoryState(s)) {
        const remembered = this.historyValue.get(s);
        targets.union(
          remembered === undefined ? this.getEffectiveTargetStates(s.default!) : new OrderedSet(remembered),
        );
      } else targets.add(s);
    return targets;
  }

  /** The transition that starts the run: it enters the machine's root, which has no parent to be entered from. */
  private initialTransition(): TransitionNode {
    const { root } = this.document;
    return {
      source: root,
      matching: "exact",
      cond: undefined,
      target: [root],
      type: "external",
      content: [],
    };
  }

  private executeContent(content: Content): void {
    executeContent(content, this);
  }

  isIn(state: string): boolean {
    const named = state.startsWith("#") ? state.slice(1) : undefined;
    return this.configuration.some((s) => (named === undefined ? s.path === state : s.id === named));
  }

  raise(event: Event): void {
    this.internalQueue.enqueue(event);
  }

  log(data: Json): void {
    this.logs.push(data);
  }

  fail(_error: unknown): void {
    this.errors.push("error.execution");
    this.internalQueue.enqueue({ type: "error.execution", kind: "platform" });
  }
}
