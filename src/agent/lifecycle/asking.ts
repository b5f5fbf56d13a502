/** Planning and looking back by a model of the AI SDK, in place of a function: it is asked for JSON, and what is none is asked for again. */
import type { ActivityScope } from "../../core/activity.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type JsonSchema, jsonSchema } from "../../core/json-schema/schema.ts";
import { HoldfastError } from "../../errors.ts";
import { modelOf, type SdkModel } from "../model/given.ts";
import type { PlannedTask } from "../plan/plan.ts";
import type { Message } from "../thread/message.ts";
import type { Reflection } from "./turn.ts";
import type { Occasion, Reflector, StepFinder } from "./work.ts";

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

/** What finds the steps: the function that was given, or a model that is asked for them. */
export const finderOf = (agent: string, given: StepFinder | SdkModel): StepFinder =>
  typeof given === "function"
    ? given
    : async (occasion, scope) =>
        (await ask(agent, given, { occasion, scope, task: planning, schema: steps })) as unknown as {
          goal: string;
          steps: PlannedTask[];
        };

/** What looks back: the function that was given, or a model that is asked to. */
export const reflectorOf = (agent: string, given: Reflector | SdkModel): Reflector =>
  typeof given === "function"
    ? given
    : async (occasion, scope) =>
        (await ask(agent, given, {
          occasion,
          scope,
          task: reviewing,
          schema: verdict,
        })) as unknown as Reflection;

interface Question {
  readonly occasion: Occasion;
  readonly scope: ActivityScope;
  readonly task: string;
  readonly schema: JsonSchema;
}

async function ask(
  agent: string,
  given: SdkModel,
  { occasion, scope, task, schema }: Question,
): Promise<JsonObject> {
  const told = `${task} Answer with JSON alone, of this schema: ${JSON.stringify(schema.jsonSchema)}`;
  const system: Message = { id: "system", role: "system", at: 0, parts: [{ type: "text", text: told }] };
  const talk = [`User: ${occasion.said}`, ...(occasion.answer === "" ? [] : [`Answer: ${occasion.answer}`])];
  const question: Message = {
    ...{ id: "question", role: "user", at: 0, parts: [{ type: "text", text: talk.join("\n\n") }] },
  };
  const { signal, key } = scope;
  const request = { messages: [system, question], tools: [] };
  const { parts, usage } = await modelOf(agent, given)(request, { signal, key, say: () => {} });
  if (usage !== undefined) scope.spend({ tokens: usage.input + usage.output });
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const answer = jsonIn(text);
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
