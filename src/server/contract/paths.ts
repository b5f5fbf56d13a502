/**
 * Every route by its name: how it is asked, where, and how it answers. A plain table without any import, so that clients
 * (Studio in a browser among them) take it without taking the schemas along. Names are `resource.verb`; a client has a
 * method for each of them.
 */

/** `json` unless said: `stream` is a stream of server-sent events, `text` is plain text. */
export type Form = "json" | "stream" | "text";

export const paths = {
  "machines.list": ["get", "/v1/machines", "json"],
  "machines.show": ["get", "/v1/machines/{machine}", "json"],
  "machines.version": ["get", "/v1/machines/{machine}/versions/{version}", "json"],
  "machines.upload": ["post", "/v1/machines", "json"],
  "machines.mark": ["post", "/v1/machines/{machine}/versions/{version}/status", "json"],

  "runs.start": ["post", "/v1/runs", "json"],
  "runs.list": ["get", "/v1/runs", "json"],
  "runs.bulk": ["post", "/v1/runs/bulk", "json"],
  "runs.show": ["get", "/v1/runs/{run}", "json"],
  "runs.state": ["get", "/v1/runs/{run}/state", "json"],
  "runs.send": ["post", "/v1/runs/{run}/events", "json"],
  "runs.ask": ["post", "/v1/runs/{run}/ask", "json"],
  "runs.cancel": ["post", "/v1/runs/{run}/cancel", "json"],
  "runs.retry": ["post", "/v1/runs/{run}/retry", "json"],
  "runs.pause": ["post", "/v1/runs/{run}/pause", "json"],
  "runs.advance": ["post", "/v1/runs/{run}/advance", "json"],
  "runs.breakpoints": ["put", "/v1/runs/{run}/breakpoints", "json"],
  "runs.journal": ["get", "/v1/runs/{run}/journal", "json"],
  "runs.chunks": ["get", "/v1/runs/{run}/activities/{key}/chunks", "stream"],
  "runs.follow": ["get", "/v1/runs/{run}/steps", "stream"],

  "runs.travel": ["get", "/v1/runs/{run}/travel", "json"],
  "runs.preview": ["post", "/v1/runs/{run}/travel", "json"],
  "runs.rollback": ["post", "/v1/runs/{run}/rollback", "json"],
  "runs.fork": ["post", "/v1/runs/{run}/fork", "json"],
  "runs.diff": ["get", "/v1/runs/{run}/diff", "json"],
  "runs.changed": ["get", "/v1/runs/{run}/changed", "json"],
  "runs.compare": ["get", "/v1/diff", "json"],

  "runs.conversation": ["get", "/v1/runs/{run}/conversation", "json"],
  "runs.plan": ["get", "/v1/runs/{run}/plan", "json"],
  "runs.say": ["post", "/v1/runs/{run}/messages", "json"],
  "runs.board": ["get", "/v1/runs/{run}/board", "json"],

  "inbox.list": ["get", "/v1/inbox", "json"],
  "inbox.decide": ["post", "/v1/inbox/{run}/{decision}", "json"],

  "steps.follow": ["get", "/v1/steps", "stream"],
  "operations.overview": ["get", "/v1/overview", "json"],
  "operations.workers": ["get", "/v1/workers", "json"],
  "deadLetters.list": ["get", "/v1/dead-letters", "json"],
  "deadLetters.redeliver": ["post", "/v1/dead-letters/{number}/redeliver", "json"],
  "deadLetters.discard": ["post", "/v1/dead-letters/{number}/discard", "json"],
  "keys.list": ["get", "/v1/keys", "json"],
  "keys.create": ["post", "/v1/keys", "json"],
  "keys.revoke": ["delete", "/v1/keys/{key}", "json"],
  "me.show": ["get", "/v1/me", "json"],

  "health.alive": ["get", "/healthz", "text"],
  "health.ready": ["get", "/readyz", "text"],
  "health.metrics": ["get", "/metrics", "text"],
  "health.openapi": ["get", "/openapi.json", "json"],
} as const satisfies Record<string, readonly [method: string, path: string, form: Form]>;

export type RouteName = keyof typeof paths;
