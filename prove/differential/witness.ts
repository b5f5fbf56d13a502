/**
 * What actually happened in a chart, seen by watching the oracle take it: that a proof met a feature is worth more than
 * that its charts contain it.
 */
import type { Event } from "../../src/core/event.ts";
import type { Plan } from "../../test/generate/plan.ts";
import type { OrderedSet } from "../../test/oracle/collections.ts";
import type { StateNode, TransitionNode } from "../../test/oracle/document.ts";
import { Interpreter } from "../../test/oracle/interpreter.ts";
import {
  isAtomicState,
  isCompoundState,
  isDescendant,
  isFinalState,
  isHistoryState,
  isParallelState,
  isScxmlElement,
} from "../../test/oracle/relations.ts";
import { runOracle } from "./oracle-run.ts";

/** The features that happened while a plan ran. */
export function witness(plan: Plan): ReadonlySet<string> {
  const seen = new Set<string>();

  class Witness extends Interpreter {
    override removeConflictingTransitions(enabled: OrderedSet<TransitionNode>): TransitionNode[] {
      const kept = super.removeConflictingTransitions(enabled);
      if (kept.length < enabled.toList().length) seen.add("conflict");
      return kept;
    }

    override executeTransitionContent(transitions: readonly TransitionNode[]): void {
      if (transitions.length > 1) seen.add("several transitions at once");
      for (const t of transitions) for (const name of transitionFeatures(t, this)) seen.add(name);
      super.executeTransitionContent(transitions);
    }

    override enterStates(transitions: readonly TransitionNode[]): void {
      super.enterStates(transitions);
      const active = this.configuration.toList();
      const regions = active.filter(isParallelState);
      if (regions.length > 0) seen.add("parallel");
      if (regions.some((one) => regions.some((other) => isDescendant(one, other))))
        seen.add("parallel in parallel");
      if (active.some((s) => isAtomicState(s) && depthOf(s) >= 4)) seen.add("four levels deep");
    }

    override finalStateEntered(s: StateNode): void {
      seen.add(isScxmlElement(s.parent) ? "run done" : "compound done");
      super.finalStateEntered(s);
    }

    override enqueueDone(state: StateNode, final?: StateNode): void {
      if (isParallelState(state)) seen.add("parallel done");
      super.enqueueDone(state, final);
    }

    override historyOf(h: StateNode, s: StateNode): StateNode[] {
      const remembered = super.historyOf(h, s);
      if (remembered.some(isFinalState)) seen.add("final state remembered");
      return remembered;
    }

    override raise(event: Event): void {
      seen.add("event raised");
      super.raise(event);
    }

    override fail(error: unknown): void {
      seen.add("error");
      super.fail(error);
    }
  }

  runOracle(plan, Witness);
  return seen;
}

function* transitionFeatures(t: TransitionNode, interpreter: Interpreter): Generator<string> {
  if (t.event === undefined) yield "eventless";
  else if (t.event.some((descriptor) => descriptor === "*")) yield "wildcard";
  else if (t.event.some((descriptor) => descriptor.endsWith(".*"))) yield "prefix";
  else if (t.event.some((descriptor) => descriptor.startsWith("done.state."))) yield "done event taken";
  else if (t.event.some((descriptor) => descriptor.startsWith("error."))) yield "error event taken";
  if (t.target.length === 0) yield "targetless";
  if (t.target.length > 1) yield "several targets";
  if (t.target.includes(t.source)) yield t.type === "external" ? "external self" : "self without re-entry";
  for (const s of t.target.filter(isHistoryState)) {
    const kind = s.isDeep ? "deep" : "shallow";
    yield `${kind} history ${interpreter.historyValue.has(s) ? "recalled" : "by default"}`;
  }
  const domain = interpreter.getTransitionDomain(t);
  if (domain === null) return;
  if (domain === t.source && isCompoundState(t.source)) yield "internal";
  if (t.target.some((s) => crosses(t.source, s, domain))) yield "cross-region";
}

/** Whether a parallel state, and not only what is around it, contains both. */
function crosses(source: StateNode, target: StateNode, domain: StateNode): boolean {
  for (let s = source.parent; s !== null && s !== domain; s = s.parent)
    if (isParallelState(s) && isDescendant(target, s)) return true;
  return false;
}

function depthOf(s: StateNode): number {
  return s.parent === null ? 0 : depthOf(s.parent) + 1;
}
