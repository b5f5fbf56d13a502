/** Asking a run: an event is given to it, and the reply is whichever step gives it, the one that takes it or a later one, here or elsewhere. */
import { durationMs } from "../../core/duration.ts";
import type { Event } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { RunHead, RunName } from "../../store/records.ts";
import type { Clock } from "../clock.ts";
import { hasEnded, type LiveRun } from "../live/live-run.ts";
import type { Past } from "../live/past.ts";
import type { Standing } from "../standing.ts";
import { endedError, type Sight, type Watchers } from "../watchers.ts";
import type { Admitted } from "./admitted.ts";
import type { Hearing } from "./hearings.ts";
import { type Replies, replyName } from "./replies.ts";

export interface AskWorld {
  readonly clock: Clock;
  readonly past: Past;
  /** Whoever waits for a run to be in some state. */
  readonly watchers: Watchers;
  /** By the name of the event that asked. */
  readonly replies: Replies;
  readonly standing: Pick<Standing, "isShared">;
  /** The receipt of an event of this key; undefined if the run has seen none. */
  readReceipt(name: RunName, key: string): Promise<Hearing | undefined>;
}

/** The step that took the event. */
interface Taken {
  readonly seq: number;
  /** Whether that was before it was asked this time. */
  readonly isRepeat: boolean;
}

export class Asking {
  readonly #world: AskWorld;
  readonly #run: LiveRun;
  readonly #event: Event;
  readonly #key: string | undefined;

  constructor(world: AskWorld, run: LiveRun, { event, key }: Admitted) {
    this.#world = world;
    this.#run = run;
    this.#event = event;
    this.#key = key;
  }

  /** Resolves with the reply; throws ASK_UNANSWERED if there will be none. `hand` gives the event to the run. */
  async ask(hand: () => Promise<Hearing>, timeout: number | string | undefined): Promise<Json> {
    const { name } = this.#run;
    const reply = this.#world.replies.wait(replyName(name, this.#event.replyTo as string));
    const ended = this.#world.watchers.watch(name, hasEnded);
    const late = this.#expire(timeout);
    const over = new AbortController();
    try {
      const taken = this.#take(hand, over.signal);
      const found = taken.then((step) => this.#find(step, over.signal));
      const missed = ended.seen.then((sight) => this.#conclude(sight, taken));
      return await Promise.race([reply.told, missed, late.passed, found]);
    } finally {
      reply.cancel();
      ended.cancel();
      late.cancel();
      over.abort();
    }
  }

  /** Gives the event to the run, unless it has had it; throws if it was not taken. */
  async #take(hand: () => Promise<Hearing>, over: AbortSignal): Promise<Taken> {
    const { name } = this.#run;
    const before = this.#key === undefined ? undefined : await this.#world.readReceipt(name, this.#key);
    const receipt: Hearing = before ?? (await hand());
    // Whoever asked may be gone long before the run takes it, if it ever does.
    if (over.aborted) receipt.leave?.();
    else over.addEventListener("abort", () => receipt.leave?.(), { once: true });
    const { outcome, error, seq } = await receipt.handled();
    if (outcome !== "refused" && outcome !== "ignored") return { seq, isRepeat: before !== undefined };
    throw new HoldfastError(
      "ASK_UNANSWERED",
      `The run ${JSON.stringify(name.run)} ${outcome} ${JSON.stringify(this.#event.type)}: ${error?.message ?? "no active state takes it"}`,
      { cause: error },
    );
  }

  /** Resolves only with a reply that was given before; sees to it that one is told that is given elsewhere, until it is over. */
  async #find({ seq, isRepeat }: Taken, over: AbortSignal): Promise<Json> {
    const before = isRepeat ? await this.#readReply(seq) : undefined;
    if (before !== undefined) return before.data;
    if (!this.#world.standing.isShared || over.aborted) return new Promise(() => {});
    const { failed, cancel } = this.#world.replies.follow(this.#run.name, seq);
    over.addEventListener("abort", cancel, { once: true });
    return failed;
  }

  /** The reply to an event that was taken before; undefined while it is still to come. */
  async #readReply(seq: number): Promise<{ readonly data: Json } | undefined> {
    const { head } = this.#run;
    const { type, replyTo } = this.#event;
    const isAsked = (await this.#world.past.entry(head, seq)).event.replyTo === replyTo;
    const reply = isAsked ? await this.#search(head, seq) : undefined;
    if (reply !== undefined || (isAsked && !hasEnded(this.#run))) return reply;
    const why = isAsked ? "ended without a reply to it" : "took it without being asked";
    throw new HoldfastError(
      "ASK_UNANSWERED",
      `The run ${JSON.stringify(head.run)} has had ${JSON.stringify(type)} under this key before, and ${why}`,
    );
  }

  async #search(head: RunHead, from: number): Promise<{ readonly data: Json } | undefined> {
    for await (const { effects } of this.#world.past.entries(head, from))
      for (const effect of effects)
        if (effect.type === "reply" && effect.to === this.#event.replyTo)
          return { data: effect.data ?? null };
    return undefined;
  }

  /** The run has ended. If it did so elsewhere, that may be known here before the reply that it gave. */
  async #conclude(sight: Sight, taken: Promise<Taken>): Promise<Json> {
    const reply = this.#world.standing.isShared
      ? await this.#search(sight.head, (await taken).seq)
      : undefined;
    if (reply !== undefined) return reply.data;
    throw endedError(sight, `has not replied to ${JSON.stringify(this.#event.type)}`, "ASK_UNANSWERED");
  }

  #expire(timeout: number | string | undefined): { passed: Promise<never>; cancel(): void } {
    const { promise, reject } = Promise.withResolvers<never>();
    if (timeout === undefined) return { passed: promise, cancel: () => {} };
    const cancel = this.#world.clock.after(durationMs(timeout), () => {
      const asked = `has not replied to ${JSON.stringify(this.#event.type)} within ${timeout}`;
      reject(new HoldfastError("ASK_UNANSWERED", `The run ${JSON.stringify(this.#run.name.run)} ${asked}`));
    });
    return { passed: promise, cancel };
  }
}
