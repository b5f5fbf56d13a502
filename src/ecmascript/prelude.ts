/**
 * What every sandbox begins with: the system variables, `In`, a clock and chance that belong to the step, and the way
 * variables come in from JSON and go out again. This text is run in the sandbox, before anything of the document.
 *
 * Variables are kept as plain JSON. What JSON cannot say stands beside it in `kinds`, by JSON pointer: `undefined`,
 * `-0`, `NaN`, `date`, `regexp`, `map`, `set`, `xml`, `element`, `instance C`, `same /p` for a second reference to one
 * object, and `function` for a function inside an object, which is found again by re-running the code that made it.
 */
export const preludeSource = /* js */ `(function (hostIn, makeDom) {
"use strict";
const scope = globalThis;
// Documents may give these names to variables of their own.
const { Array, Error, JSON, Map, Math, Number, Object, Reflect, RegExp, Set, String, TypeError } = scope;
const evaluate = eval;
// Wide enough; classes of Unicode characters would take the engine a millisecond to set up.
const identifier = /^[\\w$\\u0080-\\uffff]+$/;
let system = {};
let event;
let dom;
let chance = 0;
let at = 0;
let lexicals = [];
let knownFunctions = new Map();

for (const name of ["_sessionid", "_name", "_ioprocessors", "_x"])
  Object.defineProperty(scope, name, { get: () => system[name], enumerable: false });
Object.defineProperty(scope, "_event", { get: () => event, enumerable: false });
Object.defineProperty(scope, "In", { value: (id) => hostIn(String(id)) });

// A step is a function of its input: its time is the one it was given, and chance continues from the run's own state.
const HostDate = Date;
scope.Date = function Date(...parts) {
  return new.target === undefined
    ? new HostDate(at).toString()
    : Reflect.construct(HostDate, parts.length === 0 ? [at] : parts, new.target);
};
Object.assign(scope.Date, { now: () => at, parse: HostDate.parse, UTC: HostDate.UTC, prototype: HostDate.prototype });
HostDate.prototype.constructor = scope.Date;
Math.random = () => {
  chance = (chance + 0x6d2b79f5) | 0;
  let mixed = Math.imul(chance ^ (chance >>> 15), 1 | chance);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};

const builtIn = new Map(Object.getOwnPropertyNames(scope).map((name) => [name, name.startsWith("_") ? undefined : scope[name]]));
const isSystem = (name) => name.startsWith("_") && builtIn.has(name);

function freezeDeep(value) {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(freezeDeep);
    Object.freeze(value);
  }
  return value;
}
function xml(text) {
  dom ??= makeDom();
  return dom.read(text);
}
// Names that scripts declared with let, const or class: they are no properties of anything, so they are asked for.
function lexical(name) {
  if (name in scope || !identifier.test(name)) return undefined;
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
  const found = Object.getOwnPropertyNames(scope)
    .filter((name) => !isSystem(name) && !(builtIn.has(name) && Object.is(scope[name], builtIn.get(name))))
    .map((name) => [name, scope[name]]);
  const scoped = lexicals.flatMap((name) => {
    const held = lexical(name);
    return held === undefined ? [] : [[name, held.value]];
  });
  return [...found, ...scoped];
}
const step = (path, key) => path + "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1");
const keysOf = (path) => path.slice(1).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

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
        throw new TypeError("The variable " + keysOf(path).join(".") + " is a " + typeof value + ", which a state cannot keep");
    }
  }
  function encodeObject(value, path) {
    if (seen.has(value)) return mark(path, "same " + seen.get(value), null);
    seen.set(value, path);
    if (Array.isArray(value)) return Array.from(value, (item, index) => encode(item, step(path, index)));
    if (dom !== undefined && value instanceof dom.Node)
      return mark(path, value instanceof dom.Document ? "xml" : "element", value.toString());
    if (value instanceof HostDate) return mark(path, "date", value.getTime());
    if (value instanceof RegExp) return mark(path, "regexp", [value.source, value.flags]);
    if (value instanceof Map) return mark(path, "map", [...value].map((pair, index) => encode(pair, step(path, index))));
    if (value instanceof Set) return mark(path, "set", [...value].map((item, index) => encode(item, step(path, index))));
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) kinds[path] = "instance " + classOf(prototype, path);
    const made = {};
    for (const key of Object.keys(value)) put(made, key, encode(value[key], step(path, key)));
    return made;
  }
  function classOf(prototype, path) {
    const maker = prototype.constructor;
    if (typeof maker === "function" && maker.prototype === prototype && named(maker.name) === maker) return maker.name;
    throw new TypeError("The variable " + keysOf(path).join(".") + " is an object of a class without a global name, which a state cannot keep");
  }
  return { kinds, functions, encode };
}
function put(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
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
      case "date": return keep(path, new HostDate(value));
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
    if (remade && prototype === undefined) throw new TypeError("The variable " + keysOf(path).join(".") + " is of a class " + name + " that is no more");
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
    if (!isSystem(name)) scope[name] = value;
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
  begin(json) {
    const given = JSON.parse(json);
    ({ at, lexicals } = given);
    chance = given.chance;
    system = freezeDeep(given.system);
  },
  setEvent(json, isXml) {
    if (json === undefined) {
      event = undefined;
      return;
    }
    const given = JSON.parse(json);
    const { name, type, sendid, origin, origintype, invokeid, raw } = given;
    const made = { name, type, sendid, origin, origintype, invokeid, data: isXml ? xml(given.data) : given.data };
    // SCXML's own processor has no wire format; what travels is this.
    Object.defineProperty(made, "raw", { get: () => raw ?? JSON.stringify(made) });
    event = Object.freeze(made);
  },
  declare(name) {
    if (!Object.hasOwn(scope, name) && lexical(name) === undefined) scope[name] = undefined;
  },
  set(name, value) { scope[name] = value; },
  parse: (json) => JSON.parse(json),
  xml,
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
    return JSON.stringify({ data, kinds, chance, grown });
  },
  toJson(value) {
    const json = JSON.stringify(value);
    if (json === undefined && value !== undefined) throw new TypeError("A " + typeof value + " cannot leave the data model");
    return json;
  },
  copyArray(value) {
    if (!Array.isArray(value)) throw new TypeError("foreach needs an array");
    return value.slice();
  },
};
})`;
