/**
 * Looking into a store without owning it: whoever owns it may go on meanwhile, and what a process that was killed left
 * stays as it is. Every entry is checked against the chain of digests on the way.
 */
import { apply } from "../core/patch.ts";
import type { State } from "../core/state.ts";
import type { Entry } from "../store/journal.ts";
import type { RunHead, RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { type FindQuery, findRuns } from "./find.ts";
import { Past } from "./live/past.ts";
import { checkName, defaultTenant, unknownRunError } from "./name.ts";
import { checkMethods, checkOptions } from "./options.ts";
import { noSeal, type Seal } from "./seal.ts";
import { closeStore, openStore } from "./store-use.ts";

/** A step that was taken, and the state it led to. */
export interface PastStep {
  readonly entry: Entry;
  readonly state: State;
}

export interface Reader {
  /** The runs that fit, the newest first. */
  find(query?: FindQuery): AsyncGenerator<RunHead>;
  /** The steps of a run in order; throws RUN_UNKNOWN. */
  steps(id: string, options?: { readonly tenant?: string }): AsyncGenerator<PastStep>;
  close(): Promise<void>;
}

/** Opens a store to read it, and nothing else. */
export async function openReader(options: { readonly store: Store; readonly seal?: Seal }): Promise<Reader> {
  const usage = "openReader({ store })";
  checkOptions(usage, options, { store: true, seal: true });
  const { store, seal = noSeal } = options;
  checkMethods(usage, { store }, ["open"]);
  await openStore(store).catch(async (error: unknown) => {
    await closeStore(store).catch(() => {});
    throw error;
  });
  const past = new Past(store, seal);
  let isOpen = true;
  return {
    find: (query = {}) => findRuns(store, query),
    async *steps(id, { tenant = defaultTenant } = {}) {
      checkName("run", id);
      checkName("tenant", tenant);
      const name: RunName = { tenant, run: id };
      const head = await store.readHead(name);
      if (head === undefined) throw unknownRunError(name);
      let { state } = await past.origin(head);
      for await (const entry of past.entries(head)) {
        state = apply(state, entry.patches);
        yield { entry, state: state as unknown as State };
      }
    },
    close: async () => {
      if (isOpen) await closeStore(store);
      isOpen = false;
    },
  };
}
