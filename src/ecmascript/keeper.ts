/**
 * How variables are kept that are more than JSON. This text is run in the sandbox, when there are such variables.
 *
 * They are kept as JSON all the same, and what JSON cannot say stands beside it in `kinds`, by JSON pointer:
 * `undefined`, `-0`, `NaN`, `date`, `regexp`, `map`, `set`, `xml`, `element`, `instance C` for an object of a class C,
 * `same /p` for a second reference to one object, and `function`, which is found again by re-running the code that made
 * it. Code that makes functions is re-run with the old variables in place, and they are put back in place after it.
 */
export const keeperSource = /* js */ `(function (frame, xml, lexicals) {
"use strict";
const scope = globalThis;
const { Array, Date, Error, JSON, Map, Number, Object, RegExp, Set, String, TypeError, eval: evaluate } = frame.globals;
let knownFunctions = new Map();

// Names that scripts declared with let, const or class: they are no properties of anything, so they are asked for.
function lexical(name) {
  if (name in scope || !/^[\\w$\\u0080-\\uffff]+$/.test(name)) return undefined;
  try {
    return { value: evaluate(name) };
  } catch {
    return undefined;
  }
}
function named(name) {
  return name in scope ? scope[name] : lexical(name)?.value;
}
function variables() {
  const scoped = lexicals.flatMap((name) => {
    const held = lexical(name);
    return held === undefined ? [] : [[name, held.value]];
  });
  return [...frame.variables().map((name) => [name, scope[name]]), ...scoped];
}
const step = (path, key) => path + "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1");
const keysOf = (path) => path.slice(1).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
const show = (path) => "The variable " + keysOf(path).join(".");
function put(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function encoder() {
  const kinds = {};
  const seen = new Map();
  const functions = new Map();
  const mark = (path, kind, value) => { kinds[path] = kind; return value; };
  function encode(value, path) {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        if (Object.is(value, -0)) return mark(path, "-0", 0);
        return Number.isFinite(value) ? value : mark(path, String(value), 0);
      case "undefined":
        return mark(path, "undefined", null);
      case "function":
        functions.set(path, value);
        return mark(path, "function", null);
      case "object":
        return value === null ? null : encodeObject(value, path);
      default:
        throw new TypeError(show(path) + " is a " + typeof value + ", which a state cannot keep");
    }
  }
  function encodeObject(value, path) {
    if (seen.has(value)) return mark(path, "same " + seen.get(value), null);
    seen.set(value, path);
    const items = () => Array.from(value, (item, index) => encode(item, step(path, index)));
    if (Array.isArray(value)) return items();
    const xmlKind = frame.xmlKind(value);
    if (xmlKind) return mark(path, xmlKind, value.toString());
    if (Date && value instanceof Date) return mark(path, "date", value.getTime());
    if (value instanceof RegExp) return mark(path, "regexp", [value.source, value.flags]);
    if (value instanceof Map) return mark(path, "map", items());
    if (value instanceof Set) return mark(path, "set", items());
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) kinds[path] = "instance " + classOf(prototype, path);
    const made = {};
    for (const key of Object.keys(value)) put(made, key, encode(value[key], step(path, key)));
    return made;
  }
  function classOf(prototype, path) {
    const maker = prototype.constructor;
    if (typeof maker === "function" && maker.prototype === prototype && named(maker.name) === maker) return maker.name;
    throw new TypeError(show(path) + " is an object of a class without a global name, which a state cannot keep");
  }
  return { kinds, functions, encode };
}

// Functions and classes can be found only once the code that makes them was re-run.
function decoder(kinds, remade) {
  const made = new Map();
  const references = [];
  function decode(value, path, place) {
    const [kind, detail] = Object.hasOwn(kinds, path) ? kinds[path].split(/ (.*)/) : [];
    switch (kind) {
      case "undefined": return undefined;
      case "NaN":
      case "Infinity":
      case "-Infinity":
      case "-0": return Number(kind);
      case "function": return remade ? functionAt(path) : undefined;
      case "xml": return keep(path, xml(value));
      case "element": return keep(path, xml(value).documentElement);
      case "date": return keep(path, new Date(value));
      case "regexp": return keep(path, new RegExp(...value));
      case "same": references.push({ place, of: detail }); return undefined;
    }
    if (typeof value !== "object" || value === null) return value;
    if (kind === "map" || kind === "set") {
      const items = fill([], value, path);
      return keep(path, kind === "map" ? new Map(items) : new Set(items));
    }
    const empty = Array.isArray(value) ? [] : kind === "instance" ? instanceOf(detail, path) : {};
    return fill(keep(path, empty), value, path);
  }
  function instanceOf(name, path) {
    const { prototype } = named(name) ?? {};
    if (remade && prototype === undefined) throw new TypeError(show(path) + " is of a class " + name + " that is no more");
    return Object.create(prototype ?? Object.prototype);
  }
  function fill(target, source, path) {
    for (const key of Object.keys(source)) put(target, key, decode(source[key], step(path, key), { target, key }));
    return target;
  }
  function keep(path, object) {
    made.set(path, object);
    return object;
  }
  function finish() {
    for (const { place, of } of references) put(place.target, place.key, made.get(of));
  }
  return { decode, finish };
}
// What re-run code made stands where it stood before.
function functionAt(path) {
  const [name, ...keys] = keysOf(path);
  const found = keys.reduce((object, key) => object?.[key], named(name));
  if (typeof found === "function") return found;
  return function () {
    throw new Error("The function " + keysOf(path).join(".") + " could not be made again; define functions in a <script>");
  };
}
function store(name, value) {
  const held = lexical(name);
  if (held === undefined) {
    frame.set(name, value);
    return;
  }
  try {
    evaluate("(function () { " + name + " = arguments[0]; })")(value);
  } catch {
    refill(held.value, value);
  }
}
// A constant is the object its script made; what it holds may have changed since.
function refill(object, value) {
  if (typeof object !== "object" || object === null) return;
  for (const key of Object.keys(object)) delete object[key];
  if (Array.isArray(object)) object.length = 0;
  if (object instanceof Map || object instanceof Set) object.clear();
  if (object instanceof Map) for (const [key, item] of value) object.set(key, item);
  else if (object instanceof Set) for (const item of value) object.add(item);
  else for (const key of Object.keys(value)) put(object, key, value[key]);
}

return {
  restore(json, remade) {
    const { data, kinds } = JSON.parse(json);
    const { decode, finish } = decoder(kinds, remade);
    const names = Object.keys(data).filter((name) => remade || kinds[step("", name)] !== "function");
    const holder = {};
    for (const name of names) put(holder, name, decode(data[name], step("", name), { target: holder, key: name }));
    finish();
    // Before their scripts ran again these were properties; now the scripts' own declarations count.
    if (remade) for (const name of names) if (lexicals.includes(name)) delete scope[name];
    for (const name of names) store(name, holder[name]);
  },
  rememberFunctions() {
    const { functions, encode } = encoder();
    for (const [name, value] of variables()) encode(value, step("", name));
    knownFunctions = functions;
  },
  save() {
    const { kinds, functions, encode } = encoder();
    const data = {};
    for (const [name, value] of variables()) put(data, name, encode(value, step("", name)));
    const grown = [...functions].some(([path, made]) => knownFunctions.get(path) !== made);
    return JSON.stringify({ data, kinds, grown });
  },
};
})`;
