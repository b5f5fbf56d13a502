/** `defineAgent`: a lifecycle with a model, tools, and people to ask; ready for a runtime's list of machines. */
import type { RunLimits } from "../../core/bounds.ts";
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { GivenEntry, Runtime } from "../../runtime/run.ts";
import { type GivenModel, modelOf } from "../model/given.ts";
import type { CallPart } from "../thread/message.ts";
import { describe, type GivenTool, optionsOf, type ReadyTool, readyTool } from "../tool/tool.ts";
import type { ToolGroup } from "./acting.ts";
import { mustAskOf } from "./approving.ts";
import { finderOf, type GivenAdviser, reflectorOf } from "./asking.ts";
import type { CallDecision } from "./calls.ts";
import { checkDefinition } from "./check-definition.ts";
import type { Budget, PendingCall } from "./context.ts";
import { Conversation, type ConversationOptions } from "./conversation.ts";
import { type AgentMachine, agentMachine } from "./machine.ts";
import { ownTools, type Successors } from "./own-tools.ts";
import { type AgentMemory, describedTool, recallWith, rememberName, rememberTool } from "./remembering.ts";
import { type BusyPolicy, overhearWith } from "./stopping.ts";
import { type References, understandWith } from "./understanding.ts";
import { type AgentWindow, viewWith } from "./view.ts";
import {
  callWith,
  planWith,
  type Reflector,
  reflectWith,
  type StepFinder,
  summariseWith,
  thinkWith,
} from "./work.ts";

export interface AgentDefinition<Tools extends Readonly<Record<string, GivenTool>>> {
  readonly id: string;
  /** 1 unless given. Runs of older versions go on as they were, or are migrated as any machine's. */
  readonly version?: number;
  /** What the model is told before anything else. */
  readonly instructions?: string;
  /** A model of the AI SDK, or a function in its place. */
  readonly model: GivenModel;
  readonly tools?: Tools;
  /** Tools that are called only once a person has agreed; or which calls are. */
  readonly approve?:
    | readonly ((keyof Tools & string) | "hand_over")[]
    | ((call: CallPart) => Promise<boolean> | boolean);
  /** Who may decide; anybody who may send to the run, unless given. */
  readonly mayDecide?: (decision: CallDecision, call: PendingCall) => boolean;
  /** How long people have to decide; for ever, unless given. What nobody decides on is not called. */
  readonly decideWithin?: number | string;
  /** Agents that the model may hand the conversation to, by the ids of their machines, and what it is told of each. */
  readonly handOver?: Successors;
  /** What "it", "that file" or "the second one" means is found before anything is planned, and told to the model. */
  readonly references?: References;
  /** Keeps what the conversation is about: then messages of the topic at hand stay longer in the window. */
  readonly topics?: boolean;
  /** Finds the steps to take, before the first thought: a function, or a model of the AI SDK, alone or with tools. */
  readonly plan?: StepFinder | GivenAdviser;
  /** Looks at every answer before it counts, and may send it back: a function, or a model of the AI SDK, alone or with tools. */
  readonly reflect?: Reflector | GivenAdviser;
  /** How often an answer may be sent back; twice unless given. */
  readonly revisions?: number;
  /** What becomes of what is said while it is busy; `reject` unless given. */
  readonly whenBusy?: BusyPolicy;
  /** How the thread is brought into the model's window. */
  readonly window?: AgentWindow;
  /** What one turn may use up. */
  readonly budget?: Budget;
  /** The long-term memory of whoever it talks to; none unless given. */
  readonly memory?: AgentMemory;
  /** What the whole run may use up; it ends with that. */
  readonly limits?: RunLimits;
  /** How many tools are called at a time; 4 unless given. */
  readonly parallel?: number;
  /** How a model that fails is asked again; twice more unless given. */
  readonly retry?: Json;
  readonly timeout?: number | string;
}

/** An agent: a machine with its activities, and a way to talk to its runs. */
export interface Agent extends GivenEntry {
  readonly machine: AgentMachine;
  openThread(runtime: Runtime, options?: ConversationOptions): Promise<Conversation>;
}

const thinkingRetry = { attempts: 3, first: "500ms", max: "30s" };

export function defineAgent<Tools extends Readonly<Record<string, GivenTool>>>(
  definition: AgentDefinition<Tools>,
): Agent {
  checkDefinition(definition);
  const { memory } = definition;
  const given = Object.entries(definition.tools ?? {}).map(([name, tool]) => readyTool(name, tool));
  const tools = [...given, ...(memory?.tool ? [describedTool] : [])];
  const byName = named(tools);
  const { plan, reflect } = definition;
  const finder = plan === undefined ? undefined : finderOf(definition.id, plan);
  const reflector = reflect === undefined ? undefined : reflectorOf(definition.id, reflect);
  const model = modelOf(definition.id, definition.model);
  const { window = {}, instructions } = definition;
  const { handOver: successors = {}, references, topics = false } = definition;
  const own = ownTools(definition.plan !== undefined, successors);
  const taken = [...own, ...tools.slice(given.length)].find(({ name }) =>
    given.some((tool) => tool.name === name),
  );
  if (taken !== undefined)
    throw new HoldfastError(
      "AGENT_INVALID",
      `The agent ${JSON.stringify(definition.id)} has a tool ${JSON.stringify(taken.name)}, which is the name of one that every such agent has: give it another`,
    );
  const view = viewWith(window, instructions, (tool) => byName.get(tool)?.refetchable ?? false);
  const mustAsk = mustAskOf(definition, byName, own);
  const machine = agentMachine({
    ...{ id: definition.id, version: definition.version ?? 1, limits: definition.limits },
    ...{
      hasMemory: memory !== undefined,
      hasPlanner: finder !== undefined,
      hasReflection: reflector !== undefined,
      ...{ planGroups: groupsOf(finder?.tools ?? []), reflectGroups: groupsOf(reflector?.tools ?? []) },
    },
    ...{ view, hasSummariser: window.summarise !== undefined },
    ...{ groups: groupsOf(tools), own, successors, hasReferences: references !== undefined, topics },
    mayDecide: definition.mayDecide ?? (() => true),
    ...{ whenBusy: definition.whenBusy ?? "reject", budget: definition.budget ?? {} },
    ...{ parallel: definition.parallel ?? 4, revisions: definition.revisions ?? 2 },
    decideWithin: definition.decideWithin,
    thinking: {
      retry: definition.retry ?? thinkingRetry,
      ...(definition.timeout === undefined ? {} : { timeout: definition.timeout }),
    },
  });
  const activities = {
    think: thinkWith({ model, tools: [...tools.map(describe), ...own], view, mustAsk }),
    ...(references === undefined ? {} : { understand: understandWith(references) }),
    ...(window.summarise === undefined ? {} : { summarise: summariseWith(window.summarise, view) }),
    call: callWith(byName),
    ...(finder === undefined
      ? {}
      : { plan: planWith(finder.advise), planCall: callWith(named(finder.tools)) }),
    ...(reflector === undefined
      ? {}
      : { reflect: reflectWith(reflector.advise), reflectCall: callWith(named(reflector.tools)) }),
  };
  return {
    ...{ machine, activities },
    activitiesOf: (runtime) => ({
      overhear: overhearWith(runtime),
      ...(memory === undefined ? {} : memoryWork(memory, runtime, byName)),
    }),
    openThread: (runtime, options) => Conversation.open(runtime, machine, options),
  };
}

const named = (tools: readonly ReadyTool[]): ReadonlyMap<string, ReadyTool> =>
  new Map(tools.map((tool) => [tool.name, tool]));

/** What an agent does with a memory, which takes a runtime. */
const memoryWork = (memory: AgentMemory, runtime: Runtime, tools: ReadonlyMap<string, ReadyTool>) => ({
  recall: recallWith(memory, runtime),
  ...(memory.tool
    ? { call: callWith(new Map([...tools, [rememberName, rememberTool(memory, runtime)]])) }
    : {}),
});

/** Tools that the runtime is told the same of are called as one. */
function groupsOf(tools: readonly ReadyTool[]): readonly ToolGroup[] {
  const groups = new Map<string, { tools: Set<string>; options: ToolGroup["options"] }>();
  for (const tool of tools) {
    const options = optionsOf(tool);
    const key = JSON.stringify(options);
    const group = groups.get(key) ?? { tools: new Set<string>(), options };
    group.tools.add(tool.name);
    groups.set(key, group);
  }
  return [...groups.values()];
}
