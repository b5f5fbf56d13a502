/** What the model of an agent sees: instructions, what the agent is about, and as much of the thread as its window holds. */
import type { ActivityScope } from "../../core/activity.ts";
import { isHoldfastError } from "../../errors.ts";
import { renderMemory } from "../plan/working-memory.ts";
import type { Message } from "../thread/message.ts";
import type { Overlay } from "../thread/thread.ts";
import { addOverlay } from "../window/overlay.ts";
import type { WindowOptions } from "../window/piece.ts";
import { compact, planSummary, type SummaryPlan } from "../window/summary.ts";
import { type Calibration, type Counter, calibrated, estimate } from "../window/tokens.ts";
import { buildWindow } from "../window/window.ts";
import { type AgentContext, type Changing, modelName } from "./context.ts";
import { renderRecalled } from "./recalled.ts";
import { type Sight, sightOf } from "./seen.ts";
import { charge, type Spending } from "./spending.ts";
import { noteOf, withNote } from "./understanding.ts";

/** How a thread is brought into the window of a model. */
export interface AgentWindow extends Pick<WindowOptions, "keepRecent" | "importance" | "halfLife"> {
  /** Tokens that messages may take; 32,000 unless given. */
  readonly budget?: number;
  /** An estimate that learns from what the model reports, unless given. */
  readonly count?: Counter;
  /** Sums up what no longer fits well; done without a model unless given. */
  readonly summarise?: (
    plan: Pick<SummaryPlan, "messages" | "previous">,
    scope: ActivityScope,
  ) => Promise<string> | string;
}

/** So much of a window, one part in this many, what phrases mean may take. */
const noteShare = 10;

/** What the lifecycle needs of a window. */
export interface View {
  /** Counts as nobody has corrected it. */
  readonly count: Counter;
  /** What the model may see now, and how many tokens that is, before what the model has reported is counted in. */
  of(
    context: AgentContext,
    now: number,
  ): { readonly messages: readonly Message[]; readonly tokens: number; readonly sight: Sight };
  /** What is to be summed up, if it is time to. */
  plan(context: AgentContext): SummaryPlan | undefined;
  /** Sums up without a model, if it is time to. */
  compact(draft: Changing, now: number): void;
}

export function viewWith(
  { budget = 32_000, count = estimate(), summarise, ...window }: AgentWindow,
  instructions: string | undefined,
  refetchable: (tool: string) => boolean,
): View {
  const { keepRecent } = window;
  const sizes = { budget, count, ...(keepRecent === undefined ? {} : { keepRecent }) };
  return {
    count,
    of({ thread, working, calibration, seen, turn, topicPlaces, recalled }, now) {
      const system = [
        instructions,
        working.goal === "" ? "" : renderMemory(working),
        renderRecalled(recalled),
      ]
        .filter(Boolean)
        .join("\n\n");
      const note = noteOf(turn, (text) => count.text(text) <= budget / noteShare);
      const build = (counter: Counter) => {
        const beside = note === "" ? 0 : counter.text(note) + 2;
        const built = buildWindow(thread, {
          ...{ ...window, budget: budget - beside, count: counter, now, refetchable },
          ...(turn.topic === null
            ? {}
            : { importance: onTopic(turn.topic, window.importance), wanted: topicPlaces[turn.topic] ?? [] }),
          ...(system === "" ? {} : { system }),
        });
        const ratio = counter === count ? 1 : (calibration[modelName]?.ratio ?? 1);
        return { built, tokens: built.tokens + beside, ratio };
      };
      const corrected = calibrated(count, calibration as Calibration, modelName);
      const { built, tokens, ratio } = orElse(
        () => build(corrected),
        () => build(count),
      );
      return {
        messages: withNote(built.messages, turn.message, note),
        tokens: Math.round(tokens / ratio),
        sight: { ...sightOf({ thread, seen }, built, { at: now, budget, system }), tokens },
      };
    },
    plan: ({ thread }) => planSummary(thread, sizes),
    compact: (draft, now) => {
      if (summarise === undefined) compact(draft.thread, { ...sizes, id: overlayId(draft), now });
    },
  };
}

/** What was learned of a model keeps windows small, and is no reason to refuse what fits by what was counted. */
function orElse<Built>(build: () => Built, plainly: () => Built): Built {
  try {
    return build();
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "WINDOW_TOO_SMALL") throw error;
    return plainly();
  }
}

/** What belongs to the topic at hand is worth as much as what was said two half-lives later. */
const onTopic =
  (topic: number, importance: AgentWindow["importance"]) =>
  (message: Message): number => {
    const given = message.metadata?.importance;
    const worth = importance?.(message) ?? (typeof given === "number" ? given : 1);
    return message.metadata?.topic === topic ? 4 * worth : worth;
  };

/** An id for the next summary; a thread that came from elsewhere may have one of this name. */
function overlayId({ thread }: Changing): string {
  let id = `summary-${thread.overlays.length}`;
  while (thread.overlays.some((overlay) => overlay.id === id)) id += "~";
  return id;
}

/** Somebody has summed up what was planned; what says nothing stands for nothing. */
export function keepSummary(draft: Changing, summary: Summary, at: number): void {
  const { from, to, text } = summary;
  charge(draft, summary);
  if (text.trim() === "") return;
  const overlay: Overlay = { id: overlayId(draft), from, to, text, at, by: modelName };
  addOverlay(draft.thread, overlay);
}

/** What the activity that sums up gives back. */
export interface Summary extends Spending {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}
