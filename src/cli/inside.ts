/** A server in this process that only this process asks: so commands work on a store as they do with a server. */
import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { type Client, createClient } from "../client/client.ts";
import { isHoldfastError } from "../errors.ts";
import { misused, type StoreArguments } from "./arguments.ts";
import { loadMachines } from "./load-machines.ts";
import { isServer, storeThere } from "./open-store.ts";
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

export interface Inside {
  readonly store: StoreArguments;
  /** The file that exports the machines; without one, what needs their code is refused. */
  readonly module: string | undefined;
  /** Whether runs are only looked at. */
  readonly isLooking: boolean;
  /** Who works on it, as journals are to tell; whoever the system says it is unless given. */
  readonly by: string | undefined;
}

/** Opens a store that is there. */
export async function openInside(inside: Inside, world: World): Promise<Connection> {
  const { store, module, isLooking, by: id = userOf(world) } = inside;
  storeThere(store);
  const machines = module === undefined ? [] : await loadMachines(resolve(world.cwd, module));
  const token = randomUUID();
  try {
    // Where others work on the same store, the work is left to them.
    const standing = isServer(store.store) ? { role: "client" as const } : { isLooking };
    const { server, close } = await openStage({ store, machines, token, id, ...standing }, world);
    const fetch = (request: Request) => server.fetch(request);
    return { client: createClient({ url, key: token, fetch }), url: undefined, close };
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "STORE_OWNED") throw error;
    throw misused(`${error.message}; ask the server there instead, with --url`);
  }
}

/** Who works here. A container may have a user without a name. */
function userOf({ env }: Pick<World, "env">): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER || "cli";
  }
}
