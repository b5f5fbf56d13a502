/**
 * What is wrong with a definition, where, and what would be right. Whoever reads a definition reports here and goes on,
 * so that all problems are found at once. Nothing here runs anything of the definition, not even a `toJSON`.
 */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { Nearest } from "./nearest.ts";

/** One thing that is wrong: its place as the author wrote it, what is wrong there, and what would be right. */
export interface Problem {
  readonly path: string;
  readonly problem: string;
  readonly fix?: string;
}

/** What would be right; finding it out may take a while, and is left until the problem is listed. */
export type Fix = string | (() => string);

/** Who is told of a problem. */
export interface Reporter {
  problem(path: string, problem: string, fix?: Fix): void;
}

/** A place inside another, as authors write it: `states.a.on.go`, `on["order.*"]`, `entry[1]`. */
export function inside(place: string, ...keys: readonly (string | number)[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === "number") return `${path}[${key}]`;
    if (!/^[\p{L}\p{N}_$-]+$/u.test(key)) return `${path}[${JSON.stringify(key)}]`;
    return path === "" ? key : `${path}.${key}`;
  }, place);
}

/** The items of one or many, each with its place: a list has indices, what stands alone has none. */
export function itemsAt(given: unknown, place: string): readonly (readonly [item: unknown, place: string])[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return [[given, place]];
  return given.map((item, index) => [item, inside(place, index)] as const);
}

/** A few of many names, for people. */
export function someOf(names: readonly string[]): string {
  const shown = names.slice(0, limits.namesShownMax).join(", ");
  const others = names.length - limits.namesShownMax;
  return others > 0 ? `${shown} and ${others} more` : shown;
}

/** Any value as text short enough for a message; a function is never asked how it would like to be shown. */
export function show(value: unknown): string {
  const text = showPart(value, 3);
  return text.length > limits.valueShownMax ? `${text.slice(0, limits.valueShownMax)}…` : text;
}

function showPart(value: unknown, levels: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.slice(0, limits.valueShownMax));
    case "function":
      return "a function";
    case "object":
      return value === null ? "null" : showObject(value, levels);
    default:
      return String(value);
  }
}

function showObject(value: object, levels: number): string {
  if (levels === 0) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, limits.namesShownMax).map((item) => showPart(item, levels - 1));
    return `[${items.join(",")}]`;
  }
  const fields = Object.entries(value)
    .slice(0, limits.namesShownMax)
    .map(([key, item]) => `${JSON.stringify(key)}:${showPart(item, levels - 1)}`);
  return `{${fields.join(",")}}`;
}

/** What an error says; whoever threw it may have thrown anything. */
export function messageOf(error: unknown): string {
  try {
    const { message } = error as { readonly message?: unknown };
    return typeof message === "string" ? message : "something was thrown that is no error";
  } catch {
    return "something was thrown that cannot be shown";
  }
}

/** All problems found, each once, up to a bound; the last one says if there were more. */
export class Problems implements Reporter {
  readonly nearest = new Nearest();
  readonly #list: Problem[] = [];
  readonly #seen = new Set<string>();
  /** Where nothing more is said: what stands there could not be taken in, and whoever misses it would say so again. */
  readonly #silent = new Set<string>();
  /** From places in the expanded definition to places the author wrote. */
  readonly #origins = new Map<string, string>();
  #more = 0;

  /** Something at `place`, inside `parent`, could not be taken in. */
  unreadable(parent: string, place: string, problem: string, fix?: Fix): void {
    this.problem(place, problem, fix);
    this.#silent.add(parent).add(place);
  }

  /** Says that what stands at `expanded` came from what the author wrote at `written`. */
  origin(expanded: string, written: string): void {
    this.#origins.set(expanded, written);
  }

  problem(path: string, problem: string, fix?: Fix): void {
    if (this.#silent.has(path)) return;
    const place = this.#written(path) || "definition";
    const key = `${place} ${problem}`;
    if (this.#seen.has(key)) return;
    if (this.#list.length >= limits.problemsMax) {
      this.#more++;
      return;
    }
    this.#seen.add(key);
    this.#list.push(problemOf(place, problem, fix));
  }

  #written(path: string): string {
    if (this.#origins.size === 0) return path;
    for (
      let end = path.length;
      end > 0;
      end = Math.max(path.lastIndexOf(".", end - 1), path.lastIndexOf("[", end - 1))
    ) {
      const written = this.#origins.get(path.slice(0, end));
      if (written !== undefined) return written + path.slice(end);
    }
    return path;
  }

  get list(): readonly Problem[] {
    if (this.#more === 0) return this.#list;
    return [
      ...this.#list,
      { path: "definition", problem: `has ${this.#more} more problems than are listed here` },
    ];
  }
}

/** A problem as it is listed. */
export function problemOf(path: string, problem: string, fix: Fix | undefined): Problem {
  if (fix === undefined) return { path, problem };
  return { path, problem, fix: typeof fix === "string" ? fix : fix() };
}

/** A problem as one line. */
export function showProblem({ path, problem, fix }: Problem): string {
  return fix === undefined ? `${path} ${problem}` : `${path} ${problem}; ${fix}`;
}

/** The error that lists the problems of a machine. */
export function invalid(problems: readonly Problem[], id: unknown): HoldfastError {
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  const list = problems.map((problem) => `\n  ${showProblem(problem)}`).join("");
  return new HoldfastError("MACHINE_INVALID", `The machine ${show(id)} has ${count}:${list}`, {
    details: { problems },
  });
}
