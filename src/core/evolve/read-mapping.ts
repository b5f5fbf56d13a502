/** Mappings as authors write them, checked against the two definitions: every name is one that there is. */
import { type Chart, isLeaf, type StateNode } from "../chart.ts";
import { listOf, type Parts } from "../compiler.ts";
import { isObject } from "../json.ts";
import { inside, type Problems, show, someOf } from "../problem.ts";
import { hears } from "./events.ts";
import type { EventChange, Mapping, Renames } from "./mapping.ts";
import type { Evolvable } from "./move.ts";
import { listed } from "./written.ts";

interface Pair {
  readonly from: Evolvable;
  readonly to: Evolvable;
}

const keys = ["context", "states", "events", "activities", "children", "invocations"];

/** The mapping that the parts describe; what is wrong with them is reported. */
export function readMapping(pair: Pair, given: unknown, place: string, problems: Problems): Mapping {
  if (!isObject(given)) problems.problem(place, `is ${show(given)}`, "write an object");
  const parts = (isObject(given) ? given : {}) as Parts;
  for (const key of Object.keys(parts))
    if (!keys.includes(key))
      problems.problem(inside(place, key), "is no part of a migration", () =>
        problems.nearest.fix(key, keys, `there are ${keys.join(", ")}${place === "" ? ", back" : ""}`),
      );
  const reading = new Reading(pair, parts, place, problems);
  const context = reading.context();
  return {
    ...(context === undefined ? {} : { context }),
    states: reading.states(),
    events: reading.events(),
    activities: reading.names("activities", "activities"),
    children: reading.names("children", "machines"),
    invocations: reading.names("invocations"),
  };
}

class Reading {
  readonly #from: Evolvable;
  readonly #to: Evolvable;
  readonly #parts: Parts;
  readonly #place: string;
  readonly #problems: Problems;

  constructor({ from, to }: Pair, parts: Parts, place: string, problems: Problems) {
    this.#from = from;
    this.#to = to;
    this.#parts = parts;
    this.#place = place;
    this.#problems = problems;
  }

  context(): Mapping["context"] {
    const { context } = this.#parts;
    if (context === undefined || typeof context === "function") return context as Mapping["context"];
    this.#problems.problem(
      inside(this.#place, "context"),
      `is ${show(context)}`,
      "write a function of the old one",
    );
    return undefined;
  }

  states(): Mapping["states"] {
    const states = new Map<string, readonly string[]>();
    for (const [path, given, at] of this.#entries("states")) {
      const old = this.#stateAt(this.#from.chart, path, at);
      const targets = listOf(given);
      if (targets.length === 0) this.#problems.problem(at, "is empty", "name a state");
      for (const target of targets) {
        const now = this.#stateAt(this.#to.chart, target, at);
        if (old !== undefined && now !== undefined) this.#checkKinds(old, now, at);
      }
      states.set(path, targets as readonly string[]);
    }
    return states;
  }

  #checkKinds(old: StateNode, now: StateNode, at: string): void {
    if ((old.kind === "history") !== (now.kind === "history"))
      this.#problems.problem(at, `is ${show(now.path)}, and only one of the two is a history`);
    else if (isLeaf(old) && !isLeaf(now) && now.kind !== "history") {
      const inner = this.#to.chart.nodes.filter(
        (node) => isLeaf(node) && node.path.startsWith(`${now.path}.`),
      );
      const fix = `name one of ${someOf(inner.map(({ path }) => path))}`;
      this.#problems.problem(at, `is ${show(now.path)}, which has states inside`, fix);
    }
  }

  #stateAt({ byPath, version }: Chart, path: unknown, at: string): StateNode | undefined {
    const node = typeof path === "string" && path !== "" ? byPath.get(path) : undefined;
    if (node === undefined) {
      const paths = [...byPath.keys()].filter((one) => one !== "");
      this.#problems.problem(at, `names no state of version ${version}: ${show(path)}`, () =>
        this.#problems.nearest.fix(path, paths, `there are ${someOf(paths)}`),
      );
    }
    return node;
  }

  events(): Mapping["events"] {
    const events = new Map<string, EventChange | null>();
    for (const [type, given, at] of this.#entries("events")) {
      const declared = listed(this.#from.definition, "events");
      if (isAfter(type) || declared !== undefined) this.#checkEvent(this.#from, type, at);
      if (given === null) {
        events.set(type, null);
        continue;
      }
      const change = (isObject(given) ? given : { type: given }) as unknown as EventChange;
      if (change.data !== undefined && typeof change.data !== "function")
        this.#problems.problem(
          inside(at, "data"),
          `is ${show(change.data)}`,
          "write a function of the old data",
        );
      this.#checkEvent(this.#to, change.type, at);
      events.set(type, change);
    }
    return events;
  }

  #checkEvent(machine: Evolvable, type: unknown, at: string): void {
    const { chart, version } = machine;
    if (typeof type === "string" && (isAfter(type) ? hasDelay(chart, type) : hears(machine, type))) return;
    const known = [...chart.descriptors];
    this.#problems.problem(at, `names no event of version ${version}: ${show(type)}`, () =>
      this.#problems.nearest.fix(type, known, `there are ${someOf(known)}`),
    );
  }

  /** New names by old ones; those that a definition lists must be among them. */
  names(key: string, list?: "activities" | "machines"): Renames {
    const names = new Map<string, string | null>();
    for (const [old, now, at] of this.#entries(key)) {
      if (list !== undefined) this.#checkName(this.#from, list, old, at);
      if (now === null) names.set(old, null);
      else if (typeof now !== "string")
        this.#problems.problem(at, `is ${show(now)}`, "write a name, or null");
      else {
        if (list !== undefined) this.#checkName(this.#to, list, now, at);
        names.set(old, now);
      }
    }
    return names;
  }

  #checkName(
    { definition, version }: Evolvable,
    list: "activities" | "machines",
    name: string,
    at: string,
  ): void {
    const known = listed(definition, list);
    if (known === undefined || known.includes(name)) return;
    this.#problems.problem(at, `names none of the ${list} of version ${version}: ${show(name)}`, () =>
      this.#problems.nearest.fix(name, known, `there are ${someOf(known)}`),
    );
  }

  #entries(key: string): (readonly [key: string, given: unknown, at: string])[] {
    const given = this.#parts[key];
    const place = inside(this.#place, key);
    if (given !== undefined && !isObject(given))
      this.#problems.problem(place, `is ${show(given)}`, "write an object");
    const entries = Object.entries(isObject(given) ? given : {});
    return entries.map(([name, value]) => [name, value, inside(place, name)] as const);
  }
}

const isAfter = (type: string): boolean => type.startsWith("after.");

function hasDelay(chart: Chart, type: string): boolean {
  return chart.nodes.some(({ delays }) => delays.some((delay) => delay.type === type));
}
