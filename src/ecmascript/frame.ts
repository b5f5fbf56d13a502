/**
 * What every sandbox begins with, as small as it can be, since the engine reads it anew in each step: the system
 * variables, and the variables of documents that hold nothing but JSON. For the rest there is `keeper.ts`.
 * This text is run in the sandbox, before anything of the document.
 */
export const frameSource = /* js */ `(function () {
"use strict";
const scope = globalThis;
// Documents may give these names to variables of their own.
const { Array, JSON, Map, Number, Object, Set, TypeError } = scope;
const system = new Set(["_event", "_sessionid", "_name", "_ioprocessors", "_x"]);
let known = new Map();
const builtIn = new Map(Object.getOwnPropertyNames(scope).map((name) => [name, scope[name]]));

function variables() {
  return Object.getOwnPropertyNames(scope).filter(
    (name) => !system.has(name) && !(builtIn.has(name) && Object.is(builtIn.get(name), scope[name])),
  );
}
function isPlain(value, seen) {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || seen.has(value)) return false;
  seen.add(value);
  const keys = Object.keys(value);
  const fits = Array.isArray(value) ? keys.length === value.length : Object.getPrototypeOf(value) === Object.prototype;
  return fits && keys.every((key) => isPlain(value[key], seen));
}
function freezeDeep(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freezeDeep);
  return value;
}
function store(name, value) {
  scope[name] = value;
}
return {
  variables,
  set: store,
  // The globals as they were before any code of the document ran.
  get globals() { return Object.fromEntries(builtIn); },
  // What kind of XML a value is: none, as long as there is no document object model to make any.
  xmlKind() {},
  begin(json) {
    const given = JSON.parse(json);
    for (const name of Object.keys(given)) Object.defineProperty(scope, name, { value: freezeDeep(given[name]) });
  },
  setEvent(json, document) {
    let event;
    if (json !== undefined) {
      const { name, type, sendid, origin, origintype, invokeid, data = document, raw } = JSON.parse(json);
      event = { name, type, sendid, origin, origintype, invokeid, data };
      // SCXML's own processor has no wire format; what travels is this.
      Object.defineProperty(event, "raw", { value: raw ?? JSON.stringify(event) });
    }
    Object.defineProperty(scope, "_event", { value: Object.freeze(event), configurable: true });
  },
  declare(name) {
    if (!Object.hasOwn(scope, name)) scope[name] = undefined;
  },
  // True if the functions are all there: they are not restored, but made by code that was run before.
  restore(json) {
    const { data, unset, functions } = JSON.parse(json);
    for (const name of Object.keys(data)) store(name, data[name]);
    for (const name of unset) store(name, undefined);
    return functions.every((name) => typeof scope[name] === "function");
  },
  rememberFunctions() {
    known = new Map(variables().map((name) => [name, scope[name]]));
  },
  // Undefined if there is more than JSON and functions that are known.
  save() {
    const seen = new Set();
    const data = {};
    const unset = [];
    const functions = [];
    for (const name of variables()) {
      const value = scope[name];
      if (value === undefined) unset.push(name);
      else if (typeof value === "function" && known.get(name) === value) functions.push(name);
      else if (isPlain(value, seen)) data[name] = value;
      else return undefined;
    }
    return JSON.stringify({ data, unset, functions });
  },
  parse: JSON.parse,
  toJson(value) {
    const json = JSON.stringify(value);
    if (json === undefined) throw new TypeError("A " + typeof value + " cannot leave the data model");
    return json;
  },
  copyArray(value) {
    if (!Array.isArray(value)) throw new TypeError("foreach needs an array");
    return value.slice();
  },
};
})`;
