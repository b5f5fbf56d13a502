/** Attacks written by hand: those every reader of YAML, XML, patterns, schemas or expressions has fallen for once. */
import type { Attack } from "./attack.ts";

const text = (...texts: string[]): Attack[] => texts.map((one) => ({ kind: "text", text: one }));
const expression = (...texts: string[]): Attack[] =>
  texts.map((one) => ({ kind: "expression", text: one, values: "large" }));
const scxml = (...texts: string[]): Attack[] => texts.map((one) => ({ kind: "scxml", text: one }));
const schema = (given: unknown, value: unknown): Attack => ({
  kind: "schema",
  schema: JSON.stringify(given),
  value: typeof value === "string" ? value : JSON.stringify(value),
});
const nested = (open: string, levels: number, close = "") => `${open.repeat(levels)}1${close.repeat(levels)}`;
const document = (inside: string) =>
  `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" initial="a"><state id="a">${inside}</state></scxml>`;

const laughs = Array.from(
  { length: 12 },
  (_, level) => `l${level + 1}: &l${level + 1} [${Array.from({ length: 9 }, () => `*l${level}`).join(", ")}]`,
);
const entities = Array.from(
  { length: 12 },
  (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
).join("");

const yaml = text(
  `l0: &l0 [x, x]\n${laughs.join("\n")}`,
  "a: &a { b: *a }",
  "id: m\nstates: &s { a: {} }\nmeta: { <<: *s }",
  "<<: { id: m }\nstates: { a: {} }",
  "id: !!js/function 'function () { process.exit(1) }'",
  "id: !!python/object/apply:os.system ['id']",
  "id: !!binary aGVsbG8=\nstates: { a: {} }",
  "%TAG ! tag:example.org,2026:\n---\nid: !thing x",
  `${nested("[", 100_000)}`,
  `${nested("[", 500, "]")}`,
  `a: ${nested("{a: ", 10_000, "}")}`,
  `a: ${"- ".repeat(20_000)}1`,
  `${"? ".repeat(20_000)}1`,
  Array.from({ length: 3_000 }, (_, level) => `${" ".repeat(level)}a:`)
    .join("\n")
    .slice(0, 250_000),
  `id: m\n${"x: 1\n".repeat(20_000)}`,
  `id: "${"\\u0041".repeat(40_000)}"`,
  `id: m\nstates: { "${"a".repeat(200_000)}": {} }`,
  `# ${"#".repeat(260_000)}`,
  `id: |\n${" x\n".repeat(50_000)}`,
  `${"&a ".repeat(40_000)}x`,
  `id: m\nstates:\n  __proto__: { on: { go: a } }\n  a: {}`,
  `{"id":"m","states":{"a":{"__proto__":{"polluted":true}}},"constructor":{"prototype":{"polluted":true}}}`,
  `{"id":"m","initial":"a","states":{"a":{}},"id":"n"}`,
  `{"id":${"9".repeat(100_000)}}`,
  `{"id":"m","states":{"a":{"after":{"1e400 days":"a"}}}}`,
  "\u0000\u0001\uFFFE",
  "\uD800".repeat(1_000),
);

const doubling = (step: string, times: number, last: string, first: string) =>
  `cel.bind(s, ${first}, ${`cel.bind(s, ${step}, `.repeat(times)}${last}${")".repeat(times + 1)}`;

const cel = expression(
  "context.list.map(a, context.list.map(b, context.list.map(c, a * b * c)))",
  "context.list.all(a, context.list.all(b, context.list.all(c, context.list.all(d, a + b + c + d >= 0))))",
  "context.list.exists(a, context.list.exists(b, 1 / (a - a) == b))",
  "context.list.filter(a, context.list.exists_one(b, context.list.exists_one(c, b == c)))",
  doubling("s + s", 40, "s.size()", "context.text"),
  doubling("s + s", 40, "s", "context.list"),
  doubling("[s, s]", 40, "s", "context"),
  doubling("[s, s]", 40, "s == s", "[1]"),
  doubling("[s, s]", 30, "[s] == [[s, s]]", "[1]"),
  doubling("{'a': s, 'b': s}", 40, "s", "1"),
  doubling("s.replace('', s)", 10, "s", "'ab'"),
  doubling("s.split('').join(s)", 10, "s", "'ab'"),
  "context.text.replace('a', context.text)",
  "context.text.split('').map(c, context.text)",
  "context.list.map(x, context.text).join(context.text)",
  "context.text.contains(context.text + 'b') || context.text.matches('(a*)*b')",
  "context.list.map(x, context.text.matches('^(a+)+$'))",
  "context.list.map(x, context.text.matches('((a|aa)+)+$'))",
  "context.text.matches('(.*a){20}')",
  "context.text.matches('((((a{1,10}){1,10}){1,10}){1,10}){1,10}')",
  "context.text.matches('[\\\\p{L}\\\\p{N}]{1000}')",
  "context.list.map(x, context.text.lastIndexOf('b' + context.text.substring(50000)))",
  "context.list.distinct() + context.list.map(x, context.list).distinct()",
  "context.list.map(x, context.deep == context.deep)",
  "context.list.map(x, string(x)).join(',').split(',').map(s, int(s)).sum()",
  "context.__proto__.polluted",
  "context.constructor.prototype",
  "{'__proto__': {'polluted': true}}",
  "{'constructor': 1}.constructor",
  "event.data.__proto__.constructor('return process')()",
  "context['__proto__']['polluted']",
  "process.exit(1)",
  "globalThis",
  "this.constructor.constructor('return 1')()",
  "import('node:fs')",
  `${"(".repeat(4_000)}1${")".repeat(4_000)}`,
  `${"!".repeat(8_000)}true`,
  `${"-".repeat(8_000)}1`,
  `1${"+1".repeat(4_000)}`,
  `context${".a".repeat(4_000)}`,
  `context${"[0]".repeat(2_700)}`,
  `${"[".repeat(4_000)}${"]".repeat(4_000)}`,
  `${"true ? ".repeat(1_100)}1${" : 1".repeat(1_100)}`,
  `'${"a".repeat(8_190)}'`,
  "9".repeat(8_000),
  `0x${"f".repeat(8_000)}`,
  `1e${"9".repeat(8_000)}`,
  `${"'a' + ".repeat(1_300)}'a'`,
  "9007199254740991 * 9007199254740991",
  "1 / 0",
  "duration(context.text)",
  "duration('1' + context.text.replace('a', ' ') + '!')",
  "timestamp('9999-99-99T99:99:99Z')",
  `duration('${"9".repeat(5_000)} days')`,
  "\u0000",
  "'\\ud800'",
);

const xml = scxml(
  `<!DOCTYPE scxml [<!ENTITY e0 "ha">${entities}]><scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0">&e12;</scxml>`,
  `<!DOCTYPE scxml [<!ENTITY x SYSTEM "file:///etc/passwd">]>${document("&x;")}`,
  `<!DOCTYPE scxml SYSTEM "http://127.0.0.1:9/x.dtd">${document("")}`,
  `<!DOCTYPE scxml [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p"> %p;]>${document("")}`,
  document('<onentry><script src="file:///etc/passwd"/></onentry>'),
  document('<invoke src="http://127.0.0.1:9/child.scxml"/>'),
  document('<invoke type="scxml"><content>&lt;scxml/&gt;</content></invoke>'),
  document(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>`),
  document(nested("<state>", 20_000)),
  nested("<state>", 100_000),
  document(`<onentry>${'<if cond="true">'.repeat(5_000)}`),
  document(`<transition event="${"a ".repeat(50_000)}" target="a"/>`),
  document(`<transition target="${"a ".repeat(20_000)}"/>`),
  document(`<state id="__proto__"/><state id="constructor"/>`),
  `${document("")}${document("")}`,
  "<",
  `<a ${"b='c' ".repeat(20_000)}/>`,
  `<?xml version="1.0" encoding="UTF-7"?>${document("")}`,
);

const levels = 60;
const explosion = Object.fromEntries(
  Array.from({ length: levels }, (_, level) => {
    const next = { $ref: level === levels - 1 ? "#/$defs/end" : `#/$defs/l${level + 1}` };
    return [`l${level}`, { anyOf: [next, next], properties: { a: next, b: next } }];
  }),
);
const deepSchema = (count: number): object => {
  let made: object = {};
  for (let index = 0; index < count; index++) made = { items: made };
  return made;
};

const schemas: Attack[] = [
  schema({ $ref: "#/$defs/l0", $defs: { ...explosion, end: { type: "string" } } }, 1),
  schema({ $ref: "#/$defs/l0", $defs: { ...explosion, end: { type: "string" } } }, { a: { a: { b: {} } } }),
  schema({ $ref: "#" }, 1),
  schema({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, 1),
  schema({ items: { $ref: "#" } }, nested("[", 5_000, "]")),
  schema({ $ref: "https://example.org/schema.json" }, 1),
  schema({ $ref: "file:///etc/passwd" }, 1),
  schema({ $id: "https://example.org", $schema: "https://example.org", $dynamicRef: "#a" }, 1),
  schema(deepSchema(3_000), []),
  schema({ anyOf: Array.from({ length: 20_000 }, () => ({})) }, 1),
  schema({ pattern: "^(a+)+$" }, JSON.stringify(`${"a".repeat(100_000)}!`)),
  schema(
    { items: { pattern: "(a|aa)*b{1,50}c" } },
    JSON.stringify(Array.from({ length: 200 }, () => "a".repeat(5_000))),
  ),
  schema({ pattern: "((a{1,100}){1,100}){1,100}" }, JSON.stringify("a".repeat(1_000))),
  schema(
    {
      patternProperties: Object.fromEntries(
        Array.from({ length: 150 }, (_, index) => [`^(a+)+${index}$`, {}]),
      ),
    },
    { ["a".repeat(5_000)]: 1 },
  ),
  schema(
    {
      patternProperties: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x{${index}}`, {}])),
    },
    {},
  ),
  schema({ uniqueItems: true }, JSON.stringify(Array.from({ length: 50_000 }, (_, index) => ({ index })))),
  schema({ enum: Array.from({ length: 50_000 }, (_, index) => index) }, JSON.stringify("x".repeat(10))),
  schema({ items: { enum: [{ a: 1 }] } }, JSON.stringify(Array.from({ length: 20_000 }, () => ({ a: 2 })))),
  schema({ type: "object", additionalProperties: true }, '{"__proto__":{"polluted":true}}'),
  schema({ type: "object", additionalProperties: true }, '{"constructor":{"prototype":{"polluted":true}}}'),
  schema({ properties: JSON.parse('{"__proto__":{"type":"object"}}') }, '{"__proto__":{"polluted":true}}'),
  schema({ format: "email" }, JSON.stringify(`${"a".repeat(50_000)}@${"a.".repeat(50_000)}`)),
  schema({ format: "uri" }, JSON.stringify(`a:${"%".repeat(100_000)}`)),
  schema({ format: "hostname" }, JSON.stringify("a-".repeat(50_000))),
  schema({ format: "date-time" }, JSON.stringify("T".repeat(50_000))),
  schema({ not: { not: { not: {} } }, const: "');process.exit(1);('" }, 1),
  schema(
    { properties: { "a'];process.exit(1)//": { minimum: 1 } }, required: ["`$" + "{process.exit(1)}`"] },
    {},
  ),
  { kind: "schema", schema: '{"type":"object","__proto__":{"polluted":true}}', value: "{}" },
];

const machine = (states: object, more: object = {}, events: unknown = [{ type: "go" }]): Attack => ({
  kind: "machine",
  json: JSON.stringify({ id: "m", initial: "a", states, ...more }),
  events: typeof events === "string" ? events : JSON.stringify(events),
});
const costly = "context.list.map(a, context.list.map(b, a * b)).size() > 0";
const list = Array.from({ length: 200 }, (_, index) => index);

const machines: Attack[] = [
  machine({ a: { always: "a" } }),
  machine({ a: { always: { target: "b" } }, b: { always: { target: "a" } } }),
  machine({ a: { entry: { raise: "go" }, on: { go: { target: "a", reenter: true } } } }),
  machine(
    { a: { on: { go: { update: { x: { cel: "context.x + context.x" } }, actions: [{ raise: "go" }] } } } },
    { start: { x: "aaaaaaaa" } },
  ),
  machine(
    { a: { on: { go: { update: { x: { cel: "[context.x, context.x]" } }, actions: [{ raise: "go" }] } } } },
    { start: { x: [1] } },
  ),
  machine(
    {
      a: { always: [{ guard: { cel: costly }, target: "b" }] },
      b: { always: [{ guard: { cel: costly }, target: "a" }] },
    },
    { start: { list } },
  ),
  machine(
    {
      a: { on: { go: Array.from({ length: 500 }, () => ({ guard: { cel: `!(${costly})` }, target: "a" })) } },
    },
    { start: { list } },
  ),
  machine({
    a: {
      type: "parallel",
      states: Object.fromEntries(
        Array.from({ length: 2_000 }, (_, index) => [`r${index}`, { on: { go: {} } }]),
      ),
    },
  }),
  machine(
    Object.fromEntries([["a", {}], ...Array.from({ length: 21_000 }, (_, index) => [`s${index}`, {}])]),
  ),
  machine({
    a: { on: { go: { update: { "__proto__.polluted": true, "constructor.prototype.polluted": true } } } },
  }),
  machine(
    { a: { on: { go: { update: { x: { cel: "event.data" } } } } } },
    {},
    '[{"type":"go","data":{"__proto__":{"polluted":true}}}]',
  ),
  machine(
    { a: { on: { go: { update: { x: { cel: "event.data" } } } } } },
    {},
    `[{"type":"go","data":${nested("[", 150, "]")}}]`,
  ),
  machine(
    { a: { on: { __proto__: "a", constructor: "a", toString: "a" } } },
    { events: { toString: true, constructor: true } },
    [{ type: "toString" }, { type: "constructor" }, { type: "__proto__" }],
  ),
  machine(
    { a: { invoke: { activity: "__proto__", input: { cel: "context" } } } },
    { activities: { constructor: { input: true } } },
  ),
  machine({ a: { on: { go: { guard: "constructor", update: "toString" } } } }),
  machine({ a: { after: { "99999999999 weeks": "a" } } }),
  machine({ a: { after: [{ delay: { cel: "1e308" }, target: "a" }] } }),
  machine({ a: { entry: Array.from({ length: 20_000 }, () => ({ log: { cel: "context" } })) } }),
];

/** All of them. */
export const byHand: readonly Attack[] = [...yaml, ...cel, ...xml, ...schemas, ...machines];
