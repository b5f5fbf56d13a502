/**
 * Agents that remember: what is known of a user is brought into the turn before anything is thought, and what the user says can be
 * drawn out and kept; the model may keep something itself, with a tool. The memory is that of the conversation's user.
 *
 * R1. Facts are shown to the model as data (`recalled.ts`).
 * R2. What is kept while the model sees, itself or in a summary, what a tool of somebody else's answered counts as untrusted,
 *     in whatever turn that was: the model may only repeat what it was told there. So it does once a tool of its planner or
 *     critic has answered, since plans and notes repeat that. It is in quarantine until a person releases it.
 * R3. What is remembered has a key made of the call, so that no attempt remembers it twice.
 */
import type { ActivityScope } from "../../core/activity.ts";
import type { Json } from "../../core/json.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import type { Runtime } from "../../runtime/run.ts";
import type { MemoryKind } from "../memory/define-memory.ts";
import type { Candidate } from "../memory/fact.ts";
import { type OpenMemory, openMemory } from "../memory/open-memory.ts";
import { isOnBranch, lineageOf } from "../thread/lineage.ts";
import { findMessage } from "../thread/thread.ts";
import { type ReadyTool, readyTool, type ToolScope } from "../tool/tool.ts";
import type { AgentContext } from "./context.ts";
import { ownTools } from "./own-tools.ts";
import type { RecalledFacts } from "./recalled.ts";
import { isWithin } from "./seen.ts";
import { counting } from "./spending.ts";
import { type Occasion, occasionOf } from "./work.ts";

/** What is drawn from something a user said; it is trusted unless it says otherwise. */
export type Drawn = Omit<Candidate, "source"> & { readonly trust?: "trusted" | "untrusted" };
export type Extractor = (
  occasion: Occasion,
  scope: ActivityScope,
) => Promise<readonly Drawn[]> | readonly Drawn[];

/** What an agent does with the memory of its user. */
export interface AgentMemory {
  /** What `defineMemory` made; give it to the runtime as well. */
  readonly kind: MemoryKind;
  /** How many facts the model is shown; 5 unless given. */
  readonly recall?: number;
  /** Draws facts from what the user said, before it is answered. */
  readonly extract?: Extractor;
  /** Whether the model has a tool, `remember`, to keep something; not unless given. */
  readonly tool?: boolean;
}

export const rememberName = "remember";

const drawnSchema = jsonSchema({
  type: "object",
  required: ["text"],
  properties: {
    text: { type: "string", description: "What to remember, as one short sentence." },
    subject: { type: "string", description: "Who or what it is about; the user unless given." },
  },
});

/** The tool by which a model keeps something. */
export function rememberTool({ kind }: AgentMemory, runtime: Runtime): ReadyTool {
  const run = async ({ text, subject = "user" }: { text: string; subject?: string }, scope: ToolScope) => {
    const { context } = await scope.state<AgentContext>();
    const trust = seesOthersResult(context) ? "untrusted" : "trusted";
    const source = { trust, tool: rememberName, message: placeIn(scope, context) } as const;
    const memory = await memoryOf(kind, runtime, scope);
    return memory.remember({ subject, text, source }, { key: scope.key });
  };
  return readyTool(rememberName, { ...remembering, run });
}

/** What the model is told of it. */
const remembering = {
  description: "Remembers something about the user for later conversations.",
  input: drawnSchema,
};
export const describedTool = { ...readyTool(rememberName, { ...remembering, run: () => null }) };

/** Draws facts from what was said and keeps them, then finds what is known about it. */
export const recallWith =
  ({ kind, recall = 5, extract }: AgentMemory, runtime: Runtime) =>
  async (_: Json, given: ActivityScope): Promise<RecalledFacts> => {
    const { context } = await given.state<AgentContext>();
    const { scope, spent } = counting(given);
    const memory = await memoryOf(kind, runtime, scope);
    const message = placeIn(scope, context);
    const occasion = occasionOf(context);
    const back = takenBack(context);
    if (back !== undefined) await memory.forget({ message: `${scope.run}/${back}` });
    const drawn = (await extract?.(occasion, scope)) ?? [];
    for (const [index, { trust = "trusted", ...rest }] of drawn.entries())
      await memory.remember({ ...rest, source: { trust, message } }, { key: `${scope.key}/${index}` });
    if (recall === 0) return { facts: [], ...spent() };
    const asked = { now: scope.now(), limit: recall, without: message, note: true };
    const found = await memory.recall(occasion.said, asked);
    const facts = found.map(({ fact: { id, text, seenAt, source } }) => ({
      ...{ id, text, seenAt },
      ...(source.message === undefined ? {} : { message: source.message }),
    }));
    return { facts, ...spent() };
  };

/** The message that this turn's was said over, where that counts as never said: what was drawn from it is no fact. */
function takenBack({ thread, turn, ended }: AgentContext): string | undefined {
  if (ended === null || ended.outcome !== "stopped" || ended.head !== turn.after) return undefined;
  const { message, head } = ended;
  const at = findMessage(thread, message)?.position;
  return at === undefined || isOnBranch(lineageOf(thread), at, head) ? undefined : message;
}

/** The memory of the user whose conversation it is. */
async function memoryOf(kind: MemoryKind, runtime: Runtime, scope: ActivityScope): Promise<OpenMemory> {
  const { run, tenant } = scope;
  const { subject } = await (await runtime.run(run, { tenant })).head();
  return openMemory(runtime, kind, { user: subject, tenant });
}

const placeIn = ({ run }: ActivityScope, { turn }: AgentContext): string => `${run}/${turn.message}`;

/** What these tools answer is what the model itself said. */
const ownNames = new Set([rememberName, ...ownTools(true, { any: "" }).map(({ name }) => name)]);

/** Whether the model saw what a tool of somebody else's answered when it was asked last (R2). */
function seesOthersResult({ thread, seen, advised = false }: AgentContext): boolean {
  if (advised) return true;
  const { entries } = lineageOf(thread);
  const { shown = [], summaries = [] } = seen ?? {};
  const summed = thread.overlays.flatMap(({ id, from, to }) => (summaries.includes(id) ? [from, to] : []));
  return entries.some(
    ({ parts }, position) =>
      parts.some((part) => part.type === "result" && !ownNames.has(part.tool)) &&
      (isWithin(shown, position) || isWithin(summed, position)),
  );
}
