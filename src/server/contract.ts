/**
 * The contract: every route of the server with what it takes, what it answers and who may use it. The OpenAPI document,
 * validation and the client's types are made from it, so that no two of them can say different things.
 */
import type { z } from "@hono/zod-openapi";
import { conversationRoutes } from "./contract/conversation.ts";
import { healthRoutes } from "./contract/health.ts";
import { inboxRoutes } from "./contract/inbox.ts";
import { journalRoutes } from "./contract/journal.ts";
import { machineRoutes } from "./contract/machines.ts";
import { operationRoutes } from "./contract/operations.ts";
import type { paths, RouteName } from "./contract/paths.ts";
import type { Route } from "./contract/route.ts";
import { runRoutes } from "./contract/runs.ts";
import { travelRoutes } from "./contract/travel.ts";

export * from "./contract/conversation.ts";
export * from "./contract/inbox.ts";
export * from "./contract/journal.ts";
export * from "./contract/machines.ts";
export * from "./contract/operations.ts";
export * from "./contract/paths.ts";
export * from "./contract/problem.ts";
export type { Route } from "./contract/route.ts";
export * from "./contract/runs.ts";
export * from "./contract/travel.ts";
export type { Failure, Patch } from "./contract/value.ts";

/** All of them. A path without a route, or a route without a path, does not compile. */
export const routes = {
  ...machineRoutes,
  ...runRoutes,
  ...journalRoutes,
  ...travelRoutes,
  ...conversationRoutes,
  ...inboxRoutes,
  ...operationRoutes,
  ...healthRoutes,
} satisfies Record<RouteName, Route>;

export type Routes = typeof routes;

/** What a route takes, in one object: the parts of its path, its query or its body. */
export type InputOf<Name extends RouteName> = Flat<
  PartOf<Routes[Name]["params"]> & PartOf<Routes[Name]["query"]> & PartOf<NonNullable<Routes[Name]["body"]>>
>;
/** What a route answers; of a stream, each of its events. */
export type AnswerOf<Name extends RouteName> = z.output<Routes[Name]["answer"]>;
/** The routes that answer with a stream. */
export type StreamName = {
  [Name in RouteName]: (typeof paths)[Name][2] extends "stream" ? Name : never;
}[RouteName];

/** What is taken nowhere adds nothing. */
type PartOf<Schema> = Schema extends z.ZodType
  ? string extends keyof z.output<Schema>
    ? unknown
    : z.output<Schema>
  : unknown;
type Flat<Value> = { [Key in keyof Value]: Value[Key] };
