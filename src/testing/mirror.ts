/** What is stored of the runs of a world, read after everything came to rest, so that it can be looked at without waiting. */
import type { Effect } from "../core/effect.ts";
import type { Json } from "../core/json.ts";
import { apply } from "../core/patch.ts";
import type { State } from "../core/state.ts";
import { Past } from "../runtime/live/past.ts";
import { keyOf } from "../runtime/name.ts";
import { noSeal } from "../runtime/seal.ts";
import type { Entry } from "../store/journal.ts";
import type { RunHead, RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";

/** A step of the journal, with the states that were active after it. */
export interface JournalStep extends Entry {
  readonly run: string;
  readonly configuration: readonly string[];
}

/** A run as it was when all was at rest. */
export interface Reflection {
  readonly head: RunHead;
  readonly state: State;
  readonly journal: readonly JournalStep[];
}

/** An effect of some step. */
export type Recorded<Kind extends Effect["type"]> = Extract<Effect, { readonly type: Kind }> & {
  readonly run: string;
  readonly seq: number;
  readonly at: number;
};

export class Mirror {
  readonly #runs = new Map<string, Reflection>();

  get runs(): readonly Reflection[] {
    return [...this.#runs.values()];
  }

  /** A run by its id, in whichever tenant. */
  find(id: string): Reflection | undefined {
    return this.runs.find(({ head }) => head.run === id);
  }

  /** Reads what is new of these runs. */
  async refresh(store: Store, names: Iterable<RunName>): Promise<void> {
    const past = new Past(store, noSeal);
    for (const name of names) {
      const head = await store.readHead(name);
      const known = this.#runs.get(keyOf(name));
      if (head === undefined || head.seq === known?.head.seq) continue;
      let state = (known?.state ?? null) as unknown as Json;
      const journal = [...(known?.journal ?? [])];
      for await (const entry of past.entries(head, journal.length + 1)) {
        state = entry.patches.length === 0 ? state : apply(state, entry.patches);
        const { configuration } = state as unknown as State;
        journal.push({ ...entry, run: name.run, configuration });
      }
      this.#runs.set(keyOf(name), { head, state: state as unknown as State, journal });
    }
  }

  /** The effects of one kind, of all runs, in the order of their steps. */
  effects<Kind extends Effect["type"]>(kind: Kind): readonly Recorded<Kind>[] {
    return this.runs
      .flatMap(({ journal }) => journal)
      .sort((one, other) => one.at - other.at)
      .flatMap(({ effects, run, seq, at }) =>
        effects
          .filter((effect): effect is Extract<Effect, { readonly type: Kind }> => effect.type === kind)
          .map((effect) => ({ ...effect, run, seq, at })),
      );
  }
}
