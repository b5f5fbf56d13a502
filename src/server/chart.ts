/** A machine's chart for drawing: states and transitions as plain data, with labels for what is code. */
import type { StateNode, TransitionNode } from "../core/chart.ts";
import { isObject } from "../core/json.ts";
import type { AnyMachine } from "../runtime/registry.ts";
import type { Chart, ChartState, ChartTransition } from "./contract/machines.ts";
import { definitionOf, type Parts } from "./definition.ts";

export function chartOf({ chart, definition }: AnyMachine): Chart {
  const states = chart.nodes.map(
    (node): ChartState => stateOf(node, definitionOf(definition, node), chart.id),
  );
  const transitions = chart.nodes.flatMap((node) =>
    [...node.transitions, ...node.eventless].map((one) => {
      const state = definitionOf(definition, node);
      return transitionOf(one, state, partsOf(one, node, state));
    }),
  );
  return { states, transitions };
}

function stateOf(node: StateNode, state: Parts, id: string): ChartState {
  return {
    ...{ path: node.path, key: node.parent === undefined ? id : node.key, parent: node.parent?.path ?? null },
    type: node.kind,
    ...(node.kind === "history" ? { history: node.deep ? ("deep" as const) : ("shallow" as const) } : {}),
    initial: (node.initial?.targets ?? []).map(({ path }) => path),
    tags: [...node.tags],
    ...(typeof state.description === "string" ? { description: state.description } : {}),
    invokes: listOf(state.invoke).map(invokeOf),
    entry: actionsOf(state.entry),
    exit: actionsOf(state.exit),
    defers: [...node.defer],
  };
}

function invokeOf(invoke: Parts): ChartState["invokes"][number] {
  const { id, activity, machine } = invoke;
  const source = nameOf(activity ?? machine);
  return {
    ...(typeof id === "string" ? { id } : {}),
    ...{ kind: activity === undefined ? "machine" : "activity", source },
  };
}

function nameOf(source: unknown): string {
  if (typeof source === "string") return source;
  if (isObject(source) && typeof source.id === "string") return source.id;
  return "computed";
}

/** What a transition was made from: by its kind and its place among those of its key. */
function partsOf(transition: TransitionNode, node: StateNode, state: Parts): Parts | undefined {
  const { descriptors, platform } = transition;
  const all = descriptors.length === 0 ? node.eventless : node.transitions;
  const same = all.filter(
    (one) => one.descriptors.join() === descriptors.join() && one.platform === platform,
  );
  const index = same.indexOf(transition);
  const written = descriptors.length === 0 ? state.always : writtenFor(transition, state);
  const one = [written].flat(1)[index] as unknown;
  return isObject(one) ? (one as Parts) : undefined;
}

function writtenFor({ descriptors, platform }: TransitionNode, state: Parts): unknown {
  const [type = ""] = descriptors;
  if (!platform) {
    const { on } = state;
    if (!Array.isArray(on)) return (on as Parts | undefined)?.[type];
    return on.filter((one: Parts) => [one.event].flat().join() === descriptors.join());
  }
  if (type.startsWith("done.state.")) return state.onDone;
  const [, kind, id] = /^(done|error|unknown)\.invoke\.(.*)$/s.exec(type) ?? [];
  if (kind !== undefined) {
    const invokes = listOf(state.invoke);
    const invoke = invokes.find((one) => one.id === id) ?? invokes[0];
    return invoke?.[kind === "done" ? "onDone" : kind === "error" ? "onError" : "onUnknown"];
  }
  const delay = /^after\..*\.(\d+)$/s.exec(type)?.[1];
  if (delay === undefined) return undefined;
  return Array.isArray(state.after)
    ? state.after[Number(delay)]
    : Object.values((state.after ?? {}) as Parts)[Number(delay)];
}

function transitionOf(one: TransitionNode, state: Parts, parts: Parts | undefined): ChartTransition {
  const { trigger, label, delay, of } = triggerOf(one, state);
  return {
    ...{ id: String(one.index), source: one.source.path, targets: one.targets.map(({ path }) => path) },
    ...{ trigger, events: [...one.descriptors], label },
    ...(delay === undefined ? {} : { delay }),
    ...(of === undefined ? {} : { of }),
    ...(one.guard === undefined ? {} : { guard: guardText(parts?.guard) }),
    reenter: one.reenter,
    ...(typeof parts?.description === "string" ? { description: parts.description } : {}),
    actions: [
      ...(parts?.update === undefined ? [] : [labelOf("update", parts.update)]),
      ...actionsOf(parts?.actions),
    ],
  };
}

type Trigger = Pick<ChartTransition, "trigger" | "label" | "delay" | "of">;

function triggerOf({ descriptors, platform }: TransitionNode, state: Parts): Trigger {
  const [type = ""] = descriptors;
  if (descriptors.length === 0) return { trigger: "always", label: "always" };
  if (!platform) return { trigger: "event", label: descriptors.join(", ") };
  if (type.startsWith("done.state.")) return { trigger: "done", label: "done" };
  const [, end, id] = /^(done|error|unknown)\.(?:invoke|map)\.(.*)$/s.exec(type) ?? [];
  if (end !== undefined)
    return { trigger: end as "done" | "error" | "unknown", label: `${end} ${id}`, of: id as string };
  const index = /^after\..*\.(\d+)$/s.exec(type)?.[1];
  if (index === undefined) return { trigger: "event", label: type };
  const { after } = state;
  const given: unknown = Array.isArray(after)
    ? (after[Number(index)] as Parts | undefined)?.delay
    : Object.keys((after ?? {}) as Parts)[Number(index)];
  const delay =
    typeof given === "number" || /^\d+$/.test(String(given))
      ? `${given} ms`
      : typeof given === "string"
        ? given
        : "a while";
  return { trigger: "after", label: `after ${delay}`, delay };
}

/** A guard in few words. */
export function guardText(guard: unknown): string {
  if (typeof guard === "string") return guard;
  if (typeof guard === "function")
    return guard.name === "" || guard.name === "guard" ? "condition" : guard.name;
  const parts = (isObject(guard) ? guard : {}) as Parts;
  const list = (items: unknown, word: string) => (items as unknown[]).map(guardText).join(` ${word} `);
  if (typeof parts.in === "string") return `in ${parts.in}`;
  if (Array.isArray(parts.and)) return `(${list(parts.and, "and")})`;
  if (Array.isArray(parts.or)) return `(${list(parts.or, "or")})`;
  if (parts.not !== undefined) return `not ${guardText(parts.not)}`;
  if (parts.error !== undefined) return [parts.error].flat().join(" or ");
  for (const key of ["type", "cel", "text"]) if (typeof parts[key] === "string") return parts[key];
  return "condition";
}

function actionsOf(actions: unknown): string[] {
  return listOf(actions, true).map((action) => {
    const [[kind, what] = ["action", undefined]] = Object.entries(action);
    return labelOf(kind, what);
  });
}

function labelOf(kind: string, what: unknown): string {
  const given =
    typeof what === "function" ? what.name : isObject(what) ? (what.type ?? what.cel ?? what.machine) : what;
  const name = typeof given === "string" && given !== kind && given !== "" ? ` ${given}` : "";
  return `${kind}${name}`.slice(0, 80);
}

const listOf = (value: unknown, isNested = false): Parts[] =>
  (value === undefined ? [] : [value].flat(isNested ? 2 : 1)).filter((one) => isObject(one)) as Parts[];
