/** What is wrong with an agent's definition beyond its types, told when it is made and not by the turn that comes to it. */
import { isObject } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";

/** What is looked at, whatever it is. */
interface Said {
  readonly id: unknown;
  readonly tools?: object | undefined;
  readonly whenBusy?: unknown;
  readonly budget?: unknown;
  readonly parallel?: unknown;
  readonly revisions?: unknown;
  readonly window?: unknown;
}

const busyPolicies = ["reject", "enqueue", "interrupt", "rollback"];
const budgets = ["steps", "tokens", "cost"];

/** Throws AGENT_INVALID for what cannot be meant. */
export function checkDefinition(said: Said): void {
  const { id, tools = {}, whenBusy = "reject", budget = {}, parallel = 1, revisions = 0 } = said;
  const refuse = (what: string): never => {
    throw new HoldfastError("AGENT_INVALID", `The agent ${show(id)} ${what}`);
  };
  for (const name of Object.keys(tools)) if (!isToolName(name)) refuse(toolNameProblem(name));
  if (!busyPolicies.includes(whenBusy as string))
    refuse(`has whenBusy: ${show(whenBusy)}; write one of ${busyPolicies.join(", ")}`);
  if (!isObject(budget)) refuse(`has a budget of ${show(budget)}; give ${budgets.join(", ")}`);
  for (const [what, amount] of Object.entries(budget as object))
    if (!budgets.includes(what) || !(typeof amount === "number" && amount >= 0))
      refuse(`has a budget of ${show(amount)} ${what}; give numbers for ${budgets.join(", ")}`);
  const problem = windowProblem(said.window ?? {});
  if (problem !== undefined) refuse(problem);
  if (!isWhole(parallel, 1)) refuse(`has parallel: ${show(parallel)}; write how many tools, 1 at least`);
  if (!isWhole(revisions, 0)) refuse(`has revisions: ${show(revisions)}; write how often, 0 or more`);
}

function windowProblem(window: unknown): string | undefined {
  if (!isObject(window)) return `has a window that is ${show(window)}; give budget, keepRecent and others`;
  const { budget = 1, keepRecent = 0, summarise } = window as Readonly<Record<string, unknown>>;
  if (!(typeof budget === "number" && budget > 0))
    return `has a window with a budget of ${show(budget)}; write how many tokens`;
  if (!isWhole(keepRecent, 0))
    return `has a window with keepRecent: ${show(keepRecent)}; write how many units, 0 or more`;
  if (summarise !== undefined && typeof summarise !== "function")
    return `has a window with summarise: ${show(summarise)}; give a function`;
  return undefined;
}

/** What every provider takes for the name of a tool. */
export const isToolName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name);

export const toolNameProblem = (name: string): string =>
  `has a tool ${show(name)}; models take letters, digits, _ and -, 64 of them at most`;

const isWhole = (value: unknown, min: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= min;
