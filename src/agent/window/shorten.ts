/**
 * Shorter forms of messages, for a window only: the thread keeps what was said. Every form says what is missing, so that
 * neither a model nor a person takes it for the whole.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import type { CallPart, Message, Part, ResultPart } from "../thread/message.ts";
import type { OpenCall } from "../thread/thread.ts";
import type { Counter } from "./tokens.ts";

/** What stands in place of a result that can be fetched again. */
export const clearedText = "[This result was cleared to save room. Call the tool again if you need it.]";

/** What stands in place of a result that is not there yet. */
export const pendingText = "[No result is known yet.]";

/** A tool message with the results of these tools cleared; undefined if it has none. */
export function cleared(message: Message, tools: ReadonlySet<string>): Message | undefined {
  const isOld = (part: Part) => part.type === "result" && tools.has(part.tool);
  if (!message.parts.some(isOld)) return undefined;
  const parts = message.parts.map((part) =>
    isOld(part) ? { ...(part as ResultPart), output: clearedText } : part,
  );
  return { ...message, parts, metadata: { ...message.metadata, cleared: true } };
}

/** A tool message that answers calls which have no result yet, so that a model can be shown the unit at all. */
export const pending = (id: string, at: number, calls: readonly OpenCall[]): Message => ({
  id,
  at,
  role: "tool",
  parts: calls.map(
    (call): ResultPart => ({
      type: "result",
      call: call.id,
      tool: call.tool,
      output: pendingText,
      isError: true,
    }),
  ),
  metadata: { pending: true },
});

/** The texts of a message that may be cut: what tools gave, and what they were given. Nobody's words are. */
export const cuttable = (part: Part): string | undefined =>
  part.type === "result" ? asText(part.output) : part.type === "call" ? asText(part.input) : undefined;

const asText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A message in which no result and no input of a call takes more tokens than given, and the ids of what was cut. */
export function cutTo(
  message: Message,
  tokensMax: number,
  count: Counter,
): { message: Message; cut: string[] } {
  const cut: string[] = [];
  const parts = message.parts.map((part) => {
    const text = cuttable(part);
    if (text === undefined || count.text(text) <= tokensMax) return part;
    const short = cutText(text, tokensMax, count);
    cut.push(part.type === "call" ? part.id : (part as ResultPart).call);
    return part.type === "call" ? withInput(part, short) : { ...(part as ResultPart), output: short };
  });
  if (cut.length === 0) return { message, cut };
  return { message: { ...message, parts, metadata: { ...message.metadata, cut } as JsonObject }, cut };
}

/** Models take objects as inputs, so what is left of one goes into one. */
const withInput = (part: CallPart, short: string): CallPart => ({
  ...part,
  input: typeof part.input === "string" ? short : { cut: short },
});

/** The beginning and the end of a text, with a mark between them, in at most so many tokens. */
export function cutText(text: string, tokensMax: number, count: Counter): string {
  let kept = Math.floor((text.length * tokensMax) / Math.max(1, count.text(text)));
  for (;;) {
    const short = shortened(text, kept);
    if (kept === 0 || count.text(short) <= tokensMax) return short;
    kept = Math.floor(kept * 0.9);
  }
}

/** Of every three characters, two are from the beginning. */
function shortened(text: string, kept: number): string {
  const head = kept - Math.floor(kept / 3);
  const tail = kept - head;
  const missing = text.length - kept;
  const mark = `[… ${missing} characters cut …]`;
  if (kept === 0) return mark;
  return `${text.slice(0, head)}${mark}${tail === 0 ? "" : text.slice(-tail)}`.toWellFormed();
}
