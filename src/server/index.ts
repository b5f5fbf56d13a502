/** The entry `holdfast/server`: an app over a runtime, and a way to serve it. */
export { createServer, type Server, type ServerOptions } from "./app.ts";
export * from "./contract.ts";
export { openApiDocument } from "./openapi.ts";
export type { Remote } from "./remote.ts";
export { type Address, type Served, serve } from "./serve.ts";
