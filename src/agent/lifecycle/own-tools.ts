/**
 * Tools that the lifecycle itself offers to a model: to hand the conversation to another agent, to say that a step of the plan
 * is done, to note something down. They change the agent's own state and nothing else, so they are done within a step: in
 * the journal, once, whatever crashes.
 */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type JsonSchema, jsonSchema } from "../../core/json-schema/schema.ts";
import { isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { ToolDescription } from "../model/model.ts";
import { beginTask, completeTask } from "../plan/advance.ts";
import { takeNote } from "../plan/working-memory.ts";
import type { CallEnd, Changing } from "./context.ts";

/** The agents that a conversation may be handed to, by the ids of their machines, and what a model is told of each. */
export type Successors = Readonly<Record<string, string>>;

export interface OwnTool extends ToolDescription {
  readonly input: JsonSchema;
  /** Does it, or says why not. */
  act(draft: Changing, input: JsonObject, at: number): Done;
}

type Done = { readonly output: Json } | { readonly error: string };

/** The tools of an agent with a plan, and of one that may hand over. */
export const ownTools = (hasPlanner: boolean, successors: Successors): readonly OwnTool[] => [
  ...(Object.keys(successors).length === 0 ? [] : [handOver(successors)]),
  ...(hasPlanner ? [completeStep, note] : []),
];

const schemaOf = (properties: JsonObject, required: readonly string[]): JsonSchema =>
  jsonSchema({ type: "object", properties, required: [...required] });

const handOver = (successors: Successors): OwnTool => ({
  name: "hand_over",
  description: `Hands the conversation to another agent, which answers the user from now on: ${Object.entries(
    successors,
  )
    .map(([id, what]) => `${id} (${what})`)
    .join("; ")}`,
  input: schemaOf({ to: { type: "string", enum: Object.keys(successors) }, note: { type: "string" } }, [
    "to",
  ]),
  act(draft, { to, note }) {
    if (draft.handing !== null) return { error: `The conversation goes to ${draft.handing.to} already.` };
    if (draft.turn.handOvers >= limits.handOversMax)
      return { error: "The conversation was handed on too often; answer the user yourself." };
    draft.handing = { to: to as string };
    return { output: typeof note === "string" ? note : `The conversation goes to ${to}.` };
  },
});

const completeStep: OwnTool = {
  name: "complete_step",
  description: "Says that a step of the plan is done, and what came of it",
  input: schemaOf(
    {
      step: { type: "string", description: "The step, as the plan names it" },
      result: { type: "string", description: "What came of it" },
    },
    ["step"],
  ),
  act(draft, { step, result }, at) {
    const { plan } = draft.working;
    const id = plan.tasks.find((task) => task.id === step || task.title === step)?.id ?? String(step);
    try {
      beginTask(plan, id, { at });
      completeTask(plan, id, { at, ...(result === undefined ? {} : { result }) });
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      return { error: error.message };
    }
    return { output: "Noted." };
  },
};

const note: OwnTool = {
  name: "take_note",
  description: "Keeps a note in the working memory, which is shown before the conversation",
  input: schemaOf({ text: { type: "string" } }, ["text"]),
  act(draft, { text }, at) {
    takeNote(draft.working, { text: text as string, at });
    return { output: "Noted." };
  },
};

/** How the call of one comes out. */
export function endOfOwn(tool: OwnTool, draft: Changing, given: unknown, at: number): CallEnd {
  const checked = tool.input["~standard"].validate(given) as {
    readonly issues?: readonly { message: string }[];
  };
  if (checked.issues !== undefined || !isObject(given)) {
    const why = checked.issues?.map(({ message }) => message).join("; ") ?? "it must be an object";
    return { status: "failed", error: `The input does not fit: ${why}` };
  }
  const done = tool.act(draft, given, at);
  if ("error" in done) return { status: "failed", error: done.error };
  return { status: "done", output: done.output, startedAt: at, ms: 0, attempt: 1 };
}
