/** From a request to what its handler takes: the parts of the path, the query and the body, checked and put together. */
import type { z } from "@hono/zod-openapi";
import type { Route } from "./contract/route.ts";
import { requestError } from "./problem-answer.ts";
import { readBody } from "./request-body.ts";

/** The input of a route; throws REQUEST_INVALID with every place that does not fit. */
export async function readInput(
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
): Promise<object> {
  const { method } = request;
  const hasBody = method === "POST" || method === "PUT";
  const body = hasBody ? await readBody(request) : undefined;
  const problems: { path: string; message: string }[] = [];
  const check = (schema: z.ZodType, value: unknown, root: string): object => {
    const result = schema.safeParse(value);
    if (result.success) return result.data as object;
    for (const { path, message } of flatten(result.error.issues))
      problems.push({ path: placeOf(root, path), message });
    return {};
  };
  const input = {
    ...check(route.params, params, "path"),
    ...check(route.query, queryOf(route, request.url), "query"),
    ...(route.body === undefined ? emptyBody(body, problems) : check(route.body, body, "body")),
  };
  if (problems.length > 0) throw requestError(problems.slice(0, 100));
  return input;
}

/** A route that takes nothing takes an empty object too. */
function emptyBody(body: unknown, problems: { path: string; message: string }[]): object {
  const isEmpty =
    body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0);
  if (!isEmpty) problems.push({ path: "body", message: "takes nothing" });
  return {};
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly errors?: readonly (readonly Issue[])[];
}

/** Of a value that fits none of several forms, what is wrong with the form that it comes nearest to. */
function flatten(issues: readonly Issue[]): Issue[] {
  return issues.flatMap((issue) => {
    const nearest = [...(issue.errors ?? [])].sort((one, other) => one.length - other.length)[0];
    if (nearest === undefined || nearest.length === 0) return [issue];
    return flatten(nearest).map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  });
}

function placeOf(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (place, key) => (typeof key === "number" ? `${place}[${key}]` : `${place}.${String(key)}`),
    root,
  );
}

/** The query as an object; `attributes[NAME]` and `attribute.NAME` become a record. One that is there twice fits nowhere. */
function queryOf({ query }: Route, url: string): object {
  const start = url.indexOf("?");
  if (start < 0) return {};
  const given: Record<string, unknown> = {};
  const attributes: [string, unknown][] = [];
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    const [, one, other] = /^(?:attributes\[(.*)\]|attribute\.(.*))$/s.exec(name) ?? [];
    const attribute = one ?? other;
    if (attribute !== undefined && "attributes" in query.shape)
      attributes.push([attribute, attributeOf(value)]);
    else if (!Object.hasOwn(query.shape, name) || name === "attributes")
      throw requestError([{ path: `query.${name}`, message: "is none of this route" }]);
    else if (Object.hasOwn(given, name))
      throw requestError([{ path: `query.${name}`, message: "is there twice" }]);
    else given[name] = value;
  }
  return attributes.length === 0 ? given : { ...given, attributes: Object.fromEntries(attributes) };
}

/** `true`, `false` and numbers are such; in double quotes they are text. */
function attributeOf(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  if (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (!/^".*"$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
