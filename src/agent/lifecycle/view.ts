/** What the model of an agent sees: instructions, what the agent is about, and as much of the thread as its window holds. */
import type { JsonObject } from "../../core/json.ts";
import { renderMemory } from "../plan/working-memory.ts";
import type { Message } from "../thread/message.ts";
import type { Overlay } from "../thread/thread.ts";
import { addOverlay } from "../window/overlay.ts";
import type { WindowOptions } from "../window/piece.ts";
import { compact, planSummary, type SummaryPlan } from "../window/summary.ts";
import { type Calibration, type Counter, calibrated, estimate } from "../window/tokens.ts";
import { buildWindow } from "../window/window.ts";
import { type AgentContext, type Changing, modelName } from "./context.ts";

/** How a thread is brought into the window of a model. */
export interface AgentWindow extends Pick<WindowOptions, "keepRecent" | "importance" | "halfLife"> {
  /** Tokens that messages may take; 32,000 unless given. */
  readonly budget?: number;
  /** An estimate that learns from what the model reports, unless given. */
  readonly count?: Counter;
  /** Sums up what no longer fits well; done without a model unless given. */
  readonly summarise?: (plan: Pick<SummaryPlan, "messages" | "previous">) => Promise<string> | string;
}

/** What the lifecycle needs of a window. */
export interface View {
  /** What the model may see now, and how many tokens that is, before what the model has reported is counted in. */
  of(context: AgentContext, now: number): { readonly messages: readonly Message[]; readonly tokens: number };
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
    of({ thread, working, calibration }, now) {
      const system = [instructions, working.goal === "" ? "" : renderMemory(working)]
        .filter(Boolean)
        .join("\n\n");
      const counter = calibrated(count, calibration as Calibration, modelName);
      const { messages, tokens } = buildWindow(thread, {
        ...{ ...window, budget, count: counter, now, refetchable },
        ...(system === "" ? {} : { system }),
      });
      return { messages, tokens: Math.round(tokens / (calibration[modelName]?.ratio ?? 1)) };
    },
    plan: ({ thread }) => planSummary(thread, sizes),
    compact: (draft, now) => {
      if (summarise === undefined) compact(draft.thread, { ...sizes, id: overlayId(draft), now });
    },
  };
}

const overlayId = ({ thread }: Changing): string => `summary-${thread.overlays.length}`;

/** Somebody has summed up what was planned. */
export function keepSummary(draft: Changing, { from, to, text }: Summary, at: number): void {
  const overlay: Overlay = { id: overlayId(draft), from, to, text, at, by: modelName };
  addOverlay(draft.thread, overlay);
}

/** What the activity that sums up gives back. */
export interface Summary extends JsonObject {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}
