/**
 * The states of an XState configuration, with their names on both sides and their targets found by XState's rules.
 * XState names every state by an id (`machine.a.b` unless given); here a state goes by its path, or by the id it was
 * given.
 */
import type { StateKind } from "../../chart.ts";
import { doneStateType } from "../../event.ts";
import type { EventNames } from "./event.ts";
import { isParts, listOf, type Parts, transitionsOf } from "./source.ts";

export interface Place {
  readonly config: Parts;
  readonly kind: StateKind;
  /** The key it has here, which may differ from the one it was given. */
  readonly key: string;
  readonly givenKey: string;
  /** Its path here; empty for the machine. */
  readonly path: string;
  /** Where it stands in the configuration, as notes name it. */
  readonly at: string;
  /** The id XState knows it by. */
  readonly xstateId: string;
  readonly parent: Place | undefined;
  readonly children: Place[];
  /** The id it has here, where it needs one. */
  id: string | undefined;
}

/** A transition of a configuration, and where it stands. */
export interface PlacedTransition {
  readonly source: Place;
  readonly at: string;
  readonly parts: Parts;
  /** The event key it is under; undefined for what is not in `on`. */
  readonly key: string | undefined;
}

export class Places {
  readonly root: Place;
  readonly all: Place[] = [];
  readonly #byId = new Map<string, Place>();

  constructor(config: Parts) {
    this.root = this.#add(config, machineName(config), undefined);
    this.#giveIds();
  }

  /** The states whose keys had to change. */
  renamed(): Place[] {
    return this.all.filter((place) => place.parent !== undefined && place.key !== place.givenKey);
  }

  /** Tells what this machine's done events are called on both sides. */
  pairNames(names: EventNames): void {
    for (const place of this.all)
      if (place.parent !== undefined)
        names.pair(doneStateType(place.id ?? place.path), `xstate.done.state.${place.xstateId}`);
  }

  /** The state a target means to XState: `#id`, `#id.path`, `.child`, or a path among the source's siblings. */
  find(target: string, source: Place): Place | undefined {
    if (target.startsWith("#")) return this.findId(target);
    if (target.startsWith(".")) return descend(source, pathOf(target.slice(1)));
    return source.parent === undefined ? undefined : descend(source.parent, pathOf(target));
  }

  /** The state that `#id` or `#id.path` names. */
  findId(name: string): Place | undefined {
    const whole = this.#byId.get(name.slice(1));
    if (whole !== undefined) return whole;
    const [id = "", ...rest] = pathOf(name.slice(1));
    const found = this.#byId.get(id);
    return found === undefined ? undefined : descend(found, rest);
  }

  /** How the source refers to a state here. */
  reference(target: Place, source: Place): string {
    if (target.id !== undefined) return `#${target.id}`;
    if (target.parent === source.parent) return target.key;
    if (isBelow(target, source))
      return `.${target.path.slice(source.path === "" ? 0 : source.path.length + 1)}`;
    return target.path;
  }

  /** Every transition of the machine. */
  transitions(): PlacedTransition[] {
    return this.all.flatMap((source) => transitionsFrom(source));
  }

  #add(config: Parts, givenKey: string, parent: Place | undefined): Place {
    const key = parent === undefined ? "" : freeKey(givenKey, parent);
    const path = parent === undefined || parent.path === "" ? key : `${parent.path}.${key}`;
    const chain = parent === undefined ? [] : [...givenPath(parent), givenKey];
    const rootId = parent === undefined ? givenKey : this.all[0]!.xstateId;
    const place: Place = {
      config,
      kind: kindOf(config, parent === undefined),
      key,
      givenKey,
      path,
      at: parent === undefined ? "" : joined(parent.at, "states", givenKey),
      xstateId: typeof config.id === "string" && config.id !== "" ? config.id : [rootId, ...chain].join("."),
      parent,
      children: [],
      id: parent === undefined || typeof config.id !== "string" ? undefined : config.id,
    };
    this.all.push(place);
    parent?.children.push(place);
    if (!this.#byId.has(place.xstateId)) this.#byId.set(place.xstateId, place);
    for (const [child, inner] of Object.entries((config.states ?? {}) as Parts))
      this.#add(isParts(inner) ? inner : {}, child, place);
    return place;
  }

  /** A path is looked for from the source outwards, and may find another state of that name first. Those get an id. */
  #giveIds(): void {
    for (const { source, parts } of this.transitions()) {
      for (const name of listOf(parts.target)) {
        const target = typeof name === "string" ? this.find(name, source) : undefined;
        if (target?.parent === undefined || target.id !== undefined) continue;
        const written = this.reference(target, source);
        if (written === target.path && lookup(written, source) !== target) target.id = target.xstateId;
      }
    }
  }
}

/** The name XState gives a machine without one is no name here. */
export const machineName = (config: Parts): string =>
  typeof config.id === "string" && config.id !== "" ? config.id : "(machine)";

export function joined(...parts: string[]): string {
  return parts.filter((part) => part !== "").join(".");
}

export function isBelow(place: Place, above: Place): boolean {
  for (let up = place.parent; up !== undefined; up = up.parent) if (up === above) return true;
  return false;
}

/** The nearest state that contains all of them, itself not among them; undefined above the machine. */
export function commonAncestor(places: readonly Place[]): Place | undefined {
  let up = places[0]?.parent;
  while (up !== undefined && !places.every((place) => isBelow(place, up as Place))) up = up.parent;
  return up;
}

function transitionsFrom(source: Place): PlacedTransition[] {
  const { config, at } = source;
  const placed = (value: unknown, where: string, key?: string): PlacedTransition[] => {
    const list = transitionsOf(value);
    return list.map((parts, index) => ({
      source,
      at: list.length > 1 ? `${where}[${index}]` : where,
      parts,
      key,
    }));
  };
  const optional = (value: unknown, where: string) => (value === undefined ? [] : placed(value, where));
  const invokes = listOf(config.invoke) as readonly Parts[];
  return [
    ...Object.entries((config.on ?? {}) as Parts).flatMap(([key, value]) =>
      placed(value, joined(at, "on", key), key),
    ),
    ...optional(config.always, joined(at, "always")),
    ...Object.entries((config.after ?? {}) as Parts).flatMap(([delay, value]) =>
      placed(value, joined(at, "after", delay)),
    ),
    ...optional(config.onDone, joined(at, "onDone")),
    ...invokes.flatMap((invoke, index) =>
      ["onDone", "onError"].flatMap((key) =>
        optional(invoke[key], joined(invokeAt(at, invokes, index), key)),
      ),
    ),
  ];
}

/** Where one of a state's invocations stands. */
export function invokeAt(at: string, invokes: readonly unknown[], index: number): string {
  return invokes.length > 1 ? `${joined(at, "invoke")}[${index}]` : joined(at, "invoke");
}

function kindOf(config: Parts, isRoot: boolean): StateKind {
  if (config.type === "parallel") return "parallel";
  if (isRoot) return "compound";
  if (config.type === "final" || config.type === "history") return config.type;
  if (Object.keys((config.states ?? {}) as Parts).length > 0) return "compound";
  return config.history === undefined || config.history === false ? "atomic" : "history";
}

/** XState's keys may have dots in targets behind a backslash. */
function pathOf(text: string): string[] {
  return text.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."));
}

function descend(from: Place, path: readonly string[]): Place | undefined {
  let place: Place | undefined = from;
  for (const key of path) place = place?.children.find((child) => child.givenKey === key);
  return place;
}

/** What a path finds here: see `target.ts` of the core. */
function lookup(path: string, source: Place): Place | undefined {
  const [first, ...rest] = path.split(".");
  for (let scope: Place | undefined = source.parent ?? source; scope !== undefined; scope = scope.parent) {
    const child = scope.children.find(({ key }) => key === first);
    if (child !== undefined) return rest.reduce<Place | undefined>(childWithKey, child);
  }
  return undefined;
}

function childWithKey(place: Place | undefined, key: string): Place | undefined {
  return place?.children.find((child) => child.key === key);
}

function givenPath(place: Place): string[] {
  return place.parent === undefined ? [] : [...givenPath(place.parent), place.givenKey];
}

function freeKey(given: string, parent: Place): string {
  const base = given.replace(/[.#]/g, "_") || "_";
  const wanted = base === "__proto__" ? "_proto" : base;
  let key = wanted;
  for (let count = 2; parent.children.some((child) => child.key === key); count++) key = `${wanted}_${count}`;
  return key;
}
