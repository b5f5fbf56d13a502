/**
 * A store that is watched: every call is written down, and can be made to fail before it reaches the real store or after
 * it did, when only the answer is lost. Once it is dead, it never answers again, as for a process that was killed.
 */
import { HoldfastError } from "../../src/errors.ts";
import type { CommitOutcome, Lease, Store } from "../../src/store/store.ts";

export type Verb = keyof Store;

export interface Call<Of extends Verb = Verb> {
  readonly verb: Of;
  readonly given: Parameters<Store[Of]>;
}

/** `before`: the store never hears of the call. `after`: it is done, and the answer is lost. */
export type Fault = "before" | "after";

/** The process that a store is for. */
export interface Life {
  dead: boolean;
  /** The right to step runs, as it was last given to it. */
  lease?: { readonly worker: string; readonly epoch: number };
}

export class Watch {
  readonly calls: Call[] = [];
  /** What came of commits that were not made. */
  readonly refused: CommitOutcome[] = [];
  /** Calls that have not been answered yet. */
  pending = 0;
  /** How a call goes wrong; undefined if it does not. */
  fault: (call: Call) => Fault | undefined = () => undefined;
  /** What is answered instead of what the store says. */
  alter: (call: Call, answer: unknown) => unknown = (_, answer) => answer;
  /** What it throws when it goes wrong. */
  error: () => Error = unavailable;

  /** The same store, watched, for as long as its process lives. */
  over(store: Store, life: Life): Store {
    return new Proxy(store, {
      get: (target, verb) =>
        verb in target
          ? (...given: never[]) => {
              const work = () => (target[verb as Verb] as (...given: never[]) => Promise<unknown>)(...given);
              return this.#answer({ verb, given } as unknown as Call, life, work);
            }
          : undefined,
    });
  }

  async #answer(call: Call, life: Life, work: () => Promise<unknown>): Promise<unknown> {
    if (life.dead) return new Promise(() => {});
    this.calls.push(call);
    this.pending++;
    try {
      const fault = this.fault(call);
      if (fault === "before") throw this.error();
      const answer = await work();
      noteLease(call, answer as Lease, life);
      if (call.verb === "commit")
        this.refused.push(...(answer as CommitOutcome[]).filter(({ outcome }) => outcome !== "committed"));
      if (fault === "after") throw this.error();
      return life.dead ? new Promise(() => {}) : this.alter(call, answer);
    } finally {
      this.pending--;
    }
  }

  count(verb: Verb): number {
    return this.of(verb).length;
  }

  of<Of extends Verb>(verb: Of): readonly Call<Of>[] {
    return this.calls.filter((call) => call.verb === verb) as unknown as Call<Of>[];
  }

  /** The next call of this verb goes wrong, once. */
  failNext(verb: Verb, fault: Fault): void {
    let left = 1;
    this.fault = (call) => (call.verb === verb && left-- > 0 ? fault : undefined);
  }

  /** The store cannot be reached from now on, until it is back. */
  breakDown(): void {
    this.fault = () => "before";
  }

  comeBack(): void {
    this.fault = () => undefined;
  }
}

export function unavailable(): HoldfastError {
  return new HoldfastError("STORE_UNAVAILABLE", "The store is not there");
}

function noteLease({ verb, given }: Call, lease: Lease, life: Life): void {
  if (verb === "own" && lease.outcome === "owned")
    life.lease = { worker: given[0] as string, epoch: lease.epoch };
}
