/**
 * One PostgreSQL server for a whole run of the tests, started when the first test asks for it and stopped in the end.
 * Tests ask over a socket of their own, since they run in other processes.
 */
import { type AddressInfo, createServer } from "node:net";
import type { TestProject } from "vitest/node";
import { type Server, startServer } from "./server.ts";

/** What a test is told: where the server is, or why there is none. */
export type Answer = { readonly socketFolder: string } | { readonly problem: string };

declare module "vitest" {
  export interface ProvidedContext {
    /** The port to ask on. */
    readonly postgresPort: number;
  }
}

/** Several test files use it at the same time, some of them with whole fleets. */
const connectionsMax = "300";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<Server> | undefined;
  const answer = async (): Promise<Answer> => {
    server ??= startServer({ max_connections: connectionsMax });
    try {
      return { socketFolder: (await server).socketFolder };
    } catch (error) {
      return { problem: String(error) };
    }
  };
  const asked = createServer((socket) => {
    socket.on("error", () => {});
    void answer().then((given) => socket.end(JSON.stringify(given)));
  });
  await new Promise<void>((resolve) => asked.listen(0, "127.0.0.1", resolve));
  project.provide("postgresPort", (asked.address() as AddressInfo).port);
  return async () => {
    asked.close();
    await server?.then(
      (running) => running.stop(),
      () => {},
    );
  };
}
