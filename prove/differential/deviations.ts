/**
 * Where SCION is known to deviate from SCXML, each as the one procedure of the literal algorithm that would have to be
 * wrong in the same way. Nothing is excluded from the comparison: when SCION and the oracle differ, the oracle with
 * these deviations must do exactly what SCION did, or the proof fails. Holdfast must agree with the oracle as it stands.
 */
import type { StateNode, TransitionNode } from "../../test/oracle/document.ts";
import { Interpreter } from "../../test/oracle/interpreter.ts";
import type { Algorithm } from "../../test/oracle/oracle.ts";
import {
  documentOrder,
  getProperAncestors,
  isAtomicState,
  isCompoundState,
  isDescendant,
  isFinalState,
  isParallelState,
} from "../../test/oracle/relations.ts";

export const deviations = {
  domain:
    "A transition's domain is computed from its first target alone, before history is known, and may be a parallel state (SCXML: getTransitionDomain, findLCCA).",
  transitionOrder:
    "Content of transitions runs in the document order of the transitions, not of the states that selected them (SCXML: microstep).",
  doneEvents:
    "Done events are raised after all entries of a microstep, so a parallel state can be done twice, and one with a history child never is (SCXML: enterStates, isInFinalState).",
  deepHistory: "Deep history forgets final states (SCXML: exitStates).",
} as const;

/** What charts compared with SCION do not contain, and why. Against the oracle, the last two are compared all the same. */
export const notDrawn = [
  "guards that throw, except on atomic states: SCXML's algorithm asks others once for each active leaf, Holdfast once",
  "eventless guards that look at the event: SCION shows them the next event before it is its turn",
  "actions that ask what is active: within a microstep SCION knows of leaves only",
] as const;

export type Deviation = keyof typeof deviations;

export const allDeviations = Object.keys(deviations) as Deviation[];

/** The algorithm with some of the deviations. */
export function deviating(chosen: readonly Deviation[]): Algorithm {
  const has = (deviation: Deviation): boolean => chosen.includes(deviation);

  return class extends Interpreter {
    private finalsEntered: StateNode[] = [];

    override getTransitionDomain(t: TransitionNode): StateNode | null {
      const [first] = t.target;
      if (first === undefined) return null;
      if (t.source === this.document.root) return t.source;
      if (!has("domain")) return super.getTransitionDomain(t);
      if (
        t.type === "internal" &&
        isCompoundState(t.source) &&
        t.target.every((s) => isDescendant(s, t.source))
      )
        return t.source;
      return getProperAncestors(t.source, null).find((anc) => isDescendant(first, anc)) ?? this.document.root;
    }

    override wasLeft(s: StateNode, t: TransitionNode): boolean {
      return has("domain") || super.wasLeft(s, t);
    }

    override executeTransitionContent(enabledTransitions: readonly TransitionNode[]): void {
      super.executeTransitionContent(
        has("transitionOrder")
          ? [...enabledTransitions].sort((one, other) => documentOrder(one.source, other.source))
          : enabledTransitions,
      );
    }

    override enterStates(enabledTransitions: readonly TransitionNode[]): void {
      super.enterStates(enabledTransitions);
      if (has("deepHistory")) this.forgetStatesWithoutLeaf();
      for (const s of this.finalsEntered.splice(0)) {
        const grandparent = s.parent!.parent;
        this.enqueueDone(s.parent!, s);
        if (grandparent !== null && isParallelState(grandparent))
          if (grandparent.children.every((child) => this.isInFinalState(child)))
            this.enqueueDone(grandparent);
      }
    }

    /** SCION knows only of active leaves; what contains none is not active to it. */
    private forgetStatesWithoutLeaf(): void {
      const active = this.configuration.toList();
      for (const s of active)
        if (!active.some((leaf) => isAtomicState(leaf) && (leaf === s || isDescendant(leaf, s))))
          this.configuration.delete(s);
    }

    override finalStateEntered(s: StateNode): void {
      if (has("doneEvents") && s.parent !== this.document.root) this.finalsEntered.push(s);
      else super.finalStateEntered(s);
    }

    override historyOf(h: StateNode, s: StateNode): StateNode[] {
      const remembered = super.historyOf(h, s);
      return has("deepHistory") && h.isDeep ? remembered.filter((s0) => !isFinalState(s0)) : remembered;
    }
  };
}
