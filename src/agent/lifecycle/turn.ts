/** What becomes of what is said: turns begin, go on with what the model thinks and others say of it, and end. */
import type { Json, JsonObject } from "../../core/json.ts";
import type { ModelAnswer, Usage } from "../model/model.ts";
import { makePlan, type Plan, type PlannedTask, revisePlan } from "../plan/plan.ts";
import { setGoal } from "../plan/working-memory.ts";
import { checkMessage } from "../thread/check-message.ts";
import { type CallPart, type Message, type Part, textOf } from "../thread/message.ts";
import { append, branchBefore, findMessage, messageAt, type Thread } from "../thread/thread.ts";
import { emptyTopics, type Topics, trackTopic } from "../thread/topics.ts";
import { calibrate } from "../window/tokens.ts";
import { closeAll } from "./calls.ts";
import { add, type Budget, type Changing, freshTurn, modelName, type Turn, type TurnEnd } from "./context.ts";
import type { Sight } from "./seen.ts";

/** What somebody says to an agent. */
export interface Said {
  /** Of the message it becomes. */
  readonly id: string;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
  /** The message it is said instead of: that one, and all that followed it, stay as a branch of their own. */
  readonly instead?: string;
  /** What the agent had said when it was interrupted. */
  readonly partial?: string;
}

/** Another run has the conversation from now on. */
export function giveTo(draft: Changing, successor: string): void {
  draft.successor = successor;
}

/** Whether something can be said in a thread: it is a message, and has an id of its own. */
export function isSayable(thread: Thread, said: Said, at: number): boolean {
  try {
    checkMessage(messageOf(said, at));
  } catch {
    return false;
  }
  const { id, instead, partial = "" } = said;
  if (typeof partial !== "string" || findMessage(thread, id) !== undefined) return false;
  return instead === undefined || findMessage(thread, instead)?.message.role === "user";
}

/** The message that it becomes. */
export const messageOf = ({ id, parts, metadata }: Said, at: number): Message => ({
  ...{ id, parts, at, role: "user" },
  ...(metadata === undefined ? {} : { metadata }),
});

/** A turn begins with what was said. */
export function hear(draft: Changing, said: Said, { at, topics }: { at: number; topics: boolean }): void {
  if (said.instead !== undefined) branchBefore(draft.thread, said.instead);
  const topic = topics ? topicOf(draft, said) : null;
  draft.turn = {
    ...{ number: draft.turn.number + 1, message: said.id, after: draft.thread.head },
    ...{ ...freshTurn, meant: [], topic },
  };
  draft.handing = null;
  const message = messageOf(said, at);
  append(draft.thread, { ...message, ...withTopic(topic, message.metadata) });
  keepPlace(draft);
}

/** Of a topic so many messages are looked for behind summaries. */
const topicPlacesMax = 8;

/** The newest message belongs to the topic of the turn. */
function keepPlace({ turn: { topic }, thread: { head }, topicPlaces }: Changing): void {
  if (topic !== null)
    topicPlaces[topic] = [...(topicPlaces[topic] ?? []), head as number].slice(-topicPlacesMax);
}

function topicOf(draft: Changing, { parts }: Said): number {
  draft.topics ??= emptyTopics();
  return trackTopic(draft.topics as Topics, textOf({ parts }));
}

/** Messages say which topic they belong to, unless whoever wrote them does. */
const withTopic = (topic: number | null, metadata?: JsonObject): { metadata?: JsonObject } =>
  topic === null ? {} : { metadata: { topic, ...metadata } };

/** A turn ends before its time; what was said of it so far is kept. */
export function interrupt(draft: Changing, partial: string | undefined, at: number): void {
  closeAll(draft, at);
  if (partial)
    add(draft, {
      ...{ role: "assistant", parts: [{ type: "text", text: partial }], at },
      metadata: { interrupted: true },
    });
  end(draft, "stopped");
}

function end(draft: Changing, outcome: TurnEnd["outcome"], reason?: JsonObject): void {
  const { message } = draft.turn;
  const { head } = draft.thread;
  draft.ended = { message, outcome, head, ...(reason === undefined ? {} : { reason }) };
}

/** As if what was said last had never been said; it stays as a branch of its own. */
export function takeBack(draft: Changing, at: number): void {
  closeAll(draft, at);
  draft.thread.head = draft.turn.after;
  end(draft, "stopped");
}

/** What the activity that thinks gives back. */
export interface Thought extends Pick<ModelAnswer, "parts" | "cost"> {
  readonly usage?: Usage;
  /** What its input was estimated at. */
  readonly estimated: number;
  /** What the model saw. */
  readonly sight: Sight;
}

/** The model has answered: what it said is in the thread, and what it wants to have called is to be decided. */
export function keepThought(
  draft: Changing,
  { parts, usage, cost = 0, estimated, sight }: Thought,
  mustAsk: (call: CallPart) => boolean,
  at: number,
): void {
  const { input, output } = usage ?? { input: estimated, output: 0 };
  draft.turn.thoughts++;
  draft.turn.tokens += input + output;
  draft.turn.cost += cost;
  draft.used.thoughts++;
  draft.used.input += input;
  draft.used.output += output;
  draft.used.cost += cost;
  draft.seen = { system: draft.seen?.system ?? "", ...sight } as Changing["seen"];
  if (usage !== undefined)
    calibrate(draft.calibration, { model: modelName, counted: estimated, reported: usage.input });
  const said = parts.length > 0 ? parts : [{ type: "text" as const, text: "" }];
  add(draft, { role: "assistant", parts: said, at, ...withTopic(draft.turn.topic) });
  keepPlace(draft);
  draft.calls = parts.flatMap((part) =>
    part.type === "call"
      ? [
          {
            ...{ id: part.id, tool: part.tool, input: part.input as Json, askedAt: at },
            decision: mustAsk(part) ? ("asked" as const) : ("free" as const),
          },
        ]
      : [],
  );
  draft.callsAt = at;
}

/** Whether the model has results that it has not seen. */
export function isToGoOn(thread: Thread): boolean {
  return thread.head !== null && messageAt(thread, thread.head)?.role === "tool";
}

/** The turn has its answer. */
export function finish(draft: Changing): void {
  end(draft, "answered");
}

/** The turn ends without an answer; what it had under way is closed. */
export function fail(draft: Changing, reason: JsonObject, at: number): void {
  closeAll(draft, at);
  end(draft, "failed", reason);
}

/** Why a turn may not go on, if so. */
export function overspent(turn: Turn, { steps, tokens, cost }: Budget): JsonObject | undefined {
  const [spent, allowed, what] =
    steps !== undefined && turn.thoughts >= steps
      ? [turn.thoughts, steps, "steps"]
      : tokens !== undefined && turn.tokens >= tokens
        ? [turn.tokens, tokens, "tokens"]
        : [turn.cost, cost ?? Number.POSITIVE_INFINITY, "cost"];
  if (spent < allowed) return undefined;
  const message = `The turn has used up its budget: ${spent} of ${allowed} ${what}`;
  return { name: "BudgetError", code: "AGENT_OVERSPENT", message };
}

/** What a planner says is to be done: tasks, or just their titles. */
export interface Steps {
  /** What the user said, unless given. */
  readonly goal?: string;
  readonly steps: readonly (string | PlannedTask)[];
}

/** What a planner found. */
export interface Found {
  readonly goal: string;
  readonly tasks: readonly PlannedTask[];
}

/** What is to be done about what was said; what was done of an earlier plan for it stays done. */
export function keepPlan(draft: Changing, { goal, tasks }: Found): void {
  const { working } = draft;
  setGoal(working, goal, goal === working.goal ? revisePlan(working.plan as Plan, tasks) : makePlan(tasks));
}

/** What somebody who looked at an answer says of it. */
export interface Reflection {
  readonly verdict: "accept" | "revise" | "replan";
  /** What is to be done better. */
  readonly note?: string;
}

/** The answer is not good enough: the model is told why, as if the user had. */
export function revise(draft: Changing, { note = "Try again." }: Reflection, at: number): void {
  draft.turn.revisions++;
  add(draft, { role: "user", parts: [{ type: "text", text: note }], at, metadata: { by: "reflection" } });
}
