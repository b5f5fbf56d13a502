/** Planning and looking back by a model, in place of a function: it is asked for JSON, and what is none is asked for again. */
import type { ActivityScope } from "../../core/activity.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type JsonSchema, jsonSchema } from "../../core/json-schema/schema.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { type GivenModel, modelOf, type SdkModel } from "../model/given.ts";
import type { Model, ModelAnswer, ToolDescription } from "../model/model.ts";
import type { Message } from "../thread/message.ts";
import { describe, type GivenTool, type ReadyTool, readyTool } from "../tool/tool.ts";
import { isToolName, toolNameProblem } from "./check-definition.ts";
import type { Consulted, LookingUp } from "./consulting.ts";
import type { Reflection, Steps } from "./turn.ts";
import {
  type Adviser,
  checkedAnswer,
  checkParts,
  metadataFor,
  type Occasion,
  type Reflector,
  type StepFinder,
} from "./work.ts";

const steps = jsonSchema({
  type: "object",
  properties: {
    goal: { type: "string" },
    steps: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          title: { type: "string" },
          needs: { type: "array", items: { type: "string" } },
        },
        required: ["id", "title"],
      },
    },
  },
  required: ["goal", "steps"],
});

const verdict = jsonSchema({
  type: "object",
  properties: {
    verdict: { type: "string", enum: ["accept", "revise", "replan"] },
    note: { type: "string" },
  },
  required: ["verdict"],
});

const planning =
  "Say which steps are to be taken about what the user said last, and which of them need which others first.";
const reviewing =
  "Say whether the last answer does what the user asked for: accept it, have it revised, or have it planned anew; and in a note, what is to be better.";

/** A model that plans or looks back, and may look things up for that, apart from the conversation. */
export interface ModelWithTools {
  /** A model of the AI SDK, or a function in its place. */
  readonly model: GivenModel;
  /** What it may call. Nobody is asked about these. */
  readonly tools?: Readonly<Record<string, GivenTool>>;
  /** How often it is asked at most, 8 times unless given; the last time without tools. */
  readonly steps?: number;
}

/** What may be given in place of a function that plans or looks back. */
export type GivenAdviser = SdkModel | ModelWithTools;

/** Who plans or looks back, and what they may call for it. */
export interface Advising<Answer> {
  readonly advise: Adviser<Answer>;
  readonly tools: readonly ReadyTool[];
}

/** What finds the steps: the function that was given, or a model that is asked for them. */
export const finderOf = (agent: string, given: StepFinder | GivenAdviser): Advising<Steps> =>
  adviserOf(agent, given, { who: "plan", task: planning, schema: steps });

/** What looks back: the function that was given, or a model that is asked to. */
export const reflectorOf = (agent: string, given: Reflector | GivenAdviser): Advising<Reflection> =>
  adviserOf(agent, given, { who: "reflect", task: reviewing, schema: verdict });

interface Task {
  readonly who: Consulted;
  readonly task: string;
  readonly schema: JsonSchema;
}

type Advice<Answer> = (occasion: Occasion, scope: ActivityScope) => Promise<Answer> | Answer;

function adviserOf<Answer>(
  agent: string,
  given: Advice<Answer> | GivenAdviser,
  asked: Task,
): Advising<Answer> {
  if (typeof given === "function")
    return { advise: async (occasion, scope) => ({ answer: await given(occasion, scope) }), tools: [] };
  const { model, tools = {}, steps = 8 } = isWithTools(given) ? given : { model: given };
  if (!Number.isSafeInteger(steps) || steps < 1)
    refuse(agent, `is asked ${show(steps)} times; write how often`);
  for (const name of Object.keys(tools)) if (!isToolName(name)) refuse(agent, toolNameProblem(name));
  const ready = Object.entries(tools).map(([name, tool]) => readyTool(name, tool));
  const asking = ready.find(({ asks = false }) => asks !== false);
  if (asking !== undefined) refuse(agent, `has a tool ${show(asking.name)} that people are asked about`);
  const consulted = { agent, model: modelOf(agent, model), tools: ready.map(describe), steps };
  return {
    advise: async (occasion, scope, aside = []) =>
      (await ask(consulted, { ...asked, occasion, scope, aside })) as { answer: Answer } | LookingUp,
    tools: ready,
  };
}

const isWithTools = (given: GivenAdviser): given is ModelWithTools =>
  isObject(given) && !("specificationVersion" in given);

function refuse(agent: string, what: string): never {
  throw new HoldfastError(
    "AGENT_INVALID",
    `Whoever plans or looks back for the agent ${show(agent)} ${what}`,
  );
}

interface ConsultedModel {
  readonly agent: string;
  readonly model: Model;
  readonly tools: readonly ToolDescription[];
  readonly steps: number;
}

interface Question extends Task {
  readonly occasion: Occasion;
  readonly scope: ActivityScope;
  readonly aside: readonly Message[];
}

/** Asks it once; gives its answer, or what it wants to look up. */
async function ask(
  { agent, model, tools, steps }: ConsultedModel,
  { who, occasion, scope, task, schema, aside }: Question,
): Promise<{ answer: JsonObject } | LookingUp> {
  const told = `${task} Answer with JSON alone, of this schema: ${JSON.stringify(schema.jsonSchema)}`;
  const talk = [`User: ${occasion.said}`, ...(occasion.answer === "" ? [] : [`Answer: ${occasion.answer}`])];
  const messages = [saidBy("system", told), saidBy("user", talk.join("\n\n")), ...aside];
  const isLast = aside.filter(({ role }) => role === "assistant").length >= steps - 1;
  const { signal, key } = scope;
  const answered = await model({ messages, tools: isLast ? [] : tools }, { signal, key, say: () => {} });
  const { parts, usage, cost, besides } = checkedAnswer(answered);
  scope.spend({
    ...(usage === undefined ? {} : { tokens: usage.input + usage.output }),
    ...(cost === undefined ? {} : { cost }),
  });
  if (!isLast && tools.length > 0 && parts.some((part) => part?.type === "call")) {
    const named = withKey(who, scope, parts);
    checkParts(named);
    const metadata = metadataFor(named, besides);
    return { lookUp: { parts: named, ...(metadata === undefined ? {} : { metadata }) } };
  }
  return { answer: answerIn(agent, parts, schema) };
}

/** Its calls are named after the activity that asked for them: no other in the run has such ids. */
const withKey = (who: Consulted, { key, run }: ActivityScope, parts: ModelAnswer["parts"]) =>
  parts.map((part, index) =>
    part?.type === "call"
      ? { ...part, id: `${who}-${key.slice(run.length + 1).replace(".", "-")}-${index}` }
      : part,
  );

const saidBy = (role: "system" | "user", text: string): Message => ({
  ...{ id: role, role, at: 0, parts: [{ type: "text", text }] },
});

function answerIn(agent: string, parts: ModelAnswer["parts"], schema: JsonSchema): JsonObject {
  const answer = jsonIn(parts.flatMap((part) => (part?.type === "text" ? [part.text] : [])).join(""));
  const { issues } = schema["~standard"].validate(answer) as { issues?: readonly { message: string }[] };
  if (issues === undefined && isObject(answer)) return answer;
  throw new HoldfastError(
    "AGENT_INVALID",
    `A model of the agent ${JSON.stringify(agent)} did not answer as it was asked to: ${issues?.map(({ message }) => message).join("; ") ?? "that is no object"}`,
  );
}

/** The JSON in a text, with whatever a model says around it. */
function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as Json;
  } catch {
    return undefined;
  }
}
