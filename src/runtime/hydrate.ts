/** From the store back into memory: a run's newest checkpoint, checked against its chain on the way. */
import { restore } from "../core/restore.ts";
import type { State } from "../core/state.ts";
import { HoldfastError } from "../errors.ts";
import type { LoadedRun } from "../store/store.ts";
import type { LiveRun } from "./live-run.ts";
import type { Past } from "./past.ts";
import type { Registry } from "./registry.ts";

/** The live run, its inbox still empty; throws STORE_CORRUPT if its journal does not lead where its head says. */
export async function hydrate(loaded: LoadedRun, registry: Registry, past: Past): Promise<LiveRun> {
  const { head } = loaded;
  const machine = registry.read(head.machine, head.version);
  const { state, digest, contents, snapshotBytes, entryBytes } = await past.rebuild(loaded);
  if (digest !== head.digest) {
    throw new HoldfastError(
      "STORE_CORRUPT",
      `The journal of ${JSON.stringify(head.run)} does not lead to its checkpoint ${head.seq}`,
    );
  }
  const known = [...contents].map(([name, text]) => [text, name] as const);
  return {
    name: { tenant: head.tenant, run: head.run },
    ...{ machine, head, state: restore(machine.machine, state) as State, inbox: [] },
    ...{ more: false, snapshotBytes, entryBytes },
    contents: known.length === 0 ? undefined : new Map(known),
  };
}
