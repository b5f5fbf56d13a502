/**
 * A store as a runtime has it that only looks: it takes no right to the runs, takes up nothing of theirs, and writes nothing.
 * Whoever owns the store goes on meanwhile, and what is overdue is left to those who have the code for it.
 */
import { HoldfastError } from "../errors.ts";
import type { AnyMachine, MachineEntry } from "../runtime/registry.ts";
import type { Store } from "../store/store.ts";

export function onlookerOf(store: Store): Store {
  const looks: Partial<Store> = {
    own: async (_, leaseMs, now) => ({ outcome: "owned", epoch: 1, until: now + leaseMs, outages: [] }),
    release: async () => {},
    due: async () => [],
    nextDue: async () => undefined,
    load: async (name, known) => {
      const loaded = await store.load(name, known);
      return loaded && { ...loaded, inbox: [], activities: [] };
    },
    commit: refuse,
    enqueue: refuse,
    recordActivities: refuse,
    appendChunks: refuse,
    removeDeadLetter: refuse,
    removeDocument: refuse,
    // Which machines there are is for those to note who run them.
    writeDocument: async () => true,
  };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(looks, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The same machines for such a runtime: runs that would go over to a newer version by themselves stay in theirs. */
export const onlookersOf = (
  machines: readonly (MachineEntry | AnyMachine)[],
): readonly (MachineEntry | AnyMachine)[] =>
  machines.map((one) => ("chart" in one ? one : { ...one, evolution: "pin" }));

async function refuse(): Promise<never> {
  throw new HoldfastError("STORE_UNAVAILABLE", "This store was opened to look at it; nothing is written");
}
