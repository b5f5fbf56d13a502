/**
 * What is different between two definitions, in people's words, and which of it a run may need a migration for. Only
 * what can be known without a run is told: functions all look alike, and what the machine makes of a run that has moved,
 * with its guards and eventless transitions, shows when it is moved on trial.
 */
import { isLeaf, type StateNode } from "../chart.ts";
import type { Parts } from "../compiler.ts";
import { machineKeys } from "../definition.ts";
import { descriptorMatches } from "../event.ts";
import { isObject } from "../json.ts";
import { inside, itemsAt, show } from "../problem.ts";
import { hears, hearsAll } from "./events.ts";
import { pairInvocations } from "./invocations.ts";
import { identity } from "./mapping.ts";
import type { Evolvable } from "./move.ts";
import { said } from "./said.ts";
import { pairDelays } from "./timers.ts";
import { listed, writtenAt, writtenDelays, writtenInvocations } from "./written.ts";

export interface DefinitionChange {
  readonly kind: "added" | "removed" | "moved" | "changed";
  /** The place in the definition that has it. */
  readonly path: string;
  /** What is different, as a sentence. */
  readonly text: string;
  /** Whether a run may not get to the new definition without a migration because of it. */
  readonly breaks: boolean;
  /** What a migration would say of it. */
  readonly fix?: string;
}

export interface Comparison {
  readonly changes: readonly DefinitionChange[];
  /** Whether any of them may keep a run from getting to the new definition by itself. */
  readonly breaks: boolean;
}

/** What changed from one definition to the other. */
export function compareDefinitions(from: Evolvable, to: Evolvable): Comparison {
  const comparing = new Comparing(from, to);
  comparing.machine();
  comparing.states();
  const { changes } = comparing;
  return { changes, breaks: changes.some(({ breaks }) => breaks) };
}

type Told = Omit<DefinitionChange, "breaks"> & { readonly breaks?: boolean };

class Comparing {
  readonly changes: DefinitionChange[] = [];
  readonly #from: Evolvable;
  readonly #to: Evolvable;

  constructor(from: Evolvable, to: Evolvable) {
    this.#from = from;
    this.#to = to;
  }

  #tell({ breaks = false, ...change }: Told): void {
    this.changes.push({ ...change, breaks });
  }

  /** What belongs to the machine as a whole. */
  machine(): void {
    const [old, now] = [this.#from.definition, this.#to.definition] as [Parts, Parts];
    for (const key of ["context", "input", "output"])
      if (said(old[key]) !== said(now[key])) {
        const fix = key === "context" ? { fix: "give the migration a `context`", breaks: true } : {};
        this.#tell({ kind: "changed", path: key, text: `The schema of the ${key} is another`, ...fix });
      }
    this.#events(old, now);
    this.#activities(old, now);
    const models = [this.#from.chart.model.name, this.#to.chart.model.name];
    if (models[0] !== models[1])
      this.#tell({
        kind: "changed",
        path: "model",
        text: `The data model was ${models[0]}, and is ${models[1]}`,
        breaks: true,
        fix: "give the migration a `context`",
      });
    const told = [
      "id",
      "version",
      "context",
      "input",
      "output",
      "events",
      "activities",
      "unhandled",
      "model",
    ];
    for (const key of machineKeys)
      if (!told.includes(key) && said(old[key]) !== said(now[key]))
        this.#tell({ kind: "changed", path: key, text: `${show(key)} of the machine is another` });
  }

  /** Events that are heard, declared or kept for later; those that wait may find nobody to take them. */
  #events(old: Parts, now: Parts): void {
    const [before, after] = [this.#from.chart, this.#to.chart];
    const isOwn = (type: string) => !/^(done|error|after|unknown)\./.test(type);
    for (const type of before.descriptors.filter(isOwn))
      if (!after.descriptors.includes(type)) {
        const isLost = type.endsWith("*") || !hears(this.#to, type);
        const fix = `events: { ${JSON.stringify(type)}: … }`;
        this.#tell({
          kind: "removed",
          path: "events",
          text: `The event ${show(type)} is gone`,
          breaks: isLost,
          fix,
        });
      }
    for (const type of after.descriptors.filter(isOwn))
      if (!before.descriptors.includes(type))
        this.#tell({ kind: "added", path: "events", text: `The event ${show(type)} is new` });
    if (hearsAll(this.#from) && !hearsAll(this.#to)) {
      const text = "No state takes whatever comes any more";
      this.#tell({ kind: "removed", path: "events", text, breaks: true });
    }
    const schemas = [old.events ?? {}, now.events ?? {}] as [Parts, Parts];
    for (const [type, schema] of Object.entries(schemas[1]))
      if (Object.hasOwn(schemas[0], type) && said(schemas[0][type]) !== said(schema))
        this.#tell({
          kind: "changed",
          path: inside("events", type),
          text: `The schema of the event ${show(type)} is another`,
          breaks: true,
          fix: `events: { ${JSON.stringify(type)}: { type, data } }`,
        });
    const policies = [before.unhandled, after.unhandled];
    if (said(policies[0]) !== said(policies[1])) {
      const breaks = (["known", "unknown"] as const).some((key) => before.unhandled[key] === "defer");
      const text = "What becomes of events that nothing takes is another";
      this.#tell({ kind: "changed", path: "unhandled", text, breaks });
    }
  }

  #activities(old: Parts, now: Parts): void {
    const names = [listed(old, "activities") ?? [], listed(now, "activities") ?? []] as const;
    const isUndone = this.#from.chart.compensates;
    for (const name of names[0].filter((one) => names[1].length > 0 && !names[1].includes(one)))
      this.#tell({
        kind: "removed",
        path: inside("activities", name),
        text: `The activity ${show(name)} is gone`,
        breaks: isUndone && compensating(this.#from).has(name),
        fix: `activities: { ${JSON.stringify(name)}: … }`,
      });
    for (const name of names[1]) {
      const path = inside("activities", name);
      const isNew = !names[0].includes(name);
      if (isNew) this.#tell({ kind: "added", path, text: `The activity ${show(name)} is new` });
      else if (said((old.activities as Parts)[name]) !== said((now.activities as Parts)[name])) {
        const text = `The schemas of the activity ${show(name)} are others: what is under way is judged by the new ones`;
        this.#tell({ kind: "changed", path, text });
      }
    }
    if (isUndone && !this.#to.chart.compensates) {
      const text = "Nothing is compensated any more";
      this.#tell({ kind: "removed", path: "compensate", text, breaks: true, fix: "activities: { …: null }" });
    }
  }

  states(): void {
    const [before, after] = [this.#from.chart, this.#to.chart];
    const removed = before.nodes.filter((node) => isTop(node, after.byPath));
    const added = after.nodes.filter((node) => isTop(node, before.byPath));
    const moved = new Map(removed.flatMap((node) => this.#movedTo(node, added)));
    for (const node of removed) this.#removedState(node, moved.get(node));
    const arrived = new Set(moved.values());
    for (const node of added) if (!arrived.has(node)) this.#addedState(node);
    for (const node of before.nodes) {
      const now = after.byPath.get(node.path);
      if (now !== undefined) this.#shared(node, now);
    }
  }

  /** The new state that says the same as one that is gone; none if several do. */
  #movedTo(node: StateNode, added: readonly StateNode[]): [StateNode, StateNode][] {
    const says = (definition: object, { path }: StateNode) => said(writtenAt(definition, path));
    const text = says(this.#from.definition, node);
    const alike = added.filter((one) => says(this.#to.definition, one) === text);
    const named = alike.filter(({ key }) => key === node.key);
    // States that say next to nothing are all alike.
    const { type: _, ...content } = writtenAt(this.#from.definition, node.path);
    const [only, ...others] = named.length > 0 || Object.keys(content).length === 0 ? named : alike;
    return only === undefined || others.length > 0 ? [] : [[node, only]];
  }

  #removedState(node: StateNode, to: StateNode | undefined): void {
    const { path } = node;
    const breaks = node.kind !== "history";
    if (to === undefined)
      this.#tell({
        kind: "removed",
        path,
        text: `The ${nounOf(node)} ${show(path)} is gone${insideText(node)}`,
        breaks,
        fix: `states: { ${JSON.stringify(path)}: … }`,
      });
    else {
      const fix = `states: { ${JSON.stringify(path)}: ${JSON.stringify(to.path)} }`;
      this.#tell({
        kind: "moved",
        path,
        text: `${show(path)} seems to be ${show(to.path)} now`,
        breaks,
        fix,
      });
    }
  }

  #addedState(node: StateNode): void {
    const { path, parent } = node;
    const isRegion = parent?.kind === "parallel" && node.kind !== "history";
    const breaks = isRegion && this.#from.chart.byPath.get(parent.path)?.kind === "parallel";
    const text = `The ${isRegion ? "region" : nounOf(node)} ${show(path)} is new${insideText(node)}`;
    const fix = breaks ? { fix: "states: { …: […, …] }, with a state of each region" } : {};
    this.#tell({ kind: "added", path, text, breaks, ...fix });
  }

  /** A state that both have. */
  #shared(old: StateNode, now: StateNode): void {
    const { path } = old;
    if (old.kind !== now.kind) {
      const isRegion = now.parent?.kind === "parallel";
      const breaks = old.kind === "history" ? isRegion : !(isLeaf(now) && old.kind === "final");
      const fix = `states: { ${JSON.stringify(path)}: … }`;
      this.#tell({
        kind: "changed",
        path,
        text: `${show(path)} was ${old.kind}, and is ${now.kind}`,
        breaks,
        fix,
      });
    }
    this.#invocations(path);
    this.#delays(old, now);
    this.#deferrals(old, now);
    const parts = [writtenAt(this.#from.definition, path), writtenAt(this.#to.definition, path)] as const;
    this.#handlers(path, ...parts);
    const told = ["states", "invoke", "after", "defer", "on", "type", ...(path === "" ? machineKeys : [])];
    for (const key of new Set([...Object.keys(parts[0]), ...Object.keys(parts[1])])) {
      if (told.includes(key) || said(parts[0][key]) === said(parts[1][key])) continue;
      const breaks = key === "invariants";
      this.#tell({
        kind: "changed",
        path: at(path, key),
        text: `${placeText(path)} says something else in ${key}`,
        breaks,
      });
    }
  }

  #invocations(path: string): void {
    const before = writtenInvocations(this.#from.definition, path);
    const after = writtenInvocations(this.#to.definition, path);
    const pairs = pairInvocations(before, after, identity);
    const saidAt = ({ definition }: Evolvable, index: number) =>
      said(itemsAt(writtenAt(definition, path).invoke, "").at(index));
    const nameOf = ({ source, kind }: { source: string | undefined; kind: string }) =>
      show(source ?? `a computed ${kind}`);
    before.forEach((one, index) => {
      const place = pairs.get(index);
      if (place === undefined)
        this.#tell({
          kind: "removed",
          path: at(path, "invoke"),
          text: `${placeText(path)} does not invoke ${nameOf(one)} any more`,
          breaks: true,
          fix: `${one.kind === "activity" ? "activities" : "children"}: { ${JSON.stringify(one.source ?? "…")}: … }`,
        });
      else if (saidAt(this.#from, index) !== saidAt(this.#to, place)) {
        const text = `${placeText(path)} invokes ${nameOf(one)} in another way; what is under way goes on as it began`;
        this.#tell({ kind: "changed", path: at(path, "invoke"), text });
      }
    });
    const known = new Set(pairs.values());
    for (const [index, one] of after.entries())
      if (!known.has(index)) {
        const text = `${placeText(path)} invokes ${nameOf(one)} now; it begins in runs that are there`;
        this.#tell({ kind: "added", path: at(path, "invoke"), text });
      }
  }

  #delays(old: StateNode, now: StateNode): void {
    const [before, after] = [
      writtenDelays(this.#from.definition, old.path),
      writtenDelays(this.#to.definition, now.path),
    ];
    const pairs = pairDelays({ from: this.#from, to: this.#to, mapping: identity }, { old, now });
    const path = at(old.path, "after");
    for (const [index, { type }] of old.delays.entries()) {
      const place = now.delays.findIndex((delay) => delay.type === pairs.get(type));
      if (place < 0) {
        const text = `${placeText(old.path)} has no timer of ${timeText(before[index])} any more`;
        const fix = `events: { ${JSON.stringify(type)}: … }`;
        this.#tell({ kind: "removed", path, text, breaks: true, fix });
      } else if (before[index] !== after[place]) {
        const text = `${placeText(old.path)} waits for ${timeText(after[place])} instead of ${timeText(before[index])}; what is pending keeps its time`;
        this.#tell({ kind: "changed", path, text });
      }
    }
    const known = new Set(pairs.values());
    for (const [index, { type }] of now.delays.entries())
      if (!known.has(type)) {
        const text = `${placeText(old.path)} has a timer of ${timeText(after[index])} now; it begins in runs that are there`;
        this.#tell({ kind: "added", path, text });
      }
  }

  #deferrals({ path, defer: before }: StateNode, { defer: after }: StateNode): void {
    const { matching, unhandled } = this.#to.chart;
    const all = unhandled.known === "defer" && unhandled.unknown === "defer";
    for (const type of before) {
      if (all || after.some((descriptor) => descriptorMatches(descriptor, type, matching))) continue;
      const text = `${placeText(path)} does not defer ${show(type)} any more`;
      const fix = `events: { ${JSON.stringify(type)}: null }`;
      this.#tell({ kind: "removed", path: at(path, "defer"), text, breaks: true, fix });
    }
    for (const type of after)
      if (!before.includes(type))
        this.#tell({
          kind: "added",
          path: at(path, "defer"),
          text: `${placeText(path)} defers ${show(type)} now`,
        });
  }

  #handlers(path: string, { on: before }: Parts, { on: after }: Parts): void {
    const place = at(path, "on");
    if (!isObject(before ?? {}) || !isObject(after ?? {})) {
      if (said(before) !== said(after))
        this.#tell({ kind: "changed", path: place, text: `${placeText(path)} has other handlers` });
      return;
    }
    const [old, now] = [before ?? {}, after ?? {}] as [Parts, Parts];
    for (const type of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (said(old[type]) === said(now[type])) continue;
      const kind = !Object.hasOwn(old, type) ? "added" : Object.hasOwn(now, type) ? "changed" : "removed";
      const verb = { added: "takes", changed: "takes", removed: "does not take" }[kind];
      const how = { added: " now", changed: " in another way", removed: " any more" }[kind];
      this.#tell({ kind, path: inside(place, type), text: `${placeText(path)} ${verb} ${show(type)}${how}` });
    }
  }
}

/** Whether a state is not among others, and the one around it is, or is the machine itself. */
function isTop({ path, parent }: StateNode, others: ReadonlyMap<string, StateNode>): boolean {
  return !others.has(path) && others.has((parent as StateNode).path);
}

/** The activities that undo others. */
function compensating({ chart }: Evolvable): ReadonlySet<string> {
  return new Set(
    chart.nodes.flatMap(({ invokes }) => invokes.flatMap(({ compensate }) => compensate?.activity ?? [])),
  );
}

const at = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);
const placeText = (path: string): string => (path === "" ? "The machine" : show(path));
const nounOf = ({ kind }: StateNode): string => (kind === "history" ? "history" : "state");
const timeText = (delay: string | undefined): string =>
  Number.isNaN(Number(delay)) ? "a computed delay" : `${delay} ms`;

function insideText({ index, last }: StateNode): string {
  const count = last - index;
  return count === 0 ? "" : count === 1 ? ", with the one inside" : `, with the ${count} inside`;
}
