/**
 * The names a definition declares, and those its states use. A definition that lists its guards, updates, machines,
 * activities or events lists all of them: a name that is not among them is a slip. One that lists none leaves them to
 * whoever implements or runs it.
 */
import type { Compiler, Names, Parts } from "./compiler.ts";
import type { MachineReference } from "./definition.ts";
import { isMachine } from "./intake.ts";
import { isObject } from "./json.ts";
import { inside, show, someOf } from "./problem.ts";
import { entriesAt, isName } from "./shape.ts";

type Kind = Parameters<Names["use"]>[0];

/** What the platform announces needs no declaration. */
const isPlatformType = (type: string): boolean => /^(done|error|unknown|after)\./.test(type);

export class Vocabulary implements Names {
  readonly #compiler: Compiler;
  readonly #declared: Readonly<Record<Kind, Parts | undefined>>;
  readonly #events: ReadonlySet<string> | undefined;
  /** Whether names may be bound later although some are declared. */
  readonly #open: boolean;
  readonly #missing = new Set<string>();
  readonly #raised = new Set<string>();
  readonly #maps = new Set<string>();
  /** Where events are listened to, to be compared with what is declared and raised when all is known. */
  readonly #heard: (readonly [type: string, place: string])[] = [];
  readonly descriptors = new Set<string>();
  readonly machines: Record<string, MachineReference> = {};
  readonly conditions: Names["conditions"] = new Map();

  constructor(compiler: Compiler, definition: Parts, open: boolean) {
    this.#compiler = compiler;
    this.#open = open;
    const declared = (key: string) => {
      const entries = entriesAt(compiler, definition[key], key);
      return entries.length === 0 ? undefined : (definition[key] as Parts);
    };
    this.#declared = {
      guard: declared("guards"),
      update: declared("updates"),
      machine: declared("machines"),
      activity: declared("activities"),
    };
    const events = declared("events");
    this.#events = events === undefined ? undefined : new Set(Object.keys(events));
    for (const event of this.#events ?? []) this.descriptors.add(event);
    this.#checkKinds("activities", definition.activities);
    this.#checkKinds("events", definition.events);
    for (const [name, machine] of Object.entries(this.#declared.machine ?? {})) {
      if (isMachine(machine)) this.machines[name] = machine;
      else compiler.problem(inside("machines", name), `is ${show(machine)}`, "give what defineMachine made");
    }
  }

  /** Events and activities are declared with what describes their payload. */
  #checkKinds(key: string, declared: unknown): void {
    for (const [name, value] of Object.entries(isObject(declared) ? declared : {})) {
      const describes = (typeof value === "object" && value !== null) || typeof value === "function";
      if (!describes)
        this.#compiler.problem(inside(key, name), `is ${show(value)}`, "write a schema, or {} for anything");
    }
  }

  get guards(): Parts {
    return this.#declared.guard ?? {};
  }

  get updates(): Parts {
    return this.#declared.update ?? {};
  }

  use(kind: Kind, name: string, place: string): void {
    const declared = this.#declared[kind];
    if (declared !== undefined && Object.hasOwn(declared, name)) return;
    const implemented = kind === "guard" || kind === "update";
    if (declared === undefined || this.#open) {
      if (implemented) this.#missing.add(`${kind} ${JSON.stringify(name)}`);
      return;
    }
    this.#compiler.problem(place, `names no ${kind}: ${show(name)}`, () => {
      const names = Object.keys(declared);
      return this.#compiler.nearest.fix(name, names, `there are ${someOf(names)}`);
    });
  }

  useActivity(name: unknown, place: string): void {
    if (isName(name)) this.use("activity", name, place);
    else this.#compiler.problem(place, `is ${show(name)}`, "name an activity");
  }

  machineName(machine: unknown, place: string): string | undefined {
    if (isMachine(machine)) {
      this.machines[machine.id] = machine;
      return machine.id;
    }
    if (typeof machine !== "string") return undefined;
    this.use("machine", machine, place);
    return machine;
  }

  raise(type: unknown): void {
    if (typeof type === "string") this.#raised.add(type);
  }

  beginMap(name: string): boolean {
    const isFirst = !this.#maps.has(name);
    this.#maps.add(name);
    return isFirst;
  }

  /** Events are listened to at this place. */
  hear(descriptors: readonly string[], place: string): void {
    for (const descriptor of descriptors) {
      this.descriptors.add(descriptor);
      this.#heard.push([descriptor, place]);
    }
  }

  /** Reports what is listened to and can never come. */
  checkEvents(): void {
    const events = this.#events;
    if (events === undefined) return;
    const known = [...new Set([...events, ...this.#raised])];
    for (const [type, place] of this.#heard) {
      if (events.has(type) || this.#raised.has(type) || type.endsWith("*") || isPlatformType(type)) continue;
      this.#compiler.problem(place, `is for an event the machine does not declare: ${show(type)}`, () =>
        this.#compiler.nearest.fix(type, known, `there are ${someOf(known)}`),
      );
    }
  }

  /** Named guards and updates that are used, and that the definition does not have. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }
}
