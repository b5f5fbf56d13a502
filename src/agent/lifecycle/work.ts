/** What agents do outside their steps: asking the model, calling tools, planning, and looking back at an answer. */
import type { ActivityScope } from "../../core/activity.ts";
import { type Json, toJson } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import type { Model, ModelAnswer, ToolDescription } from "../model/model.ts";
import { makePlan } from "../plan/plan.ts";
import type { WorkingMemory } from "../plan/working-memory.ts";
import { lineageOf } from "../thread/lineage.ts";
import { type Message, textOf } from "../thread/message.ts";
import { messagesOf, newestFirst, type Thread } from "../thread/thread.ts";
import { labelOf } from "../thread/topics.ts";
import type { ReadyTool } from "../tool/tool.ts";
import type { CallOutcome } from "./acting.ts";
import type { AgentContext, PendingCall, Referred } from "./context.ts";

import type { Found, Reflection, Steps, Thought } from "./turn.ts";
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
/** Asks the model; what it says is streamed on the way, and comes back whole. */
export const thinkWith =
  (model: Model, tools: readonly ToolDescription[], view: View) =>
  async (_: unknown, scope: ActivityScope): Promise<Thought> => {
    const { context } = await scope.state<AgentContext>();
    const { messages, tokens: estimated, sight } = view.of(context, scope.now());
    const { signal, key } = scope;
    const answer = await model(
      { messages, tools: tools.map(({ name, description, input }) => ({ name, description, input })) },
      { signal, key, say: (piece) => void scope.write(piece) },
    );
    if (!Array.isArray(answer?.parts))
      throw new HoldfastError(
        "MESSAGE_INVALID",
        `The model gave ${show(answer)}, which has no list of parts`,
      );
    const { usage, cost } = answer;
    const spent = usage === undefined ? estimated : usage.input + usage.output;
    scope.spend({ tokens: spent, ...(cost === undefined ? {} : { cost }) });
    return {
      parts: withOwnIds(context.thread, answer.parts),
      ...{ estimated, sight },
      ...(usage === undefined ? {} : { usage }),
      ...(cost === undefined ? {} : { cost }),
    };
  };

/** Calls have ids of their own in a thread, whatever a model makes of that; of characters that every provider takes back. */
function withOwnIds(thread: Thread, parts: ModelAnswer["parts"]): ModelAnswer["parts"] {
  const { byCall } = lineageOf(thread);
  const taken = new Set<string>();
  return parts.map((part) => {
    if (part.type !== "call") return part;
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

/** Sums up what no longer fits well into the window. */
export const summariseWith =
  (summarise: NonNullable<AgentWindow["summarise"]>, view: View) =>
  async (_: unknown, scope: ActivityScope): Promise<Summary | null> => {
    const plan = view.plan((await scope.state<AgentContext>()).context);
    if (plan === undefined) return null;
    return { from: plan.from, to: plan.to, text: await summarise(plan) };
  };

/** Finds what is to be done; a plan that cannot be carried out is an error of whoever found it. */
export const planWith =
  (find: StepFinder) =>
  async (_: unknown, scope: ActivityScope): Promise<Found> => {
    const occasion = occasionOf((await scope.state<AgentContext>()).context);
    const { goal = occasion.said, steps } = await find(occasion, scope);
    const tasks = steps.map((step, index) =>
      typeof step === "string" ? { id: String(index + 1), title: step } : step,
    );
    makePlan(tasks);
    return { goal, tasks };
  };

/** Looks back at what there is now. */
export const reflectWith =
  (reflect: Reflector) =>
  async (_: unknown, scope: ActivityScope): Promise<Reflection> =>
    reflect(occasionOf((await scope.state<AgentContext>()).context), scope);

export function occasionOf({ thread, working, turn, topics }: AgentContext): Occasion {
  let answer = "";
  let said = "";
  for (const message of newestFirst(thread)) {
    if (message.role === "assistant" && answer === "") answer = textOf(message);
    if (message.role !== "user" || message.metadata?.by === "reflection") continue;
    said = textOf(message);
    break;
  }
  const topic = turn.topic === null ? undefined : topics?.topics[turn.topic];
  return {
    ...{ said, answer, working, messages: messagesOf(thread), meant: turn.meant },
    ...(topic === undefined ? {} : { topic: labelOf(topic) }),
  };
}
