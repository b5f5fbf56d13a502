/**
 * Counters: what a message costs of a model's window. Counting is the dear part of building a window, so each counter
 * counts a message once for as long as the object is in memory.
 */
import type { FilePart, Message, Part } from "../thread/message.ts";
import { estimateTokens } from "./estimate.ts";

/** Counts tokens: of a text, and of a message with what surrounds its texts. */
export interface Counter {
  /** Whether it counts as the model does, so that no report can correct it; what is reported beyond is no matter of counting. */
  readonly isExact?: boolean;
  text(text: string): number;
  message(message: Message): number;
}

export interface CounterOptions {
  /** What a message costs besides its parts: its role, and where it begins and ends. */
  readonly perMessage?: number;
  /** What a call or a result costs besides its texts: its id, its names. */
  readonly perCall?: number;
  /** What a file costs: models take images and documents by area or pages, which only their makers can tell. */
  readonly file?: (part: FilePart) => number;
}

/** The commonest price of an image: that of about a megapixel. */
const fileTokens = 1_200;

/** A counter of messages from one of texts. */
export function counterFrom(text: (text: string) => number, options: CounterOptions = {}): Counter {
  const { perMessage = 4, perCall = 12, file = () => fileTokens } = options;
  const known = new WeakMap<Message, number>();
  const partTokens = (part: Part): number => {
    switch (part.type) {
      case "text":
      case "thinking":
        return text(part.text);
      case "file":
        return file(part);
      case "call":
        return perCall + text(part.tool) + text(JSON.stringify(part.input));
      case "result":
        return perCall + text(typeof part.output === "string" ? part.output : JSON.stringify(part.output));
    }
  };
  return {
    text,
    message(message) {
      const before = known.get(message);
      if (before !== undefined) return before;
      const tokens = message.parts.reduce((sum, part) => sum + partTokens(part), perMessage);
      known.set(message, tokens);
      return tokens;
    },
  };
}

/** A counter that needs no vocabulary: a few percent off for most texts; see the guide. */
export const estimate = (options: CounterOptions = {}): Counter => counterFrom(estimateTokens, options);

/** How much more (or less) than counted each model reports, learned from what it reports; plain JSON, to be kept in a context. */
export interface Calibration {
  [model: string]: { ratio: number; reports: number };
}

/** What the newest report weighs against all before it, once there are some. */
const newestWeight = 0.2;
/**
 * Reports beyond these are no matter of counting: a cached prompt told apart, much besides the messages, a field that means
 * something else. The estimate is never off by so much.
 */
const ratioMin = 0.5;
const ratioMax = 2;

/** Takes in what a model reported for a window that was counted: the first as it is, later ones as a moving average. */
export function calibrate(
  calibration: Calibration,
  { model, counted, reported }: { model: string; counted: number; reported: number },
): void {
  const ratio = reported / counted;
  if (!(counted > 0) || !(ratio >= ratioMin && ratio <= ratioMax)) return;
  const before = Object.hasOwn(calibration, model) ? calibration[model] : undefined;
  const weight = before === undefined ? 1 : Math.max(newestWeight, 1 / (before.reports + 1));
  calibration[model] = {
    ratio: (before?.ratio ?? 0) * (1 - weight) + ratio * weight,
    reports: (before?.reports ?? 0) + 1,
  };
}

/** The counter, corrected for a model by what that has reported so far, unless it is exact. Counts of the counter are kept. */
export function calibrated(counter: Counter, calibration: Calibration, model: string): Counter {
  const ratio = Object.hasOwn(calibration, model) ? (calibration[model]?.ratio ?? 1) : 1;
  if (ratio === 1 || counter.isExact) return counter;
  return {
    text: (text) => Math.ceil(counter.text(text) * ratio),
    message: (message) => Math.ceil(counter.message(message) * ratio),
  };
}
