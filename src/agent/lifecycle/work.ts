/** What agents do outside their steps: asking the model, calling tools, planning, and looking back at an answer. */
import type { ActivityScope } from "../../core/activity.ts";
import { type Json, type JsonObject, toJson } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { metadataOf, withExtra } from "../formats/reading.ts";
import type { Model, ModelAnswer, ToolDescription } from "../model/model.ts";

import type { WorkingMemory } from "../plan/working-memory.ts";
import { problemOf } from "../thread/check-message.ts";
import { lineageOf } from "../thread/lineage.ts";
import { type CallPart, type Message, textOf } from "../thread/message.ts";
import { messagesOf, newestFirst, type Thread } from "../thread/thread.ts";
import { labelOf } from "../thread/topics.ts";
import type { ReadyTool } from "../tool/tool.ts";
import type { CallOutcome } from "./acting.ts";
import type { LookingUp } from "./consulting.ts";
import type { AgentContext, PendingCall, Referred } from "./context.ts";
import { counting } from "./spending.ts";
import { tasksOf } from "./steps.ts";
import { tokensOfTools } from "./tool-tokens.ts";
import {
  byReflection,
  type Found,
  planSoFar,
  planWithFound,
  type Reflected,
  type Reflection,
  type Steps,
  type Thought,
} from "./turn.ts";
import type { AgentWindow, Summary, View } from "./view.ts";

/** What is planned for, or looked back at. */
export interface Occasion {
  /** What the user said last. */
  readonly said: string;
  /** What the agent answered last; empty while it has not. */
  readonly answer: string;
  readonly messages: readonly Message[];
  readonly working: WorkingMemory;
  /** What phrases of what was said mean, where references are resolved. */
  readonly meant: readonly Referred[];
  /** What it is about, in a few words, where topics are tracked. */
  readonly topic?: string;
}

/** Finds what is to be done. */
export type StepFinder = (occasion: Occasion, scope: ActivityScope) => Promise<Steps> | Steps;
export type Reflector = (occasion: Occasion, scope: ActivityScope) => Promise<Reflection> | Reflection;

/** What finds a plan, or fault with an answer: it gives that, or what it wants to look up first, apart from the conversation. */
export type Adviser<Answer> = (
  occasion: Occasion,
  scope: ActivityScope,
  aside: readonly Message[] | undefined,
) => Promise<{ readonly answer: Answer } | LookingUp>;

/** What a thought takes. */
export interface Thinking {
  readonly model: Model;
  readonly tools: readonly ToolDescription[];
  readonly view: View;
  /** Whether people are asked about a call. */
  readonly mustAsk: (call: CallPart) => Promise<boolean>;
}

/** Asks the model; what it says is streamed on the way, and comes back whole. What cannot be kept is asked for again. */
export const thinkWith =
  ({ model, tools, view, mustAsk }: Thinking) =>
  async (_: unknown, scope: ActivityScope): Promise<Thought> => {
    const { context } = await scope.state<AgentContext>();
    const { messages, tokens, sight } = view.of(context, scope.now());
    const estimated = tokens + tokensOfTools(tools, view.count);
    const { signal, key } = scope;
    const answer = await model(
      { messages, tools: tools.map(({ name, description, input }) => ({ name, description, input })) },
      { signal, key, say: (piece) => void scope.write(piece) },
    );
    const { usage, cost } = checkedAnswer(answer);
    const spent = usage === undefined ? estimated : usage.input + usage.output;
    scope.spend({ tokens: spent, ...(cost === undefined ? {} : { cost }) });
    const parts = withOwnIds(context.thread, answer.parts);
    checkParts(parts);
    const metadata = metadataFor(parts, answer.besides);
    return {
      ...(metadata === undefined ? {} : { metadata }),
      ...{ parts, asked: await askedOf(parts, mustAsk), estimated, sight },
      ...(usage === undefined ? {} : { usage }),
      ...(cost === undefined ? {} : { cost }),
    };
  };

/** The calls of an answer that people are asked about. */
async function askedOf(parts: ModelAnswer["parts"], mustAsk: Thinking["mustAsk"]): Promise<string[]> {
  const asked: string[] = [];
  for (const part of parts) if (part.type === "call" && (await mustAsk(part))) asked.push(part.id);
  return asked;
}

/** What the model's format says besides, as the message keeps it. */
export function metadataFor(
  parts: ModelAnswer["parts"],
  besides: ModelAnswer["besides"],
): JsonObject | undefined {
  if (besides === undefined) return undefined;
  const { format, parts: extras, kept = [] } = besides;
  return metadataOf(format, { parts: parts.map((part, index) => withExtra(part, extras[index])), kept });
}

const isAmount = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;

/** Refuses what is no answer; its parts are looked at once they have ids of their own. */
export function checkedAnswer(answer: ModelAnswer): ModelAnswer {
  if (!Array.isArray(answer?.parts))
    throw new HoldfastError("MESSAGE_INVALID", `The model gave ${show(answer)}, which has no list of parts`);
  const { usage, cost } = answer;
  if (usage !== undefined && !(isAmount(usage?.input) && isAmount(usage?.output)))
    refuseAnswer(`its usage is ${show(usage)}, not two numbers`);
  if (cost !== undefined && !isAmount(cost)) refuseAnswer(`its cost is ${show(cost)}, not a number`);
  return answer;
}

export function checkParts(parts: ModelAnswer["parts"]): void {
  const problem = problemOf({ id: "answer", role: "assistant", at: 0, parts });
  if (problem !== undefined) refuseAnswer(problem);
}

function refuseAnswer(why: string): never {
  throw new HoldfastError("MESSAGE_INVALID", `The model's answer cannot be kept: ${why}`);
}

/** Calls have ids of their own in a thread, whatever a model makes of that; of characters that every provider takes back. */
function withOwnIds(thread: Thread, parts: ModelAnswer["parts"]): ModelAnswer["parts"] {
  const { byCall } = lineageOf(thread);
  const taken = new Set<string>();
  return parts.map((part) => {
    if (part?.type !== "call") return part;
    let id = part.id === "" ? "call" : part.id;
    for (let count = 2; taken.has(id) || byCall.has(id); count++) id = `${part.id || "call"}_${count}`;
    taken.add(id);
    return { ...part, id };
  });
}

/** Calls a tool. What the tool refuses, or may not be repeated, comes back as a result; other failures are tried again. */
export const callWith =
  (tools: ReadonlyMap<string, ReadyTool>) =>
  async (call: PendingCall, scope: ActivityScope): Promise<CallOutcome> => {
    const tool = tools.get(call.tool) as ReadyTool;
    const startedAt = scope.now();
    const checked = await tool.check(call.input);
    const failed = (error: string): CallOutcome => ({ call: call.id, end: { status: "failed", error } });
    if ("problem" in checked) return failed(`The input does not fit: ${checked.problem}`);
    try {
      const output = toJson(
        (await tool.run(checked.input, { ...scope, call: call.id })) ?? null,
        [],
        "output",
      );
      const { attempt } = scope;
      const ms = scope.now() - startedAt;
      return { call: call.id, end: { status: "done", output: output as Json, startedAt, ms, attempt } };
    } catch (error) {
      if (!tool.once || scope.signal.aborted) throw error;
      return failed(error instanceof Error ? error.message : String(error));
    }
  };

/** Sums up what no longer fits well into the window; null if there is nothing to sum up, or nothing came of it. */
export const summariseWith =
  (summarise: NonNullable<AgentWindow["summarise"]>, view: View) =>
  async (_: unknown, given: ActivityScope): Promise<Summary | null> => {
    const plan = view.plan((await given.state<AgentContext>()).context);
    if (plan === undefined) return null;
    const { scope, spent } = counting(given);
    const text: unknown = await summarise(plan, scope);
    const { from, to } = plan;
    return { from, to, text: typeof text === "string" ? text : "", ...spent() };
  };

/** Finds what is to be done; a plan that cannot be carried out is an error of whoever found it. */
export const planWith =
  (find: Adviser<Steps>) =>
  async (_: unknown, given: ActivityScope): Promise<Found | LookingUp> => {
    const { context } = await given.state<AgentContext>();
    const { scope, spent } = counting(given);
    const occasion = occasionOf(context);
    const found = await find(occasion, scope, context.aside?.messages);
    if (!("answer" in found)) return { ...found, ...spent() };
    const { goal = occasion.said, steps } = found.answer;
    const tasks = tasksOf(steps, planSoFar(context, goal));
    planWithFound(context, { goal, tasks });
    return { goal, tasks, ...spent() };
  };

const verdicts: readonly unknown[] = ["accept", "revise", "replan"] satisfies Reflection["verdict"][];

/** Looks back at what there is now. */
export const reflectWith =
  (reflect: Adviser<Reflection>) =>
  async (_: unknown, given: ActivityScope): Promise<Reflected | LookingUp> => {
    const { context } = await given.state<AgentContext>();
    const { scope, spent } = counting(given);
    const found = await reflect(occasionOf(context), scope, context.aside?.messages);
    if (!("answer" in found)) return { ...found, ...spent() };
    const { answer: reflection } = found;
    if (!verdicts.includes(reflection?.verdict))
      throw new HoldfastError(
        "AGENT_INVALID",
        `Whoever looked at the answer said ${show(reflection)}; say a verdict: ${verdicts.join(", ")}`,
      );
    return { ...reflection, ...spent() };
  };

export function occasionOf({ thread, working, turn, topics }: AgentContext): Occasion {
  let answer = "";
  let said = "";
  for (const message of newestFirst(thread)) {
    if (message.role === "assistant" && answer === "") answer = textOf(message);
    if (message.role !== "user" || message.metadata?.by === byReflection) continue;
    said = textOf(message);
    break;
  }
  const topic = turn.topic === null ? undefined : topics?.topics[turn.topic];
  return {
    ...{ said, answer, working, messages: messagesOf(thread), meant: turn.meant },
    ...(topic === undefined ? {} : { topic: labelOf(topic) }),
  };
}
