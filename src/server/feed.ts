/**
 * The feed: every step of a tenant's runs, as it comes, for those who follow all of them. The newest are kept, so that whoever
 * lost the connection for a while misses none; whoever was away for longer is told of the gap. Steps of other processes are
 * here while somebody follows (`elsewhere.ts`), and for a while after.
 */
import { limits } from "../limits.ts";
import type { Clock } from "../runtime/clock.ts";
import { personAttribute } from "../runtime/registry.ts";
import type { Committed, CommittedStep } from "../runtime/run.ts";
import type { RunHead } from "../store/records.ts";
import type { StepNews } from "./contract/journal.ts";
import { frameOf, markOf, type Sink } from "./sink.ts";

interface Kept {
  readonly number: number;
  readonly head: RunHead;
  readonly configuration: readonly string[];
  readonly step: CommittedStep;
}

/** The checkpoints of a run that were told, without a hole. */
export interface Told {
  readonly first: number;
  readonly last: number;
}

/** A tenant that is followed, where others take steps too. */
export interface Following {
  /** What was told of a run; undefined if nothing was. */
  told(run: string): Told | undefined;
}

class Followed implements Following {
  /** The number from which on nothing is missing. */
  from: number;
  /** Ends it, once nobody follows any more. */
  cancel: () => void = () => {};
  readonly #runs = new Map<string, Told>();

  constructor(from: number) {
    this.from = from;
  }

  told(run: string): Told | undefined {
    return this.#runs.get(run);
  }

  note(run: string, first: number, last: number): void {
    const known = this.#runs.get(run);
    this.#runs.delete(run);
    this.#runs.set(run, {
      first: Math.min(first, known?.first ?? first),
      last: Math.max(last, known?.last ?? last),
    });
    const oldest = this.#runs.keys().next().value;
    if (this.#runs.size > limits.feedKnownMax && oldest !== undefined) this.#runs.delete(oldest);
  }
}

export class Feed {
  /** Tells this process's numbers from those of another. */
  readonly #boot: string;
  readonly #kept: Kept[] = [];
  readonly #followers = new Map<string, Set<Sink>>();
  /** Where others take steps too: tenants whose steps are all here. */
  readonly #followed = new Map<string, Followed>();
  readonly #clock: Clock | undefined;
  #count = 0;

  /** With a clock where others take steps too. */
  constructor(boot: string, clock?: Clock) {
    this.#boot = boot;
    this.#clock = clock;
  }

  /** What is known of a tenant that is followed; undefined if nobody wants to know what others do. */
  following(tenant: string): Following | undefined {
    return this.#followed.get(tenant);
  }

  /** Followers of a tenant, or of any, may have missed something. */
  gap(tenant: string | undefined): void {
    const tenants = tenant === undefined ? [...this.#followed.keys()] : [tenant];
    for (const one of tenants) {
      const followed = this.#followed.get(one);
      if (followed !== undefined) followed.from = this.#count;
      for (const sink of this.#followers.get(one) ?? []) sink.send(this.#gapFrame());
    }
  }

  /** A run has made steps. */
  readonly told = ({ head, state, steps }: Committed): void => {
    const [first, last] = [steps[0]?.seq, steps.at(-1)?.seq];
    if (first !== undefined && last !== undefined)
      this.#followed.get(head.tenant)?.note(head.run, first, last);
    for (const step of steps) {
      const kept: Kept = { number: ++this.#count, head, configuration: state.configuration, step };
      this.#kept[kept.number % limits.stepsKeptMax] = kept;
      const followers = this.#followers.get(head.tenant);
      if (followers === undefined) continue;
      // Made once, however many follow.
      const frame = this.#frameOf(kept);
      for (const sink of followers) sink.send(frame);
    }
  };

  /** Sends a sink what came after an event, and all that comes from now on. */
  follow(sink: Sink, lastEventId: string | undefined): void {
    const { tenant } = sink;
    const last = this.#positionOf(lastEventId, this.#hear(tenant));
    if (last === undefined) sink.send(this.#gapFrame());
    else if (last === this.#count) sink.send(markOf(this.#idOf(last)));
    else
      for (const kept of this.#after(last)) if (kept.head.tenant === tenant) sink.send(this.#frameOf(kept));
    // What it missed was too much at once: it comes back for the rest.
    if (sink.signal.aborted) {
      this.#linger(tenant);
      return;
    }
    const followers = this.#followers.get(tenant) ?? new Set();
    this.#followers.set(tenant, followers.add(sink));
    sink.signal.addEventListener("abort", () => {
      followers.delete(sink);
      if (followers.size > 0) return;
      this.#followers.delete(tenant);
      this.#linger(tenant);
    });
  }

  /** From now on all steps of a tenant are told; gives the number from which on none is missing. */
  #hear(tenant: string): number {
    if (this.#clock === undefined) return 0;
    const followed = this.#followed.get(tenant) ?? new Followed(this.#count);
    this.#followed.set(tenant, followed);
    followed.cancel();
    return followed.from;
  }

  /** Goes on for a while without followers: who lost a connection comes back, and is to miss nothing. */
  #linger(tenant: string): void {
    const followed = this.#followed.get(tenant);
    if (followed === undefined || this.#followers.has(tenant)) return;
    followed.cancel();
    followed.cancel =
      this.#clock?.after(limits.feedLingerMs, () => void this.#followed.delete(tenant)) ?? (() => {});
  }

  /** Forgets who followed: nothing is gathered any more. */
  close(): void {
    for (const { cancel } of this.#followed.values()) cancel();
    this.#followed.clear();
  }

  /** After which number to go on; undefined if what came after the event is not kept any more, or never was. */
  #positionOf(lastEventId: string | undefined, from: number): number | undefined {
    if (lastEventId === undefined || lastEventId === "") return this.#count;
    const [boot, number = ""] = lastEventId.split(".");
    if (boot !== this.#boot || !/^\d{1,15}$/.test(number)) return undefined;
    const last = Number(number);
    const isKept = last <= this.#count && last >= Math.max(from, this.#count - limits.stepsKeptMax);
    return isKept ? last : undefined;
  }

  *#after(last: number): Generator<Kept> {
    for (let number = last + 1; number <= this.#count; number++)
      yield this.#kept[number % limits.stepsKeptMax] as Kept;
  }

  #idOf(number: number): string {
    return `${this.#boot}.${number}`;
  }

  #gapFrame(): Uint8Array {
    return frameOf({ id: this.#idOf(this.#count), event: "gap", data: { missed: true } });
  }

  #frameOf({ number, head, configuration, step }: Kept): Uint8Array {
    return frameOf({ id: this.#idOf(number), event: "step", data: newsOf(head, configuration, step) });
  }
}

function newsOf(head: RunHead, configuration: readonly string[], step: CommittedStep): StepNews {
  const { run, machine, version, status, subject, attributes, createdAt, completedAt } = head;
  return {
    ...{ run, machine, version, status, subject, createdAt, attributes: { ...attributes } },
    ...(completedAt === undefined ? {} : { completedAt }),
    ...{ seq: step.seq, at: step.at, event: step.event.type, outcome: step.outcome },
    ...{ configuration: [...configuration], needsPerson: attributes[personAttribute] === true },
  };
}
