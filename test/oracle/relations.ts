/**
 * What the algorithm asks about states: their kinds, who contains whom, and the three orders.
 * https://www.w3.org/TR/scxml/#AlgorithmforSCXMLInterpretation
 */
import type { StateNode } from "./document.ts";

export const isHistoryState = (s: StateNode): boolean => s.type === "history";
export const isFinalState = (s: StateNode): boolean => s.type === "final";
export const isParallelState = (s: StateNode): boolean => s.type === "parallel";
export const isCompoundState = (s: StateNode): boolean => s.type === "state" && s.children.length > 0;
export const isAtomicState = (s: StateNode): boolean =>
  isFinalState(s) || (s.type === "state" && s.children.length === 0);
export const isScxmlElement = (s: StateNode | null): boolean => s !== null && s.parent === null;
export const isCompoundStateOrScxmlElement = (s: StateNode): boolean =>
  isCompoundState(s) || isScxmlElement(s);

/** All ancestors of `state1` from its parent up to, but not including, `state2`; up to the root if that is null. */
export function getProperAncestors(state1: StateNode, state2: StateNode | null): StateNode[] {
  if (state2 !== null && (state2 === state1 || isDescendant(state2, state1))) return [];
  const found: StateNode[] = [];
  for (let s = state1.parent; s !== null && s !== state2; s = s.parent) found.push(s);
  return found;
}

/** Whether `state1` is a child of `state2`, or a child of a child, and so on. */
export function isDescendant(state1: StateNode, state2: StateNode): boolean {
  for (let s = state1.parent; s !== null; s = s.parent) if (s === state2) return true;
  return false;
}

export const documentOrder = (one: { documentOrder: number }, other: { documentOrder: number }): number =>
  one.documentOrder - other.documentOrder;
/** Ancestors before descendants, and otherwise document order: both are the order of the nodes in the document. */
export const entryOrder = documentOrder;
export const exitOrder = (one: StateNode, other: StateNode): number => entryOrder(other, one);
