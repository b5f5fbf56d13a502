/** Tools: what an agent can do. Written here, or as AI SDK tools, which are taken as they are. */
import type { ActivityScope } from "../../core/activity.ts";
import { isObject, type Json } from "../../core/json.ts";
import { isSchema, type Schema } from "../../core/schema.ts";
import { HoldfastError } from "../../errors.ts";
import type { ToolDescription } from "../model/model.ts";

/** What a tool is given besides its input: its `key` is the same for every attempt, for whoever must not act twice. */
export type ToolScope = ActivityScope & { readonly call: string };

export interface Tool<Input = never> {
  readonly description?: string;
  /** What it takes; a call whose input does not fit is told so, and never made. */
  readonly input?: Schema;
  readonly run: (input: Input, scope: ToolScope) => unknown;
  /** It may happen at most once; when nobody knows whether it did, the model is told that. */
  readonly once?: boolean;
  /** How failures are tried again; once more or twice unless given, and never where `once` is. */
  readonly retry?: Json;
  /** How long one attempt may take. */
  readonly timeout?: number | string;
  /** Whether what it gave can be had again by calling it again: then old results are the first to leave a window. */
  readonly refetchable?: boolean;
}

/** A tool of the AI SDK, as far as it is used. */
interface SdkTool extends Pick<Tool, "once" | "retry" | "timeout" | "refetchable"> {
  readonly description?: unknown;
  readonly inputSchema: unknown;
  readonly execute?: unknown;
  readonly needsApproval?: unknown;
}

/** What `defineAgent` takes for a tool. */
export type GivenTool = Tool | SdkTool;

/** A tool that can be asked whether an input fits. */
export interface ReadyTool extends Tool<Json> {
  readonly name: string;
  readonly description: string;
  /** As a model is told. */
  readonly schema: unknown;
  /** Whether people are asked before it is called, whatever the agent's policy says; or with which inputs. */
  readonly asks?: boolean | ((input: Json, call: string) => Promise<boolean> | boolean);
  check(input: Json): Promise<Checked>;
}

/** A tool, as a model is told of it. */
export const describe = ({ name, description, schema }: ReadyTool): ToolDescription => ({
  ...{ name, description, input: schema },
});

type Checked = { readonly input: Json } | { readonly problem: string };

export function readyTool(name: string, given: GivenTool): ReadyTool {
  if (!isObject(given) || !("run" in given || "execute" in given)) {
    throw new HoldfastError(
      "AGENT_INVALID",
      `The tool ${JSON.stringify(name)} has nothing to do: give it a function as \`run\` (or \`execute\`, as the AI SDK has it)`,
    );
  }
  const tool: Tool<Json> & Pick<ReadyTool, "asks"> =
    "run" in given ? (given as unknown as Tool<Json>) : fromSdk(given as unknown as SdkTool);
  const schema = "run" in given ? tool.input : (given as unknown as SdkTool).inputSchema;
  return {
    ...tool,
    ...{ name, schema, description: tool.description ?? name },
    check: (input) => check(schema, input),
  };
}

/** What is said of a tool besides stands in an object of the AI SDK as it does in one of ours. */
const fromSdk = ({ description, execute, needsApproval, inputSchema: _, ...more }: SdkTool) => ({
  ...optionsOfCalls(more),
  ...(typeof description === "string" ? { description } : {}),
  asks:
    typeof needsApproval === "function"
      ? (input: Json, call: string) => (needsApproval as SdkAsks)(input, { toolCallId: call, messages: [] })
      : needsApproval === true,
  run: async (input: Json, { call, signal }: ToolScope) => {
    const given = (execute as SdkExecute)(input, { toolCallId: call, messages: [], abortSignal: signal });
    return isIterable(given) ? lastOf(given) : given;
  },
});

const optionsOfCalls = ({ once, retry, timeout, refetchable }: Partial<SdkTool>) => ({
  ...(once === undefined ? {} : { once }),
  ...(retry === undefined ? {} : { retry }),
  ...(timeout === undefined ? {} : { timeout }),
  ...(refetchable === undefined ? {} : { refetchable }),
});

type SdkExecute = (input: Json, options: object) => unknown;
type SdkAsks = (input: Json, options: object) => Promise<boolean> | boolean;

const isIterable = (given: unknown): given is AsyncIterable<unknown> =>
  typeof (given as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === "function";

/** A tool that tells how it comes along gives its result last. */
async function lastOf(given: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const value of given) last = value;
  return last;
}

/** Whether an input fits, in words that a model can mend its call by. */
async function check(schema: unknown, input: Json): Promise<Checked> {
  if (isSchema(schema)) {
    const result = await schema["~standard"].validate(input);
    if (result.issues === undefined) return { input: result.value as Json };
    return { problem: result.issues.map(({ message, path }) => `${pathText(path)}${message}`).join("; ") };
  }
  // A schema of the AI SDK.
  const { validate } = Object(schema) as { validate?: (value: unknown) => Promise<SdkChecked> | SdkChecked };
  if (validate === undefined) return { input };
  const result = await validate(input);
  return result.success ? { input: result.value as Json } : { problem: result.error.message };
}

type SdkChecked =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error };

type IssuePath = NonNullable<
  NonNullable<Awaited<ReturnType<Schema["~standard"]["validate"]>>["issues"]>[number]["path"]
>;

const pathText = (path: IssuePath | undefined): string =>
  path === undefined || path.length === 0
    ? ""
    : `${path.map((part) => String(Object(part) === part ? (part as { key: PropertyKey }).key : part)).join(".")}: `;

/** What the runtime is told of calls of a tool; tools that are alike in it are called side by side. */
export const optionsOf = ({ once, retry, timeout }: Tool): CallOptions => ({
  ...(once ? { once: true as const } : { retry: retry ?? { attempts: 3, first: "200ms", max: "5s" } }),
  ...(timeout === undefined ? {} : { timeout }),
});

export interface CallOptions {
  readonly once?: true;
  readonly retry?: Json;
  readonly timeout?: number | string;
}
