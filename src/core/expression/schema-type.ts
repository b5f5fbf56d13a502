/** The types of expressions from JSON Schemas: what a schema lets through, as far as types tell. */
import { isObject, type JsonObject } from "../json.ts";
import { resolve } from "../json-schema/meta.ts";
import {
  bool,
  double,
  dyn,
  type Field,
  int,
  listOf,
  nullType,
  type ObjectType,
  string,
  type Type,
  unionOf,
} from "./static-type.ts";

/** The type of the values a schema lets through; `dyn` where it does not say. */
export function typeOfSchema(root: unknown): Type {
  const known = new Map<unknown, Type>();
  const typeOf = (schema: unknown): Type => {
    if (!isObject(schema)) return dyn;
    const found = known.get(schema);
    if (found !== undefined) return found;
    // A schema that contains itself is not followed all the way.
    known.set(schema, dyn);
    const type = read(schema, typeOf, root);
    known.set(schema, type);
    return type;
  };
  return typeOf(root);
}

type TypeOf = (schema: unknown) => Type;

function read(schema: JsonObject, typeOf: TypeOf, root: unknown): Type {
  if (typeof schema.$ref === "string") return typeOf(resolve(root, schema.$ref));
  if (schema.const !== undefined) return typeOfValue(schema.const);
  if (Array.isArray(schema.enum)) return unionOf(schema.enum.map(typeOfValue));
  // Several schemas for one value: only one of them alone says what it is.
  if (schema.allOf !== undefined || schema.if !== undefined) return dyn;
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return schema.properties === undefined ? unionOf(branches.map(typeOf)) : dyn;
  const names = schema.type ?? (schema.properties === undefined ? undefined : "object");
  if (names === undefined) return dyn;
  return unionOf((Array.isArray(names) ? names : [names]).map((name) => named(name, schema, typeOf)));
}

function named(name: unknown, schema: JsonObject, typeOf: TypeOf): Type {
  switch (name) {
    case "null":
      return nullType;
    case "boolean":
      return bool;
    case "integer":
      return int;
    case "number":
      return double;
    case "string":
      return string;
    case "array":
      return listOf(schema.prefixItems === undefined ? typeOf(schema.items) : dyn);
    case "object":
      return objectType(schema, typeOf);
    default:
      return dyn;
  }
}

function objectType(schema: JsonObject, typeOf: TypeOf): ObjectType {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = new Map<string, Field>();
  for (const [name, one] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    fields.set(name, { type: typeOf(one), required: required.includes(name) });
  const { additionalProperties, patternProperties } = schema;
  const others =
    additionalProperties === undefined || additionalProperties === false
      ? undefined
      : typeOf(additionalProperties);
  return { kind: "object", fields, rest: patternProperties === undefined ? others : dyn };
}

/** The type of a constant. */
export function typeOfValue(value: unknown): Type {
  if (value === null) return nullType;
  if (Array.isArray(value)) return listOf(unionOf(value.map(typeOfValue)));
  if (isObject(value)) {
    const fields = Object.entries(value).map(
      ([name, item]) => [name, { type: typeOfValue(item), required: true }] as const,
    );
    return { kind: "object", fields: new Map(fields), rest: undefined };
  }
  if (typeof value === "number") return Number.isInteger(value) ? int : double;
  return typeof value === "string" ? string : typeof value === "boolean" ? bool : dyn;
}
