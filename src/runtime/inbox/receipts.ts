/** Receipts of events that were sent before: what became of each is found by its key, in the journal or the inbox. */
import type { ReplyEffect } from "../../core/effect.ts";
import { HoldfastError } from "../../errors.ts";
import type { KeyName, Taken } from "../../store/fleet.ts";
import type { RunName } from "../../store/records.ts";
import type { Handled, LiveRun } from "../live/live-run.ts";
import type { Past } from "../live/past.ts";
import { untakenError } from "../recovery.ts";
import type { Owner } from "../seal.ts";
import type { Standing, Waiting } from "../standing.ts";
import { type Hearing, hearingOf, type Registered, whicheverKnows } from "./hearings.ts";

export interface ReceiptWorld {
  readonly past: Past;
  /** The run as it is in memory, which is good enough to know whose it is. */
  reach(name: RunName): Promise<LiveRun> | LiveRun;
  /** What will become of an event that waits in the inbox. */
  waitFor(name: RunName, key: string): Registered;
  /** A step that took an event elsewhere gave a reply. */
  replied(name: RunName, reply: ReplyEffect): void;
  readonly standing: Pick<Standing, "isShared" | "readTaken" | "until">;
}

export class Receipts {
  readonly #world: ReceiptWorld;

  constructor(world: ReceiptWorld) {
    this.#world = world;
  }

  /** The receipt of an event of this key; undefined if the run has seen none. */
  async read(name: RunName, key: string): Promise<Hearing | undefined> {
    const taken = await this.#world.standing.readTaken({ ...name, key });
    if (taken === undefined) return undefined;
    if (taken.seq === undefined) return hearingOf(() => this.#wait(name, key));
    const handled = await this.#readHandled(name, taken);
    return { handled: async () => handled };
  }

  /** What becomes of an event that was in the inbox when somebody looked; it may have been taken since. */
  #wait(name: RunName, key: string): Pick<Waiting<Handled>, "told" | "cancel"> {
    const { waitFor, standing } = this.#world;
    const waiting = waitFor(name, key);
    let elsewhere: Waiting<Handled> | undefined;
    let isLeft = false;
    const cancel = () => {
      isLeft = true;
      waiting.cancel();
      elsewhere?.cancel();
    };
    // Others who wait are not told of what is found here: theirs may be taken by a step of which this process has no answer yet.
    const look = async () => {
      const taken = await this.readTaken({ ...name, key });
      if (taken !== undefined || !standing.isShared || isLeft) return taken ?? waiting.told;
      elsewhere = standing.until(name, () => this.readTaken({ ...name, key }));
      return whicheverKnows(waiting.told, elsewhere);
    };
    return { told: look().finally(cancel), cancel };
  }

  /** What became of an event; undefined while it waits. Throws RUN_ENDED if its run ended without taking it. */
  async readTaken(event: KeyName & Partial<Owner>): Promise<Handled | undefined> {
    const taken = await this.#world.standing.readTaken(event);
    if (taken === undefined) throw untakenError(event);
    return taken.seq === undefined ? undefined : this.#readHandled(event, taken);
  }

  /** The run itself is read only if what was read of the event does not do. */
  async #readHandled(name: RunName & Partial<Owner>, taken: Taken): Promise<Handled> {
    const { past, reach, replied } = this.#world;
    const { tenant, run, subject = (await reach(name)).head.subject } = name;
    const { seq, outcome, error, effects } =
      (await past.taken({ tenant, run, subject }, taken)) ??
      (await past.entry((await reach(name)).head, taken.seq as number));
    // Whoever asked waits for this, and need not read it once more.
    for (const effect of effects) if (effect.type === "reply") replied(name, effect);
    return { seq, outcome, error: error && errorOf(error) };
  }
}

/** An error as it was before it went into the journal. */
function errorOf({ code, message }: Record<string, unknown>): HoldfastError {
  return new HoldfastError(code as HoldfastError["code"], message as string);
}
