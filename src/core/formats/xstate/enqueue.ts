/**
 * `enqueueActions`: actions that are known only when they run. The definition holds the function that lists them, and a
 * data model that differs from the native one in this action alone: it asks for the list, compiles it and runs it.
 */

import type { DataModel, ModelScope } from "../../data-model.ts";
import type { Action } from "../../definition.ts";
import type { JsonObject } from "../../json.ts";
import { plainModel } from "../../plain-model.ts";
import { evaluate, guardOf } from "./guard.ts";
import type { Params } from "./handler.ts";
import type { ImportScope } from "./scope.ts";
import type { Parts, XStateFunction } from "./source.ts";

interface Place {
  readonly at: string;
  readonly scope: ImportScope;
  /** How a list of XState's actions is read. */
  readonly actionsOf: (actions: unknown, at: string, scope: ImportScope) => Action[];
}

/** The list of actions that running this gives. */
type List = (scope: ModelScope) => Action[];

export function enqueueAction(collect: XStateFunction, params: Params, place: Place): Action {
  place.scope.enqueues = true;
  const enqueueActions: List = (step) => {
    const given = place.scope.handlers.given(step);
    const queued: unknown[] = [];
    const check = (guard: unknown) =>
      evaluate(guardOf(guard, place.at, place.scope), step, place.scope.guards);
    const told = { ...given, enqueue: enqueuer(queued), check };
    collect(told as never, params?.(given));
    return place.actionsOf(queued, place.at, place.scope);
  };
  return { model: { enqueueActions } as unknown as JsonObject };
}

/** The native data model, and one action more. */
export const enqueueModel: DataModel = {
  ...plainModel,
  action(source, path, block) {
    const { enqueueActions } = source as unknown as { readonly enqueueActions?: List };
    if (enqueueActions === undefined) return plainModel.action(source, path, block);
    return (scope) => block(enqueueActions(scope), path)(scope);
  },
};

/** `enqueue`, and the short forms on it, each of which is an action of XState's own without its interpreter. */
function enqueuer(queued: unknown[]): unknown {
  const add = (type: string, parts: Parts): void => {
    queued.push(
      Object.assign(() => undefined, { type: `xstate.${type}`, resolve: () => undefined, ...parts }),
    );
  };
  const options = (given: unknown): Parts => (given ?? {}) as Parts;
  return Object.assign((action: unknown) => void queued.push(action), {
    assign: (assignment: unknown) => add("assign", { assignment }),
    cancel: (sendId: unknown) => add("cancel", { sendId }),
    raise: (event: unknown, given?: unknown) => add("raise", { event, ...options(given) }),
    sendTo: (to: unknown, event: unknown, given?: unknown) => add("sendTo", { to, event, ...options(given) }),
    sendParent: (event: unknown, given?: unknown) =>
      add("sendTo", { to: "#_parent", event, ...options(given) }),
    spawnChild: (src: unknown, given?: unknown) => add("spawnChild", { src, ...options(given) }),
    stopChild: (actorRef: unknown) => add("stopChild", { actorRef }),
    emit: (event: unknown) => add("emit", { event }),
  });
}
