/** A server in this process that only this process asks: so commands work on a store as they do with a server. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { type Client, createClient } from "../client/client.ts";
import { isHoldfastError } from "../errors.ts";
import { misused, type StoreArguments } from "./arguments.ts";
import { loadMachines } from "./load-machines.ts";
import { isServer } from "./open-store.ts";
import { openStage } from "./stage.ts";
import type { World } from "./world.ts";

/** Where a command finds runs. */
export interface Connection {
  readonly client: Client;
  /** Where the server is; undefined if it is in this process. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const url = "http://127.0.0.1";

/** Opens a store with the machines of a module; without one, what needs their code is refused. */
export async function openInside(
  store: StoreArguments,
  module: string | undefined,
  world: World,
): Promise<Connection> {
  const machines = module === undefined ? [] : await loadMachines(resolve(world.cwd, module));
  const token = randomUUID();
  try {
    // Where others work on the same store, the work is left to them.
    const role = isServer(store.store) ? "client" : "worker";
    const { server, close } = await openStage({ store, machines, token, role }, world);
    const fetch = (request: Request) => server.fetch(request);
    return { client: createClient({ url, key: token, fetch }), url: undefined, close };
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "STORE_OWNED") throw error;
    throw misused(`${error.message}; ask the server there instead, with --url`);
  }
}
