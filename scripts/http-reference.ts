/**
 * `docs/reference/http.md`, made from the contract: every route with who may use it, what it takes and what it answers.
 * `test/server/reference.test.ts` keeps the page equal to it; `npx vitest run test/server/reference.test.ts -u` writes it anew.
 */
import { openApiDocument } from "../src/server/index.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}
interface Media {
  readonly [type: string]: { readonly schema: Schema };
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly "x-permission": string;
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Media };
  readonly responses: Readonly<Record<string, { readonly content?: Media }>>;
}
interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The least role that has each permission. */
const roleByPermission: Readonly<Record<string, string>> = {
  public: "anybody",
  read: "viewer",
  oversee: "viewer of the server's own tenant",
  operate: "operator",
  develop: "developer",
  administer: "admin",
};

export function httpReference(): string {
  const document = JSON.parse(JSON.stringify(openApiDocument("0"))) as ApiDocument;
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return [
    "# HTTP",
    "",
    "Every route of a server, with the least role that may use it. The same as OpenAPI 3.1 is at `/openapi.json` of every server, and as",
    "types in `holdfast/client`, where each route is a method of its name. Problems are `application/problem+json` with the codes of",
    "[errors](errors.md); bounds are those of [limits](limits.md).",
    "",
    "This page is made from the contract by `scripts/http-reference.ts`; `test/server/reference.test.ts` keeps the two equal.",
    "",
    "| route | method of the client | role | does |",
    "|---|---|---|---|",
    ...routes.map(
      ({ method, path, operation }) =>
        `| \`${method} ${path}\` | [\`${operation.operationId}\`](#${anchorOf(operation.operationId)}) | ${roleByPermission[operation["x-permission"]]} | ${operation.summary} |`,
    ),
    "",
    "## Routes",
    ...routes.flatMap((route) => sectionOf(route)),
    "",
    "## Schemas",
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) => schemaOf(name, schema)),
    "",
  ].join("\n");
}

const anchorOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

function sectionOf({
  method,
  path,
  operation,
}: {
  method: string;
  path: string;
  operation: Operation;
}): string[] {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const rows = [
    ...(operation.parameters ?? []).map(
      ({ name, in: place, required, schema }) =>
        `| \`${name}\` | ${place} | ${typeOf(schema)}${required ? "" : ", optional"} | ${oneLine(schema.description)} |`,
    ),
    ...(body === undefined
      ? []
      : fieldsOf(body).map((row) => row.replace(/^(\| `[^`]+`) \|/, "$1 | body |"))),
  ];
  const named = body?.$ref === undefined ? [] : ["", `Body: ${typeOf(body)}.`];
  const good = Object.entries(operation.responses).filter(([status]) => status !== "default");
  const [[, { content = {} }] = ["", {}]] = good;
  const [[type, media] = ["nothing", undefined]] = Object.entries(content);
  const statuses = good.map(([status]) => status).reverse();
  const answer = `${statuses.join(" or ")}, \`${type}\`${media === undefined ? "" : `: ${typeOf(media.schema)}`}`;
  return [
    "",
    `### ${operation.operationId}`,
    "",
    `\`${method} ${path}\`: ${operation.summary}${operation.description === undefined ? "" : ` ${operation.description}`}`,
    ...(rows.length === 0 ? [] : ["", "| takes | in | type | |", "|---|---|---|---|", ...rows]),
    ...named,
    "",
    `Answers ${answer}.`,
  ];
}

function schemaOf(name: string, schema: Schema): string[] {
  const said = schema.description === undefined ? [] : ["", oneLine(schema.description)];
  const fields = fieldsOf(schema);
  const shape =
    fields.length > 0 ? ["| field | type | |", "|---|---|---|", ...fields] : [`${typeOf(schema)}.`];
  return ["", `### ${name}`, ...said, "", ...shape];
}

const fieldsOf = ({ properties = {}, required = [] }: Schema): string[] =>
  Object.entries(properties).map(
    ([name, schema]) =>
      `| \`${name}\` | ${typeOf(schema)}${required.includes(name) ? "" : ", optional"} | ${oneLine(schema.description)} |`,
  );

/** A type in few words; what has a name is linked. */
function typeOf(schema: Schema): string {
  const name = /^#\/components\/schemas\/(.*)$/.exec(schema.$ref ?? "")?.[1];
  if (name !== undefined) return `[${name}](#${anchorOf(name)})`;
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${String(one)}\``).join(" or ");
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined) return options.map(typeOf).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.properties !== undefined)
    return `{ ${Object.entries(schema.properties)
      .map(([key, one]) => `\`${key}\`: ${typeOf(one)}`)
      .join("; ")} }`;
  return [schema.type ?? "any JSON"].flat().join(" or ");
}

const oneLine = (text: string | undefined): string =>
  (text ?? "").replace(/\s+/g, " ").replaceAll("|", "\\|");
