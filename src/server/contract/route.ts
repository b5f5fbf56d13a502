/**
 * How a route is declared: its name (which gives method and path), who may use it, what it takes and what it answers.
 * Everything else (the OpenAPI document, validation, the client's types) is made from these declarations.
 */
import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import { type Permission, permissions } from "../../security/policy.ts";
import { paths, type RouteName } from "./paths.ts";
import { Problem } from "./problem.ts";

/** Nothing is taken here. */
const nothing = z.object({});
type Nothing = typeof nothing;

export interface Declaration<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  /** Who may use it. There is no default. */
  readonly permission: Permission;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** What is answered; of a stream, the data of each of its events. */
  readonly answer: Answer;
  /** The status of the answer; 200 unless given. */
  readonly status?: 200 | 201;
  /** Whether an `Idempotency-Key` makes a repeated request the same one. */
  readonly isKeyed?: true;
}

export interface Route<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly name: RouteName;
  readonly permission: Permission;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body | undefined;
  readonly answer: Answer;
  readonly status: number;
  readonly isKeyed: boolean;
  /** As OpenAPI is told of it. */
  readonly config: RouteConfig;
}

/** A route of the table of paths; throws for one without a known permission, so that a server with such a route never starts. */
export function route<
  Answer extends z.ZodType,
  Params extends z.ZodObject = Nothing,
  Query extends z.ZodObject = Nothing,
  Body extends z.ZodType = Nothing,
>(name: RouteName, declared: Declaration<Params, Query, Body, Answer>): Route<Params, Query, Body, Answer> {
  const { permission, params, query, body, answer, status = 200, isKeyed = false } = declared;
  if (!permissions.includes(permission)) throw new Error(`The route ${name} says not who may use it`);
  return {
    ...{ name, permission, answer, status, body, isKeyed },
    params: params ?? (nothing as unknown as Params),
    query: query ?? (nothing as unknown as Query),
    config: configOf(
      name,
      declared as unknown as Declaration<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>,
    ),
  };
}

const mediaTypes = { json: "application/json", stream: "text/event-stream", text: "text/plain" } as const;

function configOf(
  name: RouteName,
  declared: Declaration<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>,
): RouteConfig {
  const [method, path, form] = paths[name];
  const { permission, summary, description, params, query, body, answer, status = 200 } = declared;
  const problem = { "application/problem+json": { schema: Problem } };
  return createRoute({
    ...{ method, path, operationId: name, summary, tags: [name.split(".")[0] as string] },
    ...(description === undefined ? {} : { description }),
    ...(permission === "public" ? { security: [] } : {}),
    "x-permission": permission,
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined
        ? {}
        : { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    responses: {
      [status]: { description: "As asked.", content: { [mediaTypes[form]]: { schema: answer } } },
      // A start that attaches to a run that is there already, and what is read without saying.
      ...(status === 201
        ? {
            200: {
              description: "It was there already.",
              content: { [mediaTypes[form]]: { schema: answer } },
            },
          }
        : {}),
      default: { description: "A problem.", content: problem },
    },
  } as never) as RouteConfig;
}
