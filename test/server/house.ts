/** Where tests of the server live: a real runtime on SQLite in memory or a file, a server over it, and clients of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import type { Role } from "../../src/security/policy.ts";
import { createServer, type Served, type Server, type ServerOptions, serve } from "../../src/server/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { agent, board, caller, counter, expense, planner } from "./machines.ts";

export const token = "a-token-of-the-tests";

export interface House {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly server: Server;
  /** With the token of dev mode. */
  readonly client: Client;
  /** A client of a key of this role and tenant, where there is no dev mode. */
  as(role: Role, tenant?: string): Promise<Client>;
  keyOf(role: Role, tenant?: string): Promise<string>;
  /** Resolves when a client's first stream is open: from then on it hears of everything. */
  readonly streamed: Promise<void>;
  /** Over a real socket. */
  listen(): Promise<Served>;
}

export interface HouseOptions extends Partial<Omit<ServerOptions, "runtime" | "store" | "dev">> {
  readonly dev?: boolean;
  readonly runtimeOptions?: Partial<RuntimeOptions>;
  readonly tool?: () => unknown;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

export async function openHouse({
  dev = true,
  runtimeOptions,
  tool,
  ...options
}: HouseOptions = {}): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-server-"));
  const store = sqlite(join(folder, "runs.db"));
  const machines = [
    counter,
    expense,
    { machine: caller, activities: { tool: tool ?? (() => "yes") } },
    agent,
    board.machine,
    planner,
  ];
  const runtime = await createRuntime({ store, machines, profile: true, ...runtimeOptions });
  const server = await createServer({ runtime, store, ...(dev ? { dev: { token } } : {}), ...options });
  closing.push(async () => {
    server.close();
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  const url = "http://127.0.0.1:4400";
  const streamed = Promise.withResolvers<void>();
  const fetch = async (request: Request) => {
    const response = await server.fetch(request);
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) streamed.resolve();
    return response;
  };
  const keyOf = async (role: Role, tenant = "default") =>
    (await server.keys.create({ name: `${role} of ${tenant}`, role, tenant, createdBy: "test" })).key;
  return {
    ...{ runtime, store, server, keyOf, client: createClient({ url, key: token, fetch }) },
    streamed: streamed.promise,
    as: async (role, tenant) => createClient({ url, fetch, key: await keyOf(role, tenant) }),
    listen: async () => {
      const served = await serve(server);
      closing.push(() => served.close(100));
      return served;
    },
  };
}
