/** What the world hears of a step once it is durable: logs, emitted events, replies, and activities that are not wanted. */
import type { EmitEffect, LogEffect } from "../core/effect.ts";
import type { Event } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Step } from "../core/step.ts";
import { HoldfastError } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import { replyName } from "./inbox/replies.ts";
import type { Waiters } from "./waiters.ts";

export interface AnnounceWorld {
  readonly replies: Waiters<Json>;
  /** A run has logged or emitted something. */
  tell(name: RunName, effect: LogEffect | EmitEffect): void;
  /** An activity is not wanted any more. */
  cancel(name: RunName, key: string): void;
}

/** How steps are announced. */
export function announceWith(world: AnnounceWorld): (name: RunName, step: Step) => void {
  const { replies, tell, cancel } = world;
  return (name, { effects, dropped }) => {
    for (const effect of effects) {
      if (effect.type === "log" || effect.type === "emit") tell(name, effect);
      else if (effect.type === "reply") replies.tell(replyName(name, effect.to), effect.data ?? null);
      else if (effect.type === "cancel" && effect.of === "activity") cancel(name, effect.key);
    }
    for (const event of dropped) refuseReply(replies, name, event);
  };
}

/** An event that asked and will never be taken gets no reply. */
function refuseReply(replies: Waiters<Json>, name: RunName, { replyTo, type }: Event): void {
  if (replyTo === undefined) return;
  const dropped = `The run ${JSON.stringify(name.run)} deferred ${JSON.stringify(type)}, and no state takes it any more`;
  replies.refuse(replyName(name, replyTo), new HoldfastError("ASK_UNANSWERED", dropped));
}
