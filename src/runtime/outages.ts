/** Outages: the times in which nobody owned a store, remembered for timers that do not run on meanwhile. */
import type { Json } from "../core/json.ts";
import type { Timer } from "../core/state.ts";
import { type Outage, resumedDue } from "../core/timer.ts";
import { limits } from "../limits.ts";
import { decode, encode } from "../store/codec.ts";
import type { Store } from "../store/store.ts";
import { systemTenant } from "./name.ts";

const documentName = "outages";

export class Outages {
  readonly #store: Store;
  #list: readonly Outage[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Reads what is known, and adds the one that ends now; `aliveAt` is the last sign of life of the owner before. */
  async open(aliveAt: number | undefined, now: number): Promise<void> {
    // A write of an owner that was replaced may still arrive, once.
    while (!(await this.#note(aliveAt, now)));
  }

  /** False if somebody else has written meanwhile. */
  async #note(aliveAt: number | undefined, now: number): Promise<boolean> {
    const document = await this.#store.readDocument(systemTenant, documentName);
    const known = document === undefined ? [] : (decode(document.bytes, documentName) as unknown as Outage[]);
    this.#list = known.filter((outage) => isOver(outage, now));
    // A clock that was set back in between says nothing of how long nobody was there.
    if (aliveAt === undefined || aliveAt >= now) return true;
    this.#list = [...this.#list, { from: aliveAt, until: now }].slice(-limits.outagesMax);
    const bytes = encode(this.#list as unknown as Json);
    return this.#store.writeDocument(systemTenant, documentName, document?.version ?? 0, bytes);
  }

  /** Those that move some of these timers. */
  moving(timers: readonly Timer[], now: number): readonly Outage[] {
    const waiting = timers.filter(({ resume }) => resume !== undefined);
    if (waiting.length === 0) return [];
    const since = Math.min(...waiting.map((timer) => timer.since as number));
    const list = this.#list.filter((outage) => outage.until > since && isOver(outage, now));
    return waiting.some((timer) => resumedDue(timer, list).due !== timer.due) ? list : [];
  }
}

/** One that lies ahead was noted by a clock that has been set back since, and says nothing of timers set by now. */
function isOver({ until }: Outage, now: number): boolean {
  return until <= now;
}
