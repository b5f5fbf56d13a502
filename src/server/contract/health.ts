/** What is outside of `/v1`: for those who look after the process, and for those who read the contract. */
import { z } from "@hono/zod-openapi";
import { route } from "./route.ts";
import { JsonObject } from "./value.ts";

export const healthRoutes = {
  "health.alive": route("health.alive", {
    permission: "public",
    summary: "Whether the process lives.",
    answer: z.string(),
  }),
  "health.ready": route("health.ready", {
    permission: "public",
    summary: "Whether it takes requests: not while it starts, drains, or cannot reach its store.",
    answer: z.string(),
  }),
  "health.metrics": route("health.metrics", {
    permission: "oversee",
    summary: "Figures in the text format of Prometheus.",
    answer: z.string(),
  }),
  "health.openapi": route("health.openapi", {
    permission: "public",
    summary: "This document.",
    answer: JsonObject,
  }),
};
