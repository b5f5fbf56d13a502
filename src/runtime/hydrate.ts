/** From the store back into memory: a run's newest checkpoint, checked against its chain on the way. */
import type { Event } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { restore } from "../core/restore.ts";
import type { State } from "../core/state.ts";
import { HoldfastError } from "../errors.ts";
import { decode } from "../store/codec.ts";
import { foldEntry, genesis, readEntry } from "../store/journal.ts";
import type { RunHead } from "../store/records.ts";
import type { LoadedRun } from "../store/store.ts";
import type { LiveRun } from "./live-run.ts";
import type { Registry } from "./registry.ts";
import type { Seal } from "./seal.ts";

/** The live run; throws STORE_CORRUPT if its journal does not lead where its head says. */
export function hydrate(loaded: LoadedRun, registry: Registry, seal: Seal): LiveRun {
  const { head, snapshot, entries } = loaded;
  const machine = registry.read(head.machine, head.version);
  const { state, digest } = rebuild(loaded, seal);
  if (digest !== head.digest) {
    throw new HoldfastError(
      "STORE_CORRUPT",
      `The journal of ${JSON.stringify(head.run)} does not lead to its checkpoint ${head.seq}`,
    );
  }
  return {
    name: { tenant: head.tenant, run: head.run },
    machine,
    head,
    state: restore(machine.machine, state) as State,
    inbox: loaded.inbox.map(({ id, key, priority, bytes }) => ({
      event: decode(seal.open(bytes, head), `event ${id}`) as unknown as Event,
      row: id,
      priority,
      ...(key === undefined ? {} : { key }),
    })),
    keys: new Set(),
    snapshotBytes: snapshot === undefined ? 0 : JSON.stringify(state).length,
    entryBytes: entries.reduce((sum, { bytes }) => sum + bytes.length, 0),
  };
}

/** The state that a snapshot and the entries after it lead to, and the chain's digest there. */
export function rebuild(
  { head, snapshot, entries }: Pick<LoadedRun, "snapshot" | "entries"> & { readonly head: RunHead },
  seal: Seal,
): { readonly state: Json; readonly digest: string } {
  const what = `the run ${JSON.stringify(head.run)}`;
  const open = (bytes: Uint8Array) => seal.open(bytes, head);
  const from =
    snapshot === undefined
      ? { state: null as Json, digest: genesis }
      : (decode(open(snapshot.bytes), `snapshot ${snapshot.seq} of ${what}`) as unknown as {
          state: Json;
          digest: string;
        });
  return entries.reduce(
    ({ state, digest }, row) => ({
      state: foldEntry(state, readEntry(row, digest, open, what)),
      digest: row.digest,
    }),
    from,
  );
}
