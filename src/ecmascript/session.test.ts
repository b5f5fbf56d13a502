/** Sessions: what code sees, what it may do, what of it survives a step, and what stops it. */
import { beforeAll, describe, expect, test } from "vitest";
import type { ModelScope } from "../core/data-model.ts";
import type { Event } from "../core/event.ts";
import type { Origin } from "../core/formats/scxml/source.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { Engine } from "./engine.ts";
import { Program } from "./program.ts";
import { Session } from "./session.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.load();
});

const at: Origin = { tag: "script", line: 3, column: 7 };

function scopeOf(parts: Partial<ModelScope> = {}): ModelScope {
  return {
    context: {},
    session: undefined,
    event: { type: "go" },
    machineId: "m",
    run: "r",
    at: 0,
    environment: {},
    in: () => false,
    fail: () => {},
    ...parts,
  };
}

/** One step: its code, and the context after it. */
function step(
  context: JsonObject,
  code: string,
  program = new Program(),
  parts: Partial<ModelScope> = {},
): JsonObject {
  program.scanScript(code);
  program.add(code, (runner) => runner.run(code, at));
  const scope = scopeOf({ ...parts, context });
  const session = new Session(engine, program, scope).enter(scope);
  try {
    session.run(code, at);
    session.note(code);
    return session.save();
  } finally {
    session.close();
  }
}

function ask(
  context: JsonObject,
  text: string,
  parts: Partial<ModelScope> = {},
  program = new Program(),
): Json | undefined {
  const scope = scopeOf({ ...parts, context });
  program.scan(text);
  const session = new Session(engine, program, scope).enter(scope);
  try {
    return session.value({ scxml: "expression", text, at });
  } finally {
    session.close();
  }
}

describe("variables survive from step to step", () => {
  test.each([
    ["a number", "v = 1.5", "v === 1.5"],
    ["text that is not well-formed", "v = '\\ud800'", "v === '\\ud800'"],
    ["undefined", "v = undefined", "typeof v === 'undefined' && 'v' in globalThis"],
    ["null", "v = null", "v === null"],
    [
      "what JSON has no number for",
      "v = [NaN, Infinity, -Infinity, -0]",
      "isNaN(v[0]) && v[1] === Infinity && v[2] === -Infinity && Object.is(v[3], -0)",
    ],
    ["a list with holes and undefined", "v = [1, , undefined]", "v.length === 3 && v[1] === undefined"],
    [
      "awkward keys",
      "v = { 'a/b': undefined, '~': undefined, '': 1 }",
      "'a/b' in v && '~' in v && v[''] === 1",
    ],
    [
      "a key that is dangerous elsewhere",
      "v = JSON.parse('{\"__proto__\": 1}')",
      "Object.keys(v)[0] === '__proto__' && v.__proto__ === 1",
    ],
    ["a date", "v = new Date(5)", "v instanceof Date && v.getTime() === 5"],
    ["a regular expression", "v = /a+/gi", "v instanceof RegExp && v.flags === 'gi' && v.test('xAA')"],
    ["a map", "v = new Map([['a', { b: undefined }]])", "v.get('a').b === undefined && 'b' in v.get('a')"],
    ["a set", "v = new Set([1, NaN])", "v.has(1) && v.has(NaN)"],
    ["two names for one object", "v = { a: {} }; w = v.a", "v.a === w"],
    ["a circle", "v = { list: [] }; v.list.push(v)", "v.list[0] === v"],
    ["a name that is also built in", "Map = 5; escape = 'x'", "Map === 5 && escape === 'x'"],
    ["a variable declared with var", "var v = 7", "v === 7"],
  ])("%s", (_, code, holds) => {
    const context = JSON.parse(JSON.stringify(step({}, code)));
    expect(ask(context, holds)).toBe(true);
  });

  test("plain values are kept as themselves, with nothing beside them", () => {
    expect(step({}, "var n = 1; o = { a: [true, 'x', null] }")).toEqual({
      n: 1,
      o: { a: [true, "x", null] },
    });
  });

  test("a context that did not change is the same object, and so are its parts", () => {
    const context = step({}, "a = { x: [1] }; b = { y: 2 }; c = undefined");
    expect(step(context, "a.x[0] = 1")).toBe(context);
    const next = step(context, "b.y = 3");
    expect(next.a).toBe(context.a);
    expect(next["#"]).toBe(context["#"]);
    expect(next.b).toEqual({ y: 3 });
  });

  test("a deleted variable is gone", () => {
    expect(step({ a: 1, b: 2 }, "delete globalThis.a")).toEqual({ b: 2 });
  });

  test.each([
    ["a symbol", "v = { w: Symbol('s') }", "v.w is a symbol"],
    ["an object of a class nobody can name", "v = new (class {})()", "class without a global name"],
  ])("%s is refused with its name", (_, code, reason) => {
    expect(() => step({}, code)).toThrow(reason);
  });
});

describe("functions are made again by running their code again", () => {
  /** Code in one step, then a question in the next, after a trip through JSON. */
  function later(codes: readonly string[], question: string): Json | undefined {
    const program = new Program();
    const context = codes.reduce<JsonObject>(
      (before, code) => JSON.parse(JSON.stringify(step(before, code, program))),
      {},
    );
    return ask(context, question, {}, program);
  }

  test.each([
    ["a declared function", ["function f(n) { return n + 1; }"], "f(1)", 2],
    ["a function in an object", ["o = { twice: (n) => n * 2, n: 4 }"], "o.twice(o.n)", 8],
    ["a function that reads variables", ["x = 1; get = () => x", "x = 5"], "get()", 5],
    ["one made from another", ["f = () => 3", "g = f"], "g()", 3],
    ["one that a function made", ["make = (n) => { made = () => n; }", "make(9)"], "made()", 9],
    ["the last of several", ["f = () => 1", "f = () => 2"], "f()", 2],
    [
      "an instance of a class",
      [
        "class P { constructor(x) { this.x = x; } get double() { return this.x * 2; } }; p = new P(4)",
        "p.x = 5",
      ],
      "p.double",
      10,
    ],
    [
      "an instance of a function",
      ["function P() { this.a = 0; } P.prototype.b = 7; p = new P()", "p.a = 1"],
      "p.a + p.b",
      8,
    ],
    ["a let", ["let n = 1; const c = { k: 1 }; const read = () => n", "n = 5; c.k = 2"], "read() + c.k", 7],
  ])("%s", (_, codes, question, answer) => {
    expect(later(codes, question)).toBe(answer);
  });

  test("constants keep what they hold, and names that scripts only mention stay what they are", () => {
    const constants =
      "const m = new Map([[1, 2]]), s = new Set([1]), l = [1], n = 5; let x = Math.max(1, 2); f = () => Math.min(3, x)";
    const changes = "m.set(3, 4); s.add(2); l.push(2); l.shift(); x = 9; y = Math.max(x, n)";
    expect(later([constants, changes], "[[...m], [...s], l, n, x, y, f()]")).toEqual([
      [
        [1, 2],
        [3, 4],
      ],
      [1, 2],
      [2],
      5,
      9,
      9,
      3,
    ]);
  });

  test("variables are as they were, not as the code that runs again would leave them", () => {
    expect(later(["count = 0; inc = () => ++count", "inc(); inc()"], "[count, inc()]")).toEqual([2, 3]);
  });

  test("code runs again only if it left functions behind", () => {
    const program = new Program();
    const context = step({}, "x = 1", program);
    expect(context).toEqual({ x: 1 });
    expect(step(context, "f = () => 1", program)["#"]).toMatchObject({ rerun: ["f = () => 1"] });
  });

  test("a function that cannot be made again says so when it is called", () => {
    const context = step({}, "o = { f: () => 1 }");
    expect(() => ask(context, "o.f()")).toThrow("The function o.f could not be made again");
  });

  test("code that fails when it runs again does not stop the rest", () => {
    const program = new Program();
    const first = step({ once: true }, "f = () => 1; if (!once) throw new Error('again')", program);
    expect(ask({ ...first, once: false }, "f()", {}, program)).toBe(1);
  });
});

describe("system variables", () => {
  const event: Event = { type: "e", data: { a: 1 }, sendId: "s", invokeId: "i", origin: "other" };

  test("tell of the session and the event", () => {
    const program = new Program();
    program.name = "doc";
    const scope = {
      event,
      run: "me",
      environment: { ioprocessors: { basichttp: { location: "http://h/" } }, y: 1 },
    };
    expect(
      ask(
        {},
        "[_sessionid, _name, _x.y, _ioprocessors.scxml.location, _ioprocessors.basichttp.location]",
        scope,
        program,
      ),
    ).toEqual(["me", "doc", 1, "#_scxml_me", "http://h/"]);
    expect(ask({}, "_event", scope)).toEqual({
      name: "e",
      type: "external",
      sendid: "s",
      origin: "#_scxml_other",
      origintype: "http://www.w3.org/TR/scxml/#SCXMLEventProcessor",
      invokeid: "i",
      data: { a: 1 },
    });
    expect(ask({}, "JSON.parse(_event.raw).data", scope)).toEqual({ a: 1 });
  });

  test("an event is of its kind, came the way it came, and has all its fields even where they are empty", () => {
    const ofEvent = (given: Event, text: string) => ask({}, text, { event: given });
    expect(
      ofEvent({ type: "e", kind: "internal" }, "[_event.type, typeof _event.origin, 'sendid' in _event]"),
    ).toEqual(["internal", "undefined", true]);
    expect(ofEvent({ type: "e", timer: "1.0" }, "_event.origin")).toBe("#_scxml_r");
    expect(
      ofEvent({ type: "e", originType: "http", raw: "POST" }, "[_event.origintype, _event.raw]"),
    ).toEqual(["http", "POST"]);
    expect(ofEvent({ type: "start", kind: "platform" }, "typeof _event")).toBe("undefined");
  });

  test("XML in an event arrives as a document, text that only looks like it as text", () => {
    const ofData = (data: Json, text: string) => ask({}, text, { event: { type: "e", data } });
    expect(ofData(" <a><b c='1'/></a>", "_event.data.getElementsByTagName('b')[0].getAttribute('c')")).toBe(
      "1",
    );
    expect(ofData("<a>", "_event.data")).toBe("<a>");
  });

  test.each([
    "_event",
    "_sessionid",
    "_name",
    "_ioprocessors",
    "_x",
    "In",
    "_event.name",
    "_ioprocessors.scxml.location",
  ])("%s cannot be assigned", (name) => {
    const scope = scopeOf();
    const session = new Session(engine, new Program(), scope).enter(scope);
    const assign = () => session.store({ scxml: "location", text: name, at }, 1);
    expect(assign).toThrow("read-only");
    session.close();
  });

  test("none of them is kept", () => {
    expect(step({}, "var _event = 1; e = _event.name")).toEqual({ e: "go" });
  });

  test("In asks the machine", () => {
    const asked: string[] = [];
    const within = (id: string) => {
      asked.push(id);
      return id === "#a.b";
    };
    expect(ask({}, "[In('a.b'), In('c')]", { in: within })).toEqual([true, false]);
    expect(asked).toEqual(["#a.b", "#c"]);
  });
});

describe("a step is a function of its input", () => {
  test("the time is the step's", () => {
    expect(
      ask(
        {},
        "[Date.now(), +new Date(), new Date(7).getTime(), new Date().constructor === Date, typeof Date()]",
        { at: 1000 },
      ),
    ).toEqual([1000, 1000, 7, true, "string"]);
  });

  test("chance is the run's: the same for the same run, going on from step to step", () => {
    const roll = "a = Math.random()";
    const one = step({}, roll);
    expect(step({}, roll)).toEqual(one);
    expect(step({}, roll, new Program(), { run: "other" }).a).not.toBe(one.a);
    const two = step(one, roll);
    expect(two.a).not.toBe(one.a);
    expect(two.a).toBeGreaterThanOrEqual(0);
    expect(two.a).toBeLessThan(1);
  });
});

describe("what code may not do", () => {
  test.each(["process", "require", "fetch", "setTimeout", "console", "WebAssembly", "Promise", "Buffer"])(
    "reach %s",
    (name) => {
      expect(ask({}, `typeof ${name}`)).toBe("undefined");
    },
  );

  test("find the host through a constructor or an import", () => {
    expect(ask({}, "Object.getOwnPropertyNames(In.constructor('return this')()).includes('process')")).toBe(
      false,
    );
    expect(() => step({}, "import('node:fs')")).toThrow();
  });

  test.each([
    ["loop for ever", "for (;;);", "interrupted"],
    ["loop for ever and catch it", "for (;;) { try { for (;;); } catch {} }", "interrupted"],
    ["recurse for ever", "(function f() { f(); })()", "stack"],
    ["take all memory in large pieces", "a = []; for (;;) a.push(Array(1000000).fill(0))", "memory"],
    ["take all memory in small pieces", "a = []; for (;;) a.push({})", "memory|interrupted"],
    ["make one thing too large", "'x'.repeat(20000000)", "memory"],
    ["search for ever", "/^(a+)+$/.test('a'.repeat(50) + 'b')", "interrupted"],
  ])("%s", (_, code, reason) => {
    expect(() => step({}, code)).toThrow(new RegExp(reason));
    expect(ask({}, "1 + 1")).toBe(2);
  });

  test("leave anything behind for another step", () => {
    step({}, "Array.prototype.last = 1; Object.prototype.x = 2");
    expect(ask({}, "[[].last, ({}).x]")).toEqual([null, null]);
  });

  test("errors name the element they happened in", () => {
    expect(() => step({}, "y")).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("line 3, column 7"),
        data: {
          tagname: "script",
          line: 3,
          column: 7,
          reason: expect.stringContaining("'y' is not defined"),
        },
      }),
    );
    expect(() => step({}, "throw { code: 5 }")).toThrow('{"code":5}');
    expect(() => step({}, "throw 'text'")).toThrow("text");
  });

  test.each(["Symbol('x')", "() => 1", "(() => { const a = {}; a.a = a; return a; })()"])(
    "%s cannot leave",
    (text) => {
      expect(() => ask({}, text)).toThrow();
    },
  );
});

describe("expressions and places", () => {
  const withSession = (context: JsonObject, use: (session: Session) => void): JsonObject => {
    const scope = scopeOf({ context });
    const session = new Session(engine, new Program(), scope).enter(scope);
    try {
      use(session);
      return session.save();
    } finally {
      session.close();
    }
  };
  const place = (text: string) => ({ scxml: "location", text, at }) as const;

  test("an expression may be an object, a function or end in a semicolon, but no statement", () => {
    expect(ask({}, "{ a: 1 }")).toEqual({ a: 1 });
    expect(ask({}, "new Date(3); ")).toBe("1970-01-01T00:00:00.003Z");
    expect(ask({}, "1 // one")).toBe(1);
    expect(ask({}, "undefined")).toBeUndefined();
    expect(() => ask({}, "return")).toThrow("SyntaxError");
    expect(() => ask({}, "")).toThrow("SyntaxError");
  });

  test("a place must exist; a part of a variable does", () => {
    expect(withSession({ o: { a: [1] } }, (session) => session.store(place("o.a[1]"), 2))).toEqual({
      o: { a: [1, 2] },
    });
    expect(withSession({ o: {} }, (session) => session.store(place("o['b']"), null))).toEqual({
      o: { b: null },
    });
  });

  test("assigning what is not there is an error, and leaves nothing", () => {
    expect(
      withSession({}, (session) => {
        expect(() => session.store(place("nowhere"), 1)).toThrow("'nowhere' is not defined");
        expect(() => session.store(place("a.b.c"), 1)).toThrow("'a' is not defined");
      }),
    ).toEqual({});
  });

  test("a loop runs over the array as it was, and makes its variables", () => {
    const seen: Json[] = [];
    const context = withSession({ list: ["a", "b"] }, (session) => {
      session.each({ scxml: "expression", text: "list", at }, place("one"), place("n"), () => {
        session.run("list.push(one)", at);
        seen.push(session.value({ scxml: "expression", text: "[one, n]", at }) as Json);
      });
    });
    expect(seen).toEqual([
      ["a", 0],
      ["b", 1],
    ]);
    expect(context).toEqual({ list: ["a", "b", "a", "b"], one: "b", n: 1 });
  });

  test.each([
    ["what is no array", "5", "one", "needs an array"],
    ["a name that is none", "[1]", "'x'", "not the name of a variable"],
    ["a reserved name", "[1]", "continue", "SyntaxError"],
    ["a system variable", "[1]", "_event", "read-only"],
  ])("a loop with %s is an error before its body runs", (_, array, item, reason) => {
    withSession({}, (session) => {
      const loop = () =>
        session.each({ scxml: "expression", text: array, at }, place(item), undefined, () => {
          throw new Error("the body ran");
        });
      expect(loop).toThrow(reason);
    });
  });
});
