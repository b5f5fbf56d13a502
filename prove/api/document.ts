/** The OpenAPI document, as the proof reads it: operations, and checks of answers by a validator that is not the server's. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Permission } from "../../src/security/policy.ts";
import { openApiDocument } from "../../src/server/index.ts";

export type Schema = { readonly [key: string]: unknown };

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly permission: Permission;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  /** By status and media type. */
  readonly responses: ReadonlyMap<string, ReadonlyMap<string, ValidateFunction>>;
}

interface Media {
  readonly [type: string]: { readonly schema: Schema };
}
interface Written {
  readonly operationId: string;
  readonly "x-permission": Permission;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Media };
  readonly responses: Readonly<Record<string, { readonly content?: Media }>>;
}
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Written>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Api {
  readonly operations: readonly Operation[];
  /** A schema with the first reference in it followed. */
  resolve(schema: Schema): Schema;
}

export function readApi(): Api {
  const document = JSON.parse(JSON.stringify(openApiDocument("0.0.0"))) as ApiDocument;
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  ajv.addSchema({ $id: "api", components: document.components } as object, "api");
  const compile = (schema: Schema): ValidateFunction =>
    ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object,
    );
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, written]): Operation => ({
        ...{ name: written.operationId, method: method.toUpperCase(), path },
        ...{ permission: written["x-permission"], parameters: written.parameters ?? [] },
        body: written.requestBody?.content["application/json"]?.schema,
        responses: new Map(
          Object.entries(written.responses).map(([status, { content = {} }]) => [
            status,
            new Map(Object.entries(content).map(([type, { schema }]) => [type, compile(schema)])),
          ]),
        ),
      }),
    ),
  );
  const resolve = (schema: Schema): Schema => {
    const name = /^#\/components\/schemas\/(.*)$/.exec(String(schema.$ref ?? ""))?.[1];
    return name === undefined ? schema : resolve(document.components.schemas[name] as Schema);
  };
  return { operations, resolve };
}
