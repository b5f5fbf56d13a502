/**
 * Shorthand, expanded to plain states. It is the first thing that happens to a definition, so that whoever looks at a
 * machine (its chart, a diagram, a checker, another format) sees states, transitions and invocations and nothing else.
 * Expressions are passed on as they are, in whatever language they are written. What is wrong with an expanded part is
 * reported at the place the author wrote.
 */
import { limits } from "../../limits.ts";
import type { Parts } from "../compiler.ts";
import type { MachineDefinition } from "../definition.ts";
import { takeIn } from "../intake.ts";
import { isObject } from "../json.ts";
import { inside, invalid, Problems } from "../problem.ts";
import { partsAt } from "../shape.ts";
import { expandApproval } from "./approval.ts";
import { expandAttempt } from "./attempt.ts";
import { type Budget, Expansion } from "./expansion.ts";
import { expandMap, statesPerWorker } from "./map.ts";

/** How each shorthand is written and expanded, and which parts its state then cannot have of its own. */
const shorthands = {
  attempt: { shape: "attempt", expand: expandAttempt, replaces: ["invoke"] },
  map: {
    shape: "map over a list",
    expand: expandMap,
    replaces: ["type", "initial", "states", "invoke", "onDone"],
  },
  approval: { shape: "approval", expand: expandApproval, replaces: [] },
} as const;

type Name = keyof typeof shorthands;
const names = Object.keys(shorthands) as Name[];

/**
 * The definition with all shorthand expanded: what `machine.definition` is. Throws MACHINE_INVALID if shorthand is not
 * well-formed; other problems are left to `validate`.
 */
export function expand(definition: MachineDefinition): MachineDefinition {
  const problems = new Problems();
  const taken = takeIn(definition, problems);
  const expanded = taken && expandShorthand(taken, problems);
  const { list } = problems;
  if (list.length > 0) throw invalid(list, taken?.id);
  return expanded as unknown as MachineDefinition;
}

/** The same definition, of plain parts only. What cannot be expanded is reported and left out. */
export function expandShorthand(definition: Parts, problems: Problems): Parts {
  return expandState(definition, [], "", { problems, workersLeft: limits.statesMax / statesPerWorker });
}

function expandState(state: Parts, path: readonly string[], place: string, budget: Budget): Parts {
  const own = expandOwn(state, path, place, budget);
  if (!isObject(own.states)) return own;
  const states: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(own.states))
    states[key] = isObject(child)
      ? expandState(child, [...path, key], inside(place, "states", key), budget)
      : child;
  return { ...own, states };
}

function expandOwn(state: Parts, path: readonly string[], place: string, budget: Budget): Parts {
  const used = names.filter((name) => state[name] !== undefined);
  const [name, ...others] = used;
  if (name === undefined) return state;
  const { attempt: _attempt, map: _map, approval: _approval, ...plain } = state;
  for (const other of others)
    budget.problems.problem(
      inside(place, other),
      `cannot be together with ${name}`,
      "put one into a state of its own",
    );
  const written = inside(place, name);
  if (path.length === 0) {
    budget.problems.problem(written, "cannot be on a machine", "put it into a state");
    return plain;
  }
  const { shape, expand, replaces } = shorthands[name];
  for (const key of replaces)
    if (plain[key] !== undefined)
      budget.problems.problem(
        inside(place, key),
        `cannot be together with ${name}`,
        "put one into a state of its own",
      );
  const parts = partsAt(budget.problems, state[name], shape, written);
  const expansion = new Expansion(plain, path, place, budget);
  if (isObject(state[name])) expand(parts, expansion, written);
  return expansion.state;
}
