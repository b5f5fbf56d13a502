/** The OpenAPI document, made from the contract. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { routes } from "./contract.ts";

/** The document, as JSON. It is the same for every server of this version. */
export function openApiDocument(version: string): object {
  const app = new OpenAPIHono();
  const { openAPIRegistry } = app;
  openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "http",
    scheme: "bearer",
    description: "A key, as `holdfast keys create` or `POST /v1/keys` makes it: `hf_…`.",
  });
  for (const { config } of Object.values(routes)) openAPIRegistry.registerPath(config);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version,
      description:
        "Durable state machines for agents: machines, runs, journals, travel, decisions and operations.",
      license: { name: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
  });
}
