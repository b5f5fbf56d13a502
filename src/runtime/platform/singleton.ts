/**
 * Singletons: of all runs of a machine that are started under one key, at most one is live.
 *
 * O1. A document names the run that may be live, and names another one only when that has ended. Whoever dies in between
 *     leaves a name whose run has not begun; whoever starts next begins it. So there are never two, and no start is lost
 *     that was answered.
 * O2. The document goes when the run it names has ended, and not before: then the next start may name another one as well.
 */
import { type Json, showValue } from "../../core/json.ts";
import type { Machine } from "../../core/machine.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import { encode } from "../../store/codec.ts";
import { isFinal } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { invalidFlow } from "../flow/flow.ts";
import type { Ids } from "../ids.ts";
import { checkName, defaultTenant } from "../name.ts";
import { checkOptions } from "../options.ts";
import type { Run, Runtime, Singleton, SingletonPolicy, StartOptions } from "../run.ts";
import { runIn, singletonPrefix } from "./named-run.ts";

export interface SingletonWorld extends Pick<Runtime, "start" | "run"> {
  readonly store: Pick<Store, "readDocument" | "writeDocument" | "removeDocument">;
  readonly ids: Ids;
}

/** The run that a start led to, and whether it began with it. */
export interface Started {
  readonly run: Run;
  readonly begun: boolean;
}

type Options = Omit<StartOptions, "singleton">;

/** The document of a key. */
interface Place {
  readonly tenant: string;
  readonly name: string;
}

export class Singletons {
  readonly #world: SingletonWorld;
  /** Starts of one key take turns. */
  readonly #last = new Map<string, Promise<unknown>>();
  /** Runs whose end is waited for here. */
  readonly #live = new Set<string>();

  constructor(world: SingletonWorld) {
    this.#world = world;
  }

  async start(machine: Machine, singleton: string | Singleton, options: Options): Promise<Started> {
    const given = typeof singleton === "string" ? { key: singleton } : singleton;
    checkOptions("start(machine, { singleton: { key, policy } })", given, {
      ...{ key: true, policy: true },
    });
    const { key, policy = "attach" }: Singleton = given;
    const { tenant = defaultTenant } = options;
    checkName("key", key);
    checkName("tenant", tenant);
    if (!["attach", "refuse", "replace"].includes(policy))
      throw invalidFlow(`the policy of a singleton is ${showValue(policy)}; write attach, refuse or replace`);
    if (options.id !== undefined)
      throw invalidFlow("a singleton has a key instead of an id; give one of the two");
    const place: Place = { tenant, name: `${singletonPrefix}${JSON.stringify([machine.id, key])}` };
    const started = await this.#inTurn(place, () => this.#start(machine, { ...place, policy }, options));
    void this.#removeAtEnd(started.run, place);
    return started;
  }

  #inTurn<Answer>({ tenant, name }: Place, work: () => Promise<Answer>): Promise<Answer> {
    const turn = JSON.stringify([tenant, name]);
    const before = this.#last.get(turn) ?? Promise.resolve();
    const answer = before.then(work);
    const over = answer
      .catch(() => {})
      .then(() => {
        if (this.#last.get(turn) === over) this.#last.delete(turn);
      });
    this.#last.set(turn, over);
    return answer;
  }

  /** Whatever comes between, as the end of this process, leaves a document to whoever starts next or keeps house. */
  async #removeAtEnd(run: Run, place: Place): Promise<void> {
    const { tenant, name } = place;
    const live = JSON.stringify([tenant, run.id]);
    if (this.#live.has(live)) return;
    this.#live.add(live);
    try {
      await run.finished();
      await this.#inTurn(place, async () => {
        const document = await this.#world.store.readDocument(tenant, name);
        if (document !== undefined && runIn(document.bytes, name) === run.id)
          await this.#world.store.removeDocument(tenant, name, document.version);
      });
    } catch {
      // As above.
    } finally {
      this.#live.delete(live);
    }
  }

  async #start(
    machine: Machine,
    { name, tenant, policy }: Place & { readonly policy: SingletonPolicy },
    options: Options,
  ): Promise<Started> {
    const { store, ids } = this.#world;
    const { by } = options;
    for (;;) {
      const document = await store.readDocument(tenant, name);
      const named = document && runIn(document.bytes, name);
      const run = named === undefined ? undefined : await this.#find(named, tenant);
      if (named !== undefined && run === undefined) {
        const begun = await this.#begin(machine, { ...options, id: named });
        if (begun !== undefined) return { run: begun, begun: true };
      } else if (run !== undefined && !isFinal(await run.head())) {
        if (policy === "attach") return { run, begun: false };
        if (policy === "refuse") throw liveError(machine, run);
        await run.cancel(by === undefined ? {} : { by });
      } else {
        // Of several processes one wins; the others find what it wrote.
        const bytes = encode({ run: ids.next() } as Json);
        await store.writeDocument(tenant, name, document?.version ?? 0, bytes);
      }
    }
  }

  async #find(id: string, tenant: string): Promise<Run | undefined> {
    try {
      return await this.#world.run(id, { tenant });
    } catch (error) {
      if (isHoldfastError(error) && error.code === "RUN_UNKNOWN") return undefined;
      throw error;
    }
  }

  /** Begins the run that was named; nothing if somebody else has, with another input. */
  async #begin(machine: Machine, options: StartOptions): Promise<Run | undefined> {
    try {
      return (await this.#world.start(machine, options)) as unknown as Run;
    } catch (error) {
      if (isHoldfastError(error) && error.code === "RUN_DIFFERS") return undefined;
      throw error;
    }
  }
}

function liveError({ id }: Machine, run: Run): HoldfastError {
  const message = `The run ${JSON.stringify(run.id)} of ${id} is live, and it is to be the only one of its key`;
  return new HoldfastError("RUN_LIVE", message, { details: { run: run.id } });
}
