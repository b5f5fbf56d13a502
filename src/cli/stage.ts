/** A runtime with a server over it, opened and closed together: what `dev`, `start` and commands with `--store` stand on. */
import { statSync } from "node:fs";
import type { AnyMachine, MachineEntry } from "../runtime/registry.ts";
import type { Role, Runtime } from "../runtime/run.ts";
import { createRuntime } from "../runtime/runtime.ts";
import { createServer, type Server } from "../server/app.ts";
import type { StoreArguments } from "./arguments.ts";
import { onlookerOf, onlookersOf } from "./onlooker.ts";
import { isServer, storeAt } from "./open-store.ts";
import { noteWith, type Telling } from "./telemetry.ts";
import { describe } from "./terminal.ts";
import { version } from "./version.ts";
import type { World } from "./world.ts";

export interface StageOptions {
  readonly store: StoreArguments;
  readonly machines: readonly (MachineEntry | AnyMachine)[];
  readonly slots?: number | undefined;
  readonly role?: Role;
  /** Whether runs are only looked at. What is no run's, as keys are, can be changed all the same. */
  readonly isLooking?: boolean;
  /** Dev mode, with this token, and who has it. */
  readonly token?: string;
  readonly id?: string;
  readonly studio?: string | undefined;
  /** Whom the runtime tells what happens in it; its problems are noted unless given. */
  readonly telling?: Telling;
}

export interface Stage {
  readonly runtime: Runtime;
  readonly server: Server;
  close(): Promise<void>;
}

export async function openStage(
  options: StageOptions,
  { terminal }: Pick<World, "terminal">,
): Promise<Stage> {
  const { slots, role, token, id, studio, isLooking = false } = options;
  const { telling = { onProblem: noteWith(terminal) } } = options;
  const address = options.store.store;
  const store = storeAt(options.store);
  const runtime = await createRuntime({
    store: isLooking ? onlookerOf(store) : store,
    machines: isLooking ? onlookersOf(options.machines) : options.machines,
    profile: true,
    ...(slots === undefined ? {} : { flow: { slots } }),
    ...(role === undefined ? {} : { role }),
    ...telling,
  });
  const close = () => runtime.close();
  try {
    const server = await createServer({
      ...{ runtime, store, version, storeKind: isServer(address) ? "postgres" : "sqlite" },
      ...(isServer(address) ? {} : { storeBytes: async () => bytesOf(address) }),
      ...(token === undefined ? {} : { dev: { token, ...(id === undefined ? {} : { id }) } }),
      ...(studio === undefined ? {} : { studio }),
      onError: (error) => terminal.note(`server: ${describe(error)}`),
    });
    return { runtime, server, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a SQLite file takes, with its log. */
function bytesOf(path: string): number {
  return ["", "-wal"].reduce((sum, suffix) => {
    const found = statSync(`${path}${suffix}`, { throwIfNoEntry: false });
    return sum + (found?.size ?? 0);
  }, 0);
}
