/** Expressions: what they give, what is refused when they are read, what fails when they run, and what they may cost. */
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { Patterns } from "../pattern.ts";
import { Budget, checkSize, newPurse } from "./budget.ts";
import { compileText } from "./compile.ts";
import {
  bool,
  double,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  record,
  showType,
  string,
  type Type,
  unionOf,
} from "./static-type.ts";

const context = record(
  {
    n: int,
    price: double,
    name: string,
    flag: bool,
    list: listOf(int),
    names: listOf(string),
    maybe: unionOf([int, nullType]),
    open: mapOf(double),
    inner: record({ a: string }),
    any: dyn,
  },
  ["price", "inner"],
);
const value = {
  ...{ n: 7, name: "ada", flag: true, list: [3, 1, 2], names: ["b", "a"], maybe: null, open: { x: 1.5 } },
  any: { deep: [1, { k: "v" }] },
};
const variables = [
  { name: "context", type: context as Type },
  { name: "event", type: dyn },
];

function evaluate(text: string, event: unknown = { type: "e" }): unknown {
  const { run } = compileText(text, { variables, patterns: new Patterns() });
  return run({ slots: [value, event], budget: new Budget(), scope: undefined });
}

function codeOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return undefined;
}

test.each<[string, unknown]>([
  ["context.n + 1", 8],
  ["'b' < 'a'", false],
  ["'a' <= 'a'", true],
  ["'b' > 'a'", true],
  ["'abc'.indexOf('c')", 2],
  ["'😀c'.indexOf('c')", 1],
  ["int(-0.5)", 0],
  ["int(2.5)", 2],
  ["context.any.?deep[0].orValue(9)", 1],
  ["timestamp('1970-01-02T00:00:00Z')", 86_400_000],
  ["timestamp('1970-03-01T00:00:00Z')", 59 * 86_400_000],
  ["context.n - 1.5", 5.5],
  ["context.n / 2", 3],
  ["-context.n / 2", -3],
  ["context.n / 2.0", 3.5],
  ["double(context.n) / 2", 3.5],
  ["context.any.deep[0] / 2", 0.5],
  ["context.n % 4", 3],
  ["0 * -1", 0],
  ["0x10 + 1e2", 116],
  ["'a' + 'b'", "ab"],
  ["[1] + [2, 3]", [1, 2, 3]],
  ["1 == 1.0", true],
  ["[1, {'a': 2}] == [1.0, {'a': 2}]", true],
  ["[1] == [1, 2]", false],
  ["dyn([1]) == dyn({'a': 1})", false],
  ["{'a': 1} == {'b': 1}", false],
  ["'abc' != 'abd'", true],
  ["'a' < 'b' && 'b' >= 'b' && !(2 <= 1) && 2 > 1", true],
  ["false < true", true],
  ["2 in context.list", true],
  ["'x' in context.open", true],
  ["'toString' in context.open", false],
  ["context.flag ? 'yes' : 'no'", "yes"],
  ["!context.flag ? 'yes' : 'no'", "no"],
  ["context.list[1]", 1],
  ["context.open['x']", 1.5],
  ["context['name']", "ada"],
  ["context.any.deep[1].k", "v"],
  ["context.?price.orValue(2.5)", 2.5],
  ["context.?n.orValue(2)", 7],
  ["context.?inner.a.hasValue()", false],
  ["context.any.?x.?y.orValue('none')", "none"],
  ["context.list[?9].orValue(0)", 0],
  ["context.list[?0].orValue(0)", 3],
  ["event.?data", undefined],
  ["has(context.price)", false],
  ["has(context.n)", true],
  ["has(event.data.x)", "EXPRESSION_FAILED"],
  ["has(context.any.deep)", true],
  ["{'a': 1, 'b': [null, true]}", { a: 1, b: [null, true] }],
  ["cel.bind(x, context.n, x * x)", 49],
  ["cel.bind(x, 1, cel.bind(y, 2, [x, y]))", [1, 2]],
  ["context.list.all(x, x > 0)", true],
  ["context.list.exists(x, x > 2)", true],
  ["context.list.exists_one(x, x > 1)", false],
  ["context.list.filter(x, x > 1)", [3, 2]],
  ["context.list.map(x, x * 2)", [6, 2, 4]],
  ["context.list.map(x, x > 1, x * 2)", [6, 4]],
  ["context.open.map(k, k)", ["x"]],
  [
    "context.list.map(x, context.list.map(y, x * y))",
    [
      [9, 3, 6],
      [3, 1, 2],
      [6, 2, 4],
    ],
  ],
  ["[1, 'a'].exists(x, x == 'a' || x > 5)", true],
  ["[0, 1].exists(x, 1 / x == 1)", true],
  ["[0, 1].all(x, 1 / x == 2)", false],
  ["size('a😀') + size([1]) + size({'a': 1}) + 'ab'.size()", 6],
  ["context.name.contains('d') && context.name.startsWith('a') && context.name.endsWith('a')", true],
  ["'a😀b'.indexOf('b')", 2],
  ["'abcabc'.lastIndexOf('b')", 4],
  ["'a😀bc'.substring(1, 3)", "😀b"],
  ["'abc'.substring(1)", "bc"],
  ["'aXbX'.replace('X', '-')", "a-b-"],
  ["'ab'.replace('', '.')", ".a.b."],
  ["'a,b'.split(',')", ["a", "b"]],
  ["context.names.join('+') + ['a'].join()", "b+aa"],
  ["'  Ab '.trim().lowerAscii() + 'é'.upperAscii()", "abé"],
  ["'abc-12'.matches('^[a-z]+-[0-9]+$')", true],
  ["context.list.sum() + context.list.min() + context.list.max()", 10],
  ["[1, 1, 2, 1.0].distinct()", [1, 2]],
  ["string(1.5) + string(true) + string('x')", "1.5truex"],
  ["int('-12') + int(3.9)", -9],
  ["double('1.5e1') + double(1)", 16],
  ["bool('true') && bool(true)", true],
  ["math.greatest(1, 2.5) + math.least(1, 2) + math.abs(-1)", 4.5],
  ["math.ceil(1.2) + math.floor(1.8) + math.round(1.5)", 5],
  ["duration('2 days') / 86400000", 2],
  ["timestamp('1970-01-02T00:00:00.5Z')", 86_400_500],
  ["timestamp('2024-02-29T23:59:59-01:30')", 1_709_256_599_000],
  ["inState('a')", false],
  ["true || 1 / 0 == 1", true],
  ["1 / 0 == 1 || true", true],
  ["1 / 0 == 1 && false", false],
  ["context.maybe == null", true],
])("%s", (text, expected) => {
  if (expected === "EXPRESSION_FAILED") expect(codeOf(() => evaluate(text))).toBe(expected);
  else expect(evaluate(text)).toEqual(expected);
});

test.each([
  ["context.amount", "asks for a field"],
  ["context.nam", "did you mean name?"],
  ["contxt.n", "did you mean context?"],
  ["x", "names nothing that is known"],
  ["context.name + 1", "string + int"],
  ["context.n + context.list", "do not go together"],
  ["context.flag + context.flag", "do not go together"],
  ["context.any + context.flag", "do not go together"],
  ["context.flag < 1", "do not go together"],
  ["1 == 'a'", "int == string"],
  ["'a' in context.list", "do not go together"],
  ["1 in 2", "do not go together"],
  ["!context.n", "true and false"],
  ["-context.name", "for numbers"],
  ["context.n && true", "beside &&"],
  ["context.n ? 1 : 2", "before ?"],
  ["context.n.x", "has no fields"],
  ["context.list['a']", "do not go together"],
  ["context[1]", "do not go together"],
  ["{1: 2}", "as a key"],
  ["nothing(1)", "is not there"],
  ["siz(1)", "did you mean size?"],
  ["size(1)", "it takes"],
  ["context.name.shout()", "is not there"],
  ["context.n.map(x, x)", "for lists and objects"],
  ["context.list.map(1, 2)", "cannot be read"],
  ["context.list.filter(x, x)", "asks for true or false"],
  ["has(context)", "has() takes a field"],
  ["cel.bind(1, 2, 3)", "cannot be read"],
  ["cel.bind(x, 2)", "cel.bind takes"],
  ["context.?price.size()", "may be absent"],
  ["context.name.matches(context.name)", "written out"],
  ["context.n.matches('a')", "for texts"],
  ["context.name.matches('(')", "cannot be used"],
  ["b'a'", "bytes"],
  ["1u", "unsigned"],
  ["99999999999999999999", "kept exactly"],
  ["1 +", "cannot be read"],
  ["", "cannot be read"],
  ["__proto__", "cannot be read"],
  ["context.__proto__", "is not there"],
  ["context.constructor", "is not there"],
])("%s is refused: %s", (text, why) => {
  expect(() => evaluate(text)).toThrow(why);
});

test.each([
  ["context.any.deep - 1"],
  ["context.any * context.any"],
  ["context.price"],
  ["context.any.nothing"],
  ["context.any.deep.x"],
  ["context.any['deep'][9]"],
  ["context.any[1]"],
  ["context.any.deep['a']"],
  ["context.any.constructor"],
  ["context.any.__proto__"],
  ["context.any + 1"],
  ["context.any < 1"],
  ["1 in dyn(1)"],
  ["context.maybe + 1"],
  ["-context.maybe"],
  ["dyn(1) && true"],
  ["dyn(1) ? 1 : 2"],
  ["1 / 0"],
  ["1.0 / 0"],
  ["1 % 0"],
  ["9007199254740991 + 1"],
  ["1e308 * 10"],
  ["int(1e300)"],
  ["int('a')"],
  ["double('a')"],
  ["bool('a')"],
  ["timestamp('yesterday')"],
  ["timestamp('2023-02-29T00:00:00Z')"],
  ["timestamp('2023-04-31T00:00:00Z')"],
  ["timestamp('2023-01-01T24:00:00Z')"],
  ["'abc'.substring(2, 9)"],
  ["[1].join()"],
  ["dyn(['a']).sum()"],
  ["[].min()"],
  ["dyn(1).map(x, x)"],
  ["dyn(1).size()"],
  ["dyn(1).matches('a')"],
  ["[context.?price]"],
  ["{'a': context.?price}"],
  ["[1].map(x, context.?price)"],
  ["{dyn(1): 2}"],
  ["[0].all(x, 1 / x == 1)"],
  ["1 / 0 == 1 || false"],
])("%s fails when it runs", (text) => {
  expect(codeOf(() => evaluate(text))).toBe("EXPRESSION_FAILED");
});

test.each([
  ["int", "context.n + 1"],
  ["double", "context.n + 1.0"],
  ["double", "context.any + 1"],
  ["string", "context.any + 'a'"],
  ["list<dyn>", "context.any + [1]"],
  ["int or string", "context.flag ? 1 : 'a'"],
  ["optional<int>", "context.?n"],
  ["list<list>", "context.list.map(x, [[x]])"],
  ["object", "context.inner"],
])("the type %s is told of %s", (type, text) => {
  expect(showType(compileText(text, { variables, patterns: new Patterns() }).type)).toBe(type);
});

describe("the budget", () => {
  const big = Array.from({ length: 1_000 }, (_, index) => index);
  const given = { list: big, text: "a".repeat(100_000) };

  test.each([
    ["event.list.map(a, event.list.map(b, event.list.map(c, a * b * c)))"],
    ["event.list.exists(a, event.list.exists(b, event.list.exists(c, a + b + c < 0)))"],
    ["event.list.all(a, event.list.all(b, a + b >= 0) || true)"],
    [
      `${"cel.bind(s, event.text, ".repeat(1)}${Array.from({ length: 20 }, () => "cel.bind(s, s + s, ").join("")}s${")".repeat(21)}`,
    ],
    ["cel.bind(s, event.text, s.replace('a', s).size())"],
    ["event.list.map(x, event.text).join('').size()"],
    ["event.list.map(x, event.text.matches('(a|aa)*b'))"],
    ["event.list.distinct()"],
    ["event.list.map(x, event.text == event.text + '')"],
    ["event.list.map(x, event.text.split(''))"],
    ["event.list.map(x, event.text.contains('b'))"],
  ])("%s costs too much", (text) => {
    expect(codeOf(() => evaluate(text, given))).toBe("EXPRESSION_TOO_COSTLY");
  });

  test("a value that contains itself many times is too large to give, and cheap to make", () => {
    const bomb = `cel.bind(a, [1], ${Array.from({ length: 25 }, () => "cel.bind(a, [a, a], ").join("")}a${")".repeat(26)}`;
    const made = evaluate(bomb);
    expect(codeOf(() => checkSize(made))).toBe("EXPRESSION_TOO_COSTLY");
    expect(codeOf(() => evaluate(`cel.bind(x, ${bomb}, x == ${bomb})`))).toBe("EXPRESSION_TOO_COSTLY");
  });

  test("the limit of steps is the last that is let through", () => {
    const budget = new Budget();
    budget.spend(limits.expressionStepsMax);
    expect(codeOf(() => budget.spend(1))).toBe("EXPRESSION_TOO_COSTLY");
  });

  test("all expressions of a step share a purse", () => {
    const purse = newPurse();
    for (let spent = 0; spent < limits.expressionStepsPerStepMax; spent += limits.expressionStepsMax)
      new Budget(purse).spend(limits.expressionStepsMax);
    expect(() => new Budget(purse).spend(1)).toThrow("of this step");
  });

  test("the limit of a result is the last that is let through", () => {
    checkSize(Array.from({ length: limits.expressionResultMax - 1 }, () => null));
    expect(() => checkSize(Array.from({ length: limits.expressionResultMax }, () => null))).toThrow("parts");
  });
});

test("the limits of an expression's text and nesting are the last that are let through", () => {
  const chain = (parts: number) => Array.from({ length: parts }, () => "1").join("+");
  expect(evaluate(chain(limits.expressionDepthMax + 1))).toBe(limits.expressionDepthMax + 1);
  expect(() => evaluate(chain(limits.expressionDepthMax + 2))).toThrow("nested deeper");
  const text = (length: number) => `"${"a".repeat(length - 2)}"`;
  expect(evaluate(text(limits.expressionLengthMax))).toHaveLength(limits.expressionLengthMax - 2);
  expect(() => evaluate(text(limits.expressionLengthMax + 1))).toThrow("is longer than");
  expect(() => evaluate(`${"(".repeat(100)}1${")".repeat(100)}`)).toThrow("cannot be read");
  expect(() => evaluate(`${"!".repeat(8_000)}true`)).toThrow("nested deeper");
});
