/** Histories: where they lead, given what is remembered. https://www.w3.org/TR/scxml/#history */
import { type StateNode, type TransitionNode, transitionDomain } from "./chart.ts";

/** What histories remember: paths of states by the path of the history state. */
export type History = Readonly<Record<string, readonly string[]>>;

/** What a transition leaves, given what is remembered. */
export function domainOf(transition: TransitionNode, history: History): StateNode | undefined {
  if (!transition.historic) return transition.domain;
  return transitionDomain(transition.source, effectiveTargets(transition, history), transition.reenter);
}

/** Targets with histories replaced by what they remember, or by their defaults. */
export function effectiveTargets(
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

/** The states a history remembers; undefined if there are none. */
export function remembered(node: StateNode, history: History): StateNode[] | undefined {
  const paths = Object.hasOwn(history, node.path) ? history[node.path] : undefined;
  // Paths are relative to the state whose history it is, so that they resolve without the chart.
  return paths?.map((path) => {
    let found = node.parent as StateNode;
    const rest = found.path === "" ? path : path.slice(found.path.length + 1);
    for (const key of rest.split(".")) found = found.children.find((child) => child.key === key) as StateNode;
    return found;
  });
}
