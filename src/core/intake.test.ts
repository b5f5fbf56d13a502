/** Definitions from anywhere: hostile keys, getters, proxies, cycles, sizes. Nothing of them is run, and nothing gets through. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineMachine, limits, type MachineDefinition, validate } from "../index.ts";

const lines = (definition: unknown): string[] =>
  validate(definition).map(
    ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
  );
const ofState = (a: unknown) => lines({ id: "m", initial: "a", states: { a } });
const plain = "a definition is JSON, and functions";

describe("what a definition cannot hold", () => {
  test("bigints, symbols and instances of classes", () => {
    class Thing {}
    const nameless = Object.create(Object.create(null)) as object;
    const disguised = Object.create({ constructor: { name: "Object" } }) as object;
    expect(
      ofState({ meta: [5n, Symbol("s"), new Date(0), new Thing(), nameless, disguised, new Map()] }),
    ).toEqual([
      `states.a.meta[0] is a bigint; ${plain}`,
      `states.a.meta[1] is a symbol; ${plain}`,
      `states.a.meta[2] is an instance of Date; ${plain}`,
      `states.a.meta[3] is an instance of Thing; ${plain}`,
      `states.a.meta[4] is an instance of a class; ${plain}`,
      `states.a.meta[5] is an instance of a class; ${plain}`,
      `states.a.meta[6] is an instance of Map; ${plain}`,
    ]);
  });

  test("symbols for keys, and keys that reach a prototype", () => {
    expect(ofState({ [Symbol("s")]: 1 })).toEqual(["states.a has the key Symbol(s); keys are text"]);
    const proto = JSON.parse('{ "__proto__": { "polluted": true }, "start": { "__proto__": [] } }') as object;
    expect(
      lines({ id: "m", initial: "a", states: { a: {} }, ...{}, on: proto, start: { x: proto } }),
    ).toEqual([
      "on.__proto__ is no key anybody may use; leave it out",
      "on.start.__proto__ is no key anybody may use; leave it out",
      "start.x.__proto__ is no key anybody may use; leave it out",
      "start.x.start.__proto__ is no key anybody may use; leave it out",
    ]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const named = { id: "m", initial: "a", states: { a: { on: { constructor: "a" } }, prototype: {} } };
    expect(lines(named)).toEqual([
      "states.prototype is a name that every object has already; choose another",
      "states.a.on.constructor is a name that every object has already; choose another",
    ]);
    expect(lines({ id: "m", initial: "a", states: { a: {} }, start: { constructor: "of bridges" } })).toEqual(
      [],
    );
  });

  test("cycles, but the same part twice is fine", () => {
    const loop: Record<string, unknown> = { states: {} };
    loop.states = { loop };
    expect(lines({ id: "m", initial: "a", states: { a: loop } })[0]).toBe(
      `states.a.states.loop contains itself; ${plain}`,
    );
    const shared = { on: { go: "b" } };
    expect(lines({ id: "m", initial: "a", states: { a: shared, b: shared } })).toEqual([]);
  });

  test("more levels than the limit says", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { x: nested(levels - 1) });
    // The definition itself, `states` and the state are three.
    expect(ofState({ meta: nested(limits.definitionDepthMax - 3) })).toEqual([]);
    expect(ofState({ meta: nested(limits.definitionDepthMax - 2) })[0]).toContain(
      `is nested deeper than ${limits.definitionDepthMax} levels; ${plain}`,
    );
  });

  test("more values than the limit says, however they are multiplied", () => {
    const others = 7;
    const listOf = (length: number) => ({
      id: "m",
      initial: "a",
      states: { a: {} },
      start: { list: Array(length).fill(0) },
    });
    expect(lines(listOf(limits.definitionValuesMax - others))).toEqual([]);
    const tooLarge = "definition is too large; a definition has at most 500,000 values";
    expect(lines(listOf(limits.definitionValuesMax - others + 1))).toEqual([tooLarge]);
    let bomb: unknown = "ha";
    for (let level = 0; level < 30; level++) bomb = [bomb, bomb, bomb];
    expect(ofState({ meta: bomb })).toEqual([tooLarge]);
    const keys = Object.fromEntries(
      Array.from({ length: limits.definitionValuesMax }, (_, index) => [`k${index}`, 1]),
    );
    expect(ofState({ meta: keys })).toEqual([tooLarge]);
    expect(ofState({ meta: new Array(4_000_000_000) })).toEqual([tooLarge]);
  });

  test("keys and paths longer than the limits say", () => {
    expect(ofState({ on: { ["x".repeat(limits.keyLengthMax)]: "a" } })).toEqual([]);
    expect(ofState({ on: { ["x".repeat(limits.keyLengthMax + 1)]: "a" } })).toEqual([
      `states.a.on.${"x".repeat(limits.keyLengthMax)} is a key that is too long; a key has at most 1024 characters`,
    ]);
    const deep = (length: number) =>
      ofState({ initial: "x".repeat(length), states: { ["x".repeat(length)]: {} } });
    expect(deep(limits.statePathLengthMax - 2)).toEqual([]);
    expect(deep(limits.statePathLengthMax - 1)[0]).toContain(
      "has too long a path; it has at most 1024 characters",
    );
  });
});

describe("nothing of a definition is run", () => {
  const never = (): never => {
    throw new Error("this was run");
  };

  test("no getter, and no method that JSON or text would call", () => {
    const trap = {
      get target() {
        return never();
      },
      set guard(_: unknown) {},
    };
    expect(ofState({ on: { go: trap } })).toEqual([
      "states.a.on.go.target is a getter or setter; write the value itself",
      "states.a.on.go.guard is a getter or setter; write the value itself",
    ]);
    const list = Object.defineProperty(["a"], 0, { get: never, enumerable: true });
    expect(ofState({ tags: list })).toEqual([
      "states.a.tags[0] is a getter or setter; write the value itself",
    ]);
    const shown = { toJSON: never, toString: never, [Symbol.toPrimitive]: undefined };
    const { [Symbol.toPrimitive]: _, ...methods } = shown;
    for (const part of [
      "on",
      "always",
      "after",
      "entry",
      "invoke",
      "defer",
      "tags",
      "initial",
      "type",
      "output",
    ])
      expect(ofState({ [part]: part === "defer" ? [methods] : methods }).join()).not.toContain(
        "this was run",
      );
    expect(ofState({ on: [{ event: methods, target: methods }] })).toHaveLength(2);
  });

  test("no guard, update or expression", () => {
    const a = {
      entry: { update: never },
      on: { go: { guard: never } },
      invoke: { activity: never, input: never },
    };
    expect(lines({ id: "m", start: never, initial: "a", states: { a }, guards: { never } })).toEqual([]);
  });

  test("proxies that throw, lie or are revoked are problems like any other", () => {
    const throwing = new Proxy({}, { ownKeys: never });
    expect(ofState(throwing)[0]).toBe("states.a cannot be read: this was run");
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(ofState({ on: proxy })[0]).toMatch(/^states\.a\.on cannot be read: /);
    let reads = 0;
    const changing = new Proxy({ id: "m", initial: "a", states: { a: {} } } as MachineDefinition, {
      getOwnPropertyDescriptor(target, key) {
        if (key === "initial") reads++;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
    const machine = defineMachine(changing);
    const before = reads;
    expect(machine.definition.initial).toBe("a");
    expect(reads).toBe(before);
  });
});

describe("what is code stays as it is", () => {
  test("functions, schemas, machines and the data model", () => {
    const schema = z.object({ n: z.number() });
    const guard = () => true;
    const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
    const machine = defineMachine({
      ...({ context: schema } as object),
      id: "m",
      guards: { guard },
      machines: { child },
      events: { go: schema },
      start: { n: 1 },
      initial: "a",
      states: { a: { invoke: { machine: child }, on: { go: { guard: "guard" } } } },
    });
    const definition = machine.definition as unknown as MachineDefinition & { context?: unknown };
    expect(definition.context).toBe(schema);
    expect(definition.events?.go).toBe(schema);
    expect(definition.guards?.guard).toBe(guard);
    expect(definition.machines?.child).toBe(child);
    expect(ofState({ meta: z.string() })).toEqual([]);
    expect(lines({ id: "m", initial: "a", states: { a: {} }, output: schema })).toEqual([]);
  });

  test("only what code made is a machine, and hidden fields are not looked at", () => {
    const forged = { id: "child", version: 1, chart: {}, definition: {}, implement: "yes" };
    expect(lines({ id: "m", initial: "a", states: { a: {} }, machines: { forged } })[0]).toContain(
      "machines.forged is ",
    );
    const hidden = Object.defineProperty({}, "secret", { value: 5n, enumerable: false });
    expect(ofState(hidden)).toEqual([]);
    expect(ofState({ on: undefined, onn: undefined })).toEqual([]);
  });
});
