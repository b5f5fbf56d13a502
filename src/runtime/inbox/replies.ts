/**
 * Replies to events that ask. Those that steps here give are told as they come; those that may be given elsewhere are looked
 * for in the journal, of each run once for all who ask it.
 */
import type { Json } from "../../core/json.ts";
import type { RunHead, RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { Past } from "../live/past.ts";
import type { Standing, Waiting } from "../standing.ts";
import { Waiters } from "../waiters.ts";

export interface RepliesWorld {
  readonly past: Past;
  readonly standing: Pick<Standing, "until">;
  /** The run at its newest checkpoint. */
  read(name: RunName): Promise<{ readonly head: RunHead }> | { readonly head: RunHead };
}

/** The journal of a run, as it is followed. */
interface Following {
  readonly looking: Waiting<never>;
  /** The first checkpoint that somebody wants and that is not being read. */
  from: number;
  /** How many wait. */
  waiting: number;
}

/** No checkpoint. */
const none = Number.POSITIVE_INFINITY;

export class Replies extends Waiters<Json> {
  readonly #world: RepliesWorld;
  readonly #followed = new RunMap<Following>();

  constructor(world: RepliesWorld) {
    super();
    this.#world = world;
  }

  /** From now on replies in entries since a checkpoint are told, wherever those are made. Rejects if they cannot be read. */
  follow(name: RunName, since: number): { readonly failed: Promise<never>; cancel(): void } {
    const one = this.#followed.get(name) ?? this.#begin(name);
    one.from = Math.min(one.from, since);
    one.waiting++;
    one.looking.look();
    const cancel = () => {
      one.waiting--;
      if (one.waiting === 0) this.#end(name, one);
    };
    return { failed: one.looking.told, cancel };
  }

  #begin(name: RunName): Following {
    // Asked when the first checkpoint is known.
    const looking = this.#world.standing.until<never>(name, () => this.#look(name, one), { isPassed: false });
    const one: Following = { looking, from: none, waiting: 0 };
    this.#followed.set(name, one);
    looking.told.catch(() => this.#end(name, one));
    return one;
  }

  #end(name: RunName, one: Following): void {
    one.looking.cancel();
    if (this.#followed.get(name) === one) this.#followed.delete(name);
  }

  async #look(name: RunName, one: Following): Promise<undefined> {
    let next = one.from;
    // Whoever comes while it reads may want what has been read.
    one.from = none;
    const { head } = await this.#world.read(name);
    for await (const { seq, effects } of this.#world.past.entries(head, next)) {
      next = seq + 1;
      for (const effect of effects)
        if (effect.type === "reply") this.tell(replyName(name, effect.to), effect.data ?? null);
    }
    one.from = Math.min(one.from, next);
  }
}

/** The name replies to an event go by. */
export function replyName({ tenant, run }: RunName, replyTo: string): string {
  return JSON.stringify([tenant, run, replyTo]);
}
