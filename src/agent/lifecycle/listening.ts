/**
 * Listening to an agent: its steps, and what its model says between them, as one sequence of parts.
 *
 * L1. The texts of the parts between two messages are the message's text, whatever crashed meanwhile: a model that is asked
 *     again and says the same is not heard twice, and one that says something else is announced with `restart`.
 */
import { doneInvokeType, type Event } from "../../core/event.ts";
import { isObject } from "../../core/json.ts";
import type { Patch } from "../../core/patch.ts";
import { childName } from "../../runtime/child-name.ts";
import type { Run } from "../../runtime/run.ts";
import type { Entry as Step } from "../../store/journal.ts";
import type { ModelPiece } from "../model/model.ts";
import { type Message, textOf } from "../thread/message.ts";
import type { AgentContext } from "./context.ts";
import { byReflection } from "./turn.ts";
import type { Cursor, TurnPart } from "./turn-part.ts";

type AgentRun = Run<AgentContext>;
/** A part before it is known where it stands. */
type NewPart = TurnPart extends infer Part ? (Part extends TurnPart ? Omit<Part, "cursor"> : never) : never;

/** Listens from a cursor on; where the conversation is handed to another run, to that one. Runs are opened by what follows their first one's id. */
export async function* listen(
  open: (after: string) => Promise<AgentRun>,
  cursor: Cursor,
): AsyncGenerator<TurnPart> {
  let at = cursor;
  for (;;) {
    const { run = "" } = at;
    const has = (key: string) =>
      open(`${run}/${key}`).then(
        () => true,
        () => false,
      );
    const parts = listenTo(await open(run), at, has);
    let next = await parts.next();
    for (; !next.done; next = await parts.next()) {
      const { value } = next;
      yield run === "" ? value : { ...value, cursor: { run, ...value.cursor } };
    }
    if (next.value === undefined) return;
    at = { run: `${run}/${next.value}`, seq: 0 };
  }
}

/** Listens to one run; returns the key of the one that has the conversation then, if there is one. */
async function* listenTo(
  run: AgentRun,
  cursor: Cursor,
  has: (key: string) => Promise<boolean>,
): AsyncGenerator<TurnPart, string | undefined> {
  let ear = new Ear();
  for await (const step of run.follow(cursor.seq)) {
    const { seq } = step;
    // What was heard before is listened to again, to know what comes after it. All parts of a step come before its pieces.
    const { part: lastPart = -1, piece: lastPiece = -1 } = seq === cursor.seq ? cursor : {};
    if (lastPart >= 0) await ear.recall(run, step);
    const given = successorOf(step);
    // One that could not begin leaves the conversation where it is.
    const successor = given !== undefined && (await has(given)) ? given : undefined;
    let count = 0;
    for await (const part of partsOf(run, step, ear, successor)) {
      if (count > lastPart && lastPiece < 0) yield { ...part, cursor: { seq, part: count } } as TurnPart;
      count++;
    }
    if (successor !== undefined) return successor;
    const key = thoughtOf(step);
    if (key === undefined) continue;
    ear = new Ear();
    for await (const { offset: piece, attempt, data } of run.stream(key))
      for (const part of ear.hear(data as unknown as ModelPiece, attempt))
        if (piece > lastPiece) yield { ...part, cursor: { seq, piece } } as TurnPart;
  }
  return undefined;
}

const thoughtEnd = doneInvokeType("think");

/** What a step brings: messages, questions to people, the end of a turn. */
async function* partsOf(
  run: AgentRun,
  step: Step,
  ear: Ear,
  successor: string | undefined,
): AsyncGenerator<NewPart> {
  const messages = messagesIn(step);
  const isAsking = step.patches.some((patch) => patch.path[0] === "configuration" && entersWaiting(patch));
  const hasEnded = step.patches.some(({ path }) => path[1] === "ended");
  const context = isAsking || hasEnded ? (await run.at(step.seq)).context : undefined;
  for (const message of messages) if (message.role !== "user") yield* heardIn(message, ear);
  if (successor !== undefined) yield { type: "handedOver", text: "", to: childName(run.id, successor) };
  else if (hasEnded && context?.ended && context.ended.outcome !== "handedOver")
    yield { type: "end", text: "", ...context.ended };
  for (const event of step.dropped ?? []) yield* untaken(event);
  // What is said next may be taken in the same step.
  for (const { id, role, metadata } of messages)
    if (role === "user" && metadata?.by !== byReflection) yield { type: "said", text: "", message: id };
  if (isAsking && context !== undefined) {
    const calls = context.calls.filter(({ decision }) => decision === "asked");
    yield { type: "approval", text: "", calls };
  }
}

/** What waited in line, and cannot be said: its turn ends before it has begun. */
function* untaken({ type, data }: Event): Generator<NewPart> {
  if (type !== "say" || !isObject(data) || typeof data.id !== "string") return;
  const { id: message } = data;
  const why = `The message ${JSON.stringify(message)} waited, and cannot be said: its id is that of another one, or there is none that it could be said instead of`;
  const reason = { name: "HoldfastError", code: "MESSAGE_INVALID", message: why };
  yield { type: "end", text: "", message, outcome: "failed", head: null, reason };
}

const entersWaiting = (patch: Patch): boolean => JSON.stringify(patch).includes('"working.waiting"');

function* heardIn(message: Message, ear: Ear): Generator<NewPart> {
  if (message.role === "assistant" && !message.metadata?.interrupted) yield* ear.finish(textOf(message));
  for (const part of message.parts) {
    if (part.type === "call") yield { type: "call", text: "", call: part };
    if (part.type === "result") yield { type: "result", text: "", result: part };
  }
}

/** Hears one message, however often the model begins it anew. */
class Ear {
  /** What was passed on. */
  #text = "";
  /** What the newest attempt has said; while it is the beginning of what was passed on, nobody need hear it again. */
  #again = "";
  #attempt = 0;

  hear(piece: ModelPiece, attempt: number): NewPart[] {
    if (attempt > this.#attempt) this.#again = "";
    this.#attempt = attempt;
    if (piece.type === "thinking") return [{ type: "thinking", text: "", thinking: piece.text }];
    this.#again += piece.text;
    return this.#text.startsWith(this.#again) ? [] : this.#catchUp(this.#again);
  }

  /** Hears what was heard of the message that a step brings, before somebody came back to it. */
  async recall(run: AgentRun, { event }: Step): Promise<void> {
    if (event.type !== thoughtEnd || event.invocation === undefined) return;
    for await (const { attempt, data } of run.stream(event.invocation))
      this.hear(data as unknown as ModelPiece, attempt);
  }

  /** This is what the message came to be. */
  finish(text: string): NewPart[] {
    return text === this.#text ? [] : this.#catchUp(text);
  }

  #catchUp(text: string): NewPart[] {
    const before = this.#text;
    this.#text = text;
    if (text.startsWith(before)) return [{ type: "text", text: text.slice(before.length) }];
    return [
      { type: "restart", text: "" },
      { type: "text", text },
    ];
  }
}

/** The messages that a step added to the thread. */
export function messagesIn({ patches }: Step): readonly Message[] {
  return patches.flatMap((patch) => {
    const [context, thread, pages, page] = patch.path;
    if (patch.op !== "append" || `${context}.${thread}.${pages}` !== "context.thread.pages") return [];
    // A page that goes on, or new ones.
    const added = patch.value as unknown;
    return page === undefined ? (added as Message[][]).flat() : (added as Message[]);
  });
}

/** The key of the run that a step handed the conversation to. */
const successorOf = ({ effects }: Step): string | undefined =>
  effects.find((effect) => effect.type === "spawn")?.key;

/** The key of the thought that a step began. */
function thoughtOf({ effects }: Step): string | undefined {
  const effect = effects.find((one) => one.type === "activity" && one.activity === "think");
  return effect?.type === "activity" ? effect.key : undefined;
}
