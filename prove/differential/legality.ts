/**
 * Whether a configuration is one that a chart can be in: one child of every active compound state, all regions of every
 * active parallel one. https://www.w3.org/TR/scxml/#LegalStateConfigurations
 */
import type { Plan, StatePlan } from "../../test/generate/plan.ts";
import { plant } from "../../test/generate/tree.ts";
import type { Behaviour } from "./observation.ts";

/** The first step after which the run is where no run can be, or undefined. */
export function firstIllegal(plan: Plan, { steps }: Behaviour): number | undefined {
  const tree = plant(plan.root);
  const index = steps.findIndex(({ configuration }) => {
    const leaves = new Set(configuration);
    const isActive = ({ key }: StatePlan): boolean => {
      const { path } = tree.get(key)!;
      return configuration.some((leaf) => leaf === path || leaf.startsWith(`${path}.`));
    };
    const isLegal = (state: StatePlan): boolean => {
      const children = state.states.filter((child) => child.kind !== "history");
      if (children.length === 0) return leaves.delete(tree.get(state.key)!.path);
      const active = children.filter(isActive);
      return active.length === (state.kind === "parallel" ? children.length : 1) && active.every(isLegal);
    };
    return leaves.size !== configuration.length || !isLegal(plan.root) || leaves.size > 0;
  });
  return index < 0 ? undefined : index;
}
