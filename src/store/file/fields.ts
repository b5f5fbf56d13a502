/** Reading values of JSON that people may have edited: each field is what it should be, or an error says which is not. */

const objects = (value: unknown): value is object => typeof value === "object" && value !== null;

export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    if (!objects(value) || Array.isArray(value)) throw new Error(`${shorten(value)} should be an object`);
    this.#values = value as Readonly<Record<string, unknown>>;
  }

  text(name: string): string {
    return this.#is(name, "text", (value) => typeof value === "string");
  }

  /** One of these texts. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    return this.#is(name, `one of ${choices.join(", ")}`, (value) => choices.includes(value as Choice));
  }

  number(name: string): number {
    return this.#is(name, "a number", (value) => typeof value === "number");
  }

  /** A whole number that is not negative: a count, a checkpoint or a place in a file. */
  count(name: string): number {
    return this.#is(name, "a count", (value) => Number.isSafeInteger(value) && (value as number) >= 0);
  }

  object<Value extends object>(name: string): Value {
    return this.#is(name, "an object", (value) => objects(value) && !Array.isArray(value));
  }

  list(name: string): readonly unknown[] {
    return this.#is(name, "a list", Array.isArray);
  }

  /** The field by itself, read in this way if it is there; to be spread into the record it is of. */
  optional<Name extends string, Value>(
    name: Name,
    read: (this: Fields, name: Name) => Value,
  ): { [Field in Name]?: Value } {
    const there = this.#values[name] !== undefined;
    return (there ? { [name]: read.call(this, name) } : {}) as { [Field in Name]?: Value };
  }

  /** Whether a field is there and true. */
  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  get(name: string): unknown {
    return this.#values[name];
  }

  #is<Value>(name: string, what: string, fits: (value: unknown) => boolean): Value {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    if (!fits(value)) throw new Error(`“${name}” should be ${what} and is ${shorten(value)}`);
    return value as Value;
  }
}

function shorten(value: unknown): string {
  return (JSON.stringify(value) ?? "not there").slice(0, 60);
}
