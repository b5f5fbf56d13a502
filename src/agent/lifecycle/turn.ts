/** What becomes of what is said: turns begin, go on with what the model thinks and others say of it, and end. */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ModelAnswer, Usage } from "../model/model.ts";
import { makePlan, type Plan, type PlannedTask, revisePlan } from "../plan/plan.ts";
import { setGoal } from "../plan/working-memory.ts";
import { checkMessage } from "../thread/check-message.ts";
import { type Message, textOf } from "../thread/message.ts";
import { append, branchBefore, findMessage, messageAt, type Thread } from "../thread/thread.ts";
import { emptyTopics, type Topics, trackTopic } from "../thread/topics.ts";
import { calibrate } from "../window/tokens.ts";
import { closeAll } from "./calls.ts";
import {
  type AgentContext,
  add,
  type Budget,
  type Changing,
  freshTurn,
  modelName,
  type Said,
  type Turn,
  type TurnEnd,
} from "./context.ts";
import type { Sight } from "./seen.ts";
import { charge, type Spending } from "./spending.ts";

/** Another run has the conversation from now on. */
export function giveTo(draft: Changing, successor: string): void {
  draft.successor = successor;
}

const sayableFields: ReadonlySet<string> = new Set([
  "id",
  "parts",
  "metadata",
  "instead",
] satisfies (keyof Said)[]);

/**
 * Whether something can be said in a thread: it is a message with an id of its own, and passes for nothing that only the agent
 * itself says.
 */
export function isSayable(thread: Thread, said: Said, at: number): boolean {
  if (!isObject(said) || !Object.keys(said).every((field) => sayableFields.has(field))) return false;
  try {
    checkMessage(messageOf(said, at));
  } catch {
    return false;
  }
  const { id, instead, metadata } = said;
  if (findMessage(thread, id) !== undefined || isOwn(metadata)) return false;
  return instead === undefined || findMessage(thread, instead)?.message.role === "user";
}

/** Whether a message is marked as one that the agent itself put into the thread. */
export const isOwn = (metadata: JsonObject | undefined): boolean =>
  metadata?.by === byReflection || metadata?.interrupted !== undefined;

/** Who says what is to be done better; the model is told as if the user had. */
export const byReflection = "reflection";

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
  topic !== null ? { metadata: { topic, ...metadata } } : metadata === undefined ? {} : { metadata };

/** A turn ends before its time. */
export function interrupt(draft: Changing, at: number): void {
  closeAll(draft, at);
  end(draft, "stopped");
}

export function end(draft: Changing, outcome: TurnEnd["outcome"], reason?: JsonObject): void {
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
  /** The ids of the calls that people are asked about; all of them, where nothing is said of it. */
  readonly asked?: readonly string[];
  /** Of the message that it becomes. */
  readonly metadata?: JsonObject;
  readonly usage?: Usage;
  /** What its input was estimated at. */
  readonly estimated: number;
  /** What the model saw. */
  readonly sight: Sight;
}

/** The model has answered: what it said is in the thread, and what it wants to have called is to be decided. */
export function keepThought(
  draft: Changing,
  { parts, asked, metadata, usage, cost = 0, estimated, sight }: Thought,
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
  add(draft, { role: "assistant", parts: said, at, ...withTopic(draft.turn.topic, metadata) });
  keepPlace(draft);
  draft.calls = parts.flatMap((part) =>
    part.type === "call"
      ? [
          {
            ...{ id: part.id, tool: part.tool, input: part.input as Json, askedAt: at },
            decision: (asked?.includes(part.id) ?? true) ? ("asked" as const) : ("free" as const),
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

/** The turn has its answer, if the agent has said something. */
export function finish(draft: Changing): void {
  const { thread } = draft;
  const last = thread.head === null ? undefined : messageAt(thread, thread.head);
  if (last?.role === "assistant") end(draft, "answered");
  else end(draft, "failed", { name: "AgentError", message: "The agent said nothing" });
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
export interface Found extends Spending {
  readonly goal: string;
  readonly tasks: readonly PlannedTask[];
}

/** What a plan is told by: the turn it is for, and what there is of it. */
type Planning = Pick<AgentContext, "thread" | "turn" | "working">;

/**
 * The plan that there is for a goal already. A goal that is only what the user said is one of its turn: who says the same again
 * wants it done again. One that the planner names is the same in whatever turn.
 */
export function planSoFar({ thread, turn, working }: Planning, goal: string): Plan | undefined {
  if (goal !== working.goal) return undefined;
  const said = findMessage(thread, turn.message)?.message;
  const isOfTurn = turn.revisions + turn.handOvers > 0;
  return isOfTurn || said === undefined || textOf(said) !== goal ? working.plan : undefined;
}

/** The plan with what was found; what is done for its goal already stays done. Throws PLAN_INVALID. */
export function planWithFound(context: Planning, { goal, tasks }: Pick<Found, "goal" | "tasks">): Plan {
  const before = planSoFar(context, goal);
  return before === undefined ? makePlan(tasks) : revisePlan(before, tasks);
}

/** What is to be done about what was said. */
export function keepPlan(draft: Changing, found: Found): void {
  charge(draft, found);
  setGoal(draft.working, found.goal, planWithFound(draft as AgentContext, found));
}

/** What somebody who looked at an answer says of it. */
export interface Reflection {
  readonly verdict: "accept" | "revise" | "replan";
  /** What is to be done better. */
  readonly note?: string;
}

/** A reflection, with what it used up. */
export type Reflected = Reflection & Spending;

/** The answer is good enough, or was sent back as often as it may be. */
export function accept(draft: Changing, reflected: Reflected): void {
  charge(draft, reflected);
  finish(draft);
}

/** The answer is not good enough: the model is told why, as if the user had. */
export function revise(draft: Changing, reflected: Reflected, at: number): void {
  const { note = "Try again." } = reflected;
  charge(draft, reflected);
  draft.turn.revisions++;
  add(draft, { role: "user", parts: [{ type: "text", text: note }], at, metadata: { by: byReflection } });
}
