/** Transitions of an XState configuration, with their targets found by its rules and named by ours. */
import type { TransitionParts } from "../../definition.ts";
import type { Json } from "../../json.ts";
import { actionsOf } from "./action.ts";
import { transitionGuard } from "./guard.ts";
import { joined, type Place } from "./place.ts";
import type { ImportScope } from "./scope.ts";
import { listOf, type Parts, transitionsOf } from "./source.ts";

/** The transitions under one key; a single one stands for itself. */
export function handlersOf(
  value: unknown,
  source: Place,
  at: string,
  scope: ImportScope,
): TransitionParts | TransitionParts[] {
  const list = transitionsOf(value);
  const parts = list.map((one, index) =>
    transitionOf(one, source, list.length > 1 ? `${at}[${index}]` : at, scope),
  );
  return parts.length === 1 ? (parts[0] as TransitionParts) : parts;
}

export function transitionOf(parts: Parts, source: Place, at: string, scope: ImportScope): TransitionParts {
  const target = targetsOf(parts.target, source, at, scope);
  const actions = actionsOf(parts.actions, joined(at, "actions"), scope);
  const { reenter, description, meta } = parts;
  const toRoot = leadsToRoot(parts.target, source, scope);
  if (toRoot) scope.notes.add(at, "root-target");
  return {
    ...transitionGuard(parts.guard, at, scope),
    ...(target.length === 0 ? {} : { target: target.length === 1 ? (target[0] as string) : target }),
    ...(actions.length === 0 ? {} : { actions }),
    ...(reenter === true || toRoot ? { reenter: true } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(meta === undefined ? {} : { meta: meta as Json }),
  };
}

function leadsToRoot(target: unknown, source: Place, { places }: ImportScope): boolean {
  return listOf(target).some((name) => places.find(String(name), source) === places.root);
}

/** Targets as they are written here. The machine itself cannot be one; where it begins can. */
export function targetsOf(target: unknown, source: Place, at: string, scope: ImportScope): string[] {
  const { places } = scope;
  return listOf(target).flatMap((name) => {
    if (name === "") return [];
    const found = places.find(String(name), source);
    if (found === undefined) {
      scope.notes.add(at, "unknown-target", String(name));
      return [];
    }
    const ends = found === places.root ? beginnings(found) : [found];
    return ends.map((place) => places.reference(place, source));
  });
}

function beginnings(root: Place): Place[] {
  if (root.kind === "parallel") return root.children.filter(({ kind }) => kind !== "history");
  const initial = root.config.initial as { readonly target?: unknown } | string | undefined;
  const key = typeof initial === "object" ? initial.target : initial;
  return root.children.filter(({ givenKey }) => givenKey === key);
}
