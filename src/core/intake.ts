/**
 * Taking a definition in: a plain copy of whatever was given, so that nobody after this meets a getter, a proxy, a cycle,
 * a class or a key that reaches a prototype. Nothing of the definition is run: a getter is a problem, not a value.
 * What is code by nature stays as it is: functions, schemas, machines and the data model.
 */
import { limits } from "../limits.ts";
import type { Parts } from "./compiler.ts";
import type { MachineReference } from "./definition.ts";
import { isObject } from "./json.ts";
import { inside, messageOf, type Problems, show } from "./problem.ts";

/** A plain copy of a definition; what cannot be copied is reported and left out. Undefined if nothing is left. */
export function takeIn(given: unknown, problems: Problems): Parts | undefined {
  const intake = new Intake(problems);
  const copy = intake.take(given, "", "");
  if (intake.isTooLarge) return undefined;
  if (isObject(copy)) return copy;
  problems.problem("", `is ${show(copy)}`, "a machine is defined by an object with an id and states");
  return undefined;
}

/** Whether a value is a machine, which only code can make: it has a function. */
export function isMachine(value: unknown): value is MachineReference {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof own(value, "implement") === "function" &&
    typeof own(value, "id") === "string" &&
    typeof own(value, "chart") === "object"
  );
}

/** Whether a value gives itself out as a schema of a validation library; nothing of it is read. https://standardschema.dev */
export function isSchemaLike(value: unknown): boolean {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") && "~standard" in value
  );
}

function own(value: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

class Intake {
  readonly #problems: Problems;
  /** The objects around the one at hand. */
  readonly #open: object[] = [];
  #left: number = limits.definitionValuesMax;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  get isTooLarge(): boolean {
    return this.#left < 0;
  }

  take(value: unknown, parent: string, place: string): unknown {
    if (--this.#left < 0) return this.#tooLarge();
    if (typeof value === "bigint" || typeof value === "symbol") {
      this.#problems.unreadable(parent, place, `is a ${typeof value}`, "a definition is JSON, and functions");
      return undefined;
    }
    if (typeof value !== "object" || value === null) return value;
    try {
      return this.#takeObject(value, parent, place);
    } catch (error) {
      this.#problems.unreadable(parent, place, `cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  #tooLarge(): undefined {
    const most = limits.definitionValuesMax.toLocaleString("en");
    this.#problems.unreadable("", "definition", "is too large", `a definition has at most ${most} values`);
  }

  #takeObject(value: object, parent: string, place: string): unknown {
    if (isMachine(value) || isSchemaLike(value)) return value;
    const { length: depth } = this.#open;
    const wrong = this.#open.includes(value)
      ? "contains itself"
      : depth >= limits.definitionDepthMax
        ? `is nested deeper than ${limits.definitionDepthMax} levels`
        : kindProblem(value);
    if (wrong !== undefined) {
      this.#problems.unreadable(parent, place, wrong, "a definition is JSON, and functions");
      return undefined;
    }
    this.#open.push(value);
    try {
      return Array.isArray(value) ? this.#takeList(value, place) : this.#takeRecord(value, place);
    } finally {
      this.#open.pop();
    }
  }

  #takeList(list: readonly unknown[], place: string): unknown[] {
    const copy: unknown[] = [];
    for (let index = 0; index < list.length && this.#left >= 0; index++)
      copy.push(this.#takeField(list, String(index), place, inside(place, index)));
    return copy;
  }

  #takeRecord(record: object, place: string): object {
    const copy: Record<string, unknown> = {};
    for (const key of Reflect.ownKeys(record)) {
      if (this.#left < 0) break;
      if (Object.getOwnPropertyDescriptor(record, key)?.enumerable !== true) continue;
      if (typeof key === "symbol") {
        this.#problems.unreadable(place, place, `has the key ${String(key)}`, "keys are text");
        continue;
      }
      const at = inside(place, key.slice(0, limits.keyLengthMax));
      if (key === "__proto__") this.#problems.problem(at, "is no key anybody may use", "leave it out");
      else if (key.length > limits.keyLengthMax)
        this.#problems.unreadable(
          place,
          at,
          "is a key that is too long",
          `a key has at most ${limits.keyLengthMax} characters`,
        );
      else {
        // The data model is code, and nobody's but the machine's own.
        const isModel = place === "" && key === "model";
        const value = isModel ? own(record, key) : this.#takeField(record, key, place, at);
        if (value !== undefined) copy[key] = value;
      }
    }
    return copy;
  }

  #takeField(owner: object, key: string, parent: string, place: string): unknown {
    const field = Object.getOwnPropertyDescriptor(owner, key);
    if (field?.get === undefined && field?.set === undefined) return this.take(field?.value, parent, place);
    this.#problems.unreadable(parent, place, "is a getter or setter", "write the value itself");
    return undefined;
  }
}

/** What keeps an object from being a list or a plain record. */
function kindProblem(value: object): string | undefined {
  if (Array.isArray(value)) return undefined;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return undefined;
  const maker = own(prototype, "constructor");
  const name = typeof maker === "function" ? own(maker, "name") : undefined;
  return `is an instance of ${typeof name === "string" && name !== "" ? name : "a class"}`;
}
