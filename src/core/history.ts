/** Histories: where they lead, given what is remembered. https://www.w3.org/TR/scxml/#history */
import { limits } from "../limits.ts";
import { type Route, type StateNode, type TransitionNode, transitionDomain } from "./chart.ts";

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
  return paths?.map((path) => below(node.parent as StateNode, path));
}

/** The descendant with this path, which there must be. */
function below(node: StateNode, path: string): StateNode {
  const next = node.children.find((child) => `${path}.`.startsWith(`${child.path}.`)) as StateNode;
  return next.path === path ? next : below(next, path);
}

/** Whether a history's default leads through other histories back to itself, or through too many, and so nowhere. */
export function leadsBack(history: StateNode): boolean {
  if (history.kind !== "history") return false;
  const seen = new Set<StateNode>([history]);
  // What is added while it is walked is walked too.
  for (const node of seen) {
    const next = (node.initial as Route).targets.filter(({ kind }) => kind === "history");
    if (next.includes(history) || seen.size > limits.historiesMax) return true;
    for (const target of next) seen.add(target);
  }
  return false;
}
