/** The ids of invocations: two that can be under way together need ids of their own, since each hears of its end by it. */
import type { StateNode } from "./chart.ts";

/** Two states can be active together if one lies inside the other, or if they lie in different regions. */
export class InvokeIds {
  /** By id: the states that invoke under it, and those above them, each with the child it was reached through. */
  readonly #byId = new Map<string, Map<StateNode, StateNode | undefined>>();

  /** Notes that a state invokes under this id; false if another one may be doing so at the same time. */
  add(node: StateNode, id: string): boolean {
    const users = this.#byId.get(id) ?? new Map<StateNode, StateNode | undefined>();
    this.#byId.set(id, users);
    let free = !users.has(node);
    let below = node;
    for (let above = node.parent; above !== undefined; above = above.parent) {
      const through = users.get(above);
      if (users.has(above) && (through === undefined || (above.kind === "parallel" && through !== below)))
        free = false;
      if (!users.has(above)) users.set(above, below);
      below = above;
    }
    users.set(node, undefined);
    return free;
  }
}
