/** `defineAgent`: a lifecycle with a model, tools, and people to ask; ready for a runtime's list of machines. */
import type { RunLimits } from "../../core/bounds.ts";
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { MachineEntry } from "../../runtime/registry.ts";
import type { Runtime } from "../../runtime/run.ts";
import { type GivenModel, modelOf } from "../model/given.ts";
import type { CallPart } from "../thread/message.ts";
import { type GivenTool, optionsOf, type ReadyTool, readyTool } from "../tool/tool.ts";
import type { Budget, CallDecision, PendingCall } from "./context.ts";
import { Conversation, type ConversationOptions } from "./conversation.ts";
import { type AgentMachine, agentMachine, type BusyPolicy, type ToolGroup } from "./machine.ts";
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
  readonly approve?: readonly (keyof Tools & string)[] | ((call: CallPart) => boolean);
  /** Who may decide; anybody who may send to the run, unless given. */
  readonly mayDecide?: (decision: CallDecision, call: PendingCall) => boolean;
  /** How long people have to decide; for ever, unless given. What nobody decides on is not called. */
  readonly decideWithin?: number | string;
  /** Finds the steps to take, before the first thought. */
  readonly plan?: StepFinder;
  /** Looks at every answer before it counts, and may send it back. */
  readonly reflect?: Reflector;
  /** How often an answer may be sent back; twice unless given. */
  readonly revisions?: number;
  /** What becomes of what is said while it is busy; `reject` unless given. */
  readonly whenBusy?: BusyPolicy;
  /** How the thread is brought into the model's window. */
  readonly window?: AgentWindow;
  /** What one turn may use up. */
  readonly budget?: Budget;
  /** What the whole run may use up; it ends with that. */
  readonly limits?: RunLimits;
  /** How many tools are called at a time; 4 unless given. */
  readonly parallel?: number;
  /** How a model that fails is asked again; twice more unless given. */
  readonly retry?: Json;
  readonly timeout?: number | string;
}

/** An agent: a machine with its activities, and a way to talk to its runs. */
export interface Agent extends MachineEntry {
  readonly machine: AgentMachine;
  openThread(runtime: Runtime, options?: ConversationOptions): Promise<Conversation>;
}

const thinkingRetry = { attempts: 3, first: "500ms", max: "30s" };

export function defineAgent<Tools extends Readonly<Record<string, GivenTool>>>(
  definition: AgentDefinition<Tools>,
): Agent {
  const tools = Object.entries(definition.tools ?? {}).map(([name, given]) => readyTool(name, given));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const model = modelOf(definition.id, definition.model);
  const { window = {}, instructions } = definition;
  const view = viewWith(window, instructions, (tool) => byName.get(tool)?.refetchable ?? false);
  const machine = agentMachine({
    ...{ id: definition.id, version: definition.version ?? 1, limits: definition.limits },
    ...{ hasPlanner: definition.plan !== undefined, hasReflection: definition.reflect !== undefined },
    ...{ view, hasSummariser: window.summarise !== undefined },
    groups: groupsOf(tools),
    mustAsk: mustAskOf(definition, byName),
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
    think: thinkWith(model, tools, view),
    ...(window.summarise === undefined ? {} : { summarise: summariseWith(window.summarise, view) }),
    call: callWith(byName),
    ...(definition.plan === undefined ? {} : { plan: planWith(definition.plan) }),
    ...(definition.reflect === undefined ? {} : { reflect: reflectWith(definition.reflect) }),
  };
  return {
    ...{ machine, activities },
    openThread: (runtime, options) => Conversation.open(runtime, machine, options),
  };
}

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

function mustAskOf<Tools extends Readonly<Record<string, GivenTool>>>(
  { id, approve = [] }: AgentDefinition<Tools>,
  tools: ReadonlyMap<string, ReadyTool>,
): (call: CallPart) => boolean {
  if (typeof approve === "function") return approve;
  const unknown = approve.find((name) => !tools.has(name));
  if (unknown !== undefined) {
    throw new HoldfastError(
      "AGENT_INVALID",
      `The agent ${JSON.stringify(id)} asks people about ${JSON.stringify(unknown)}, which is none of its tools: ${[...tools.keys()].join(", ")}`,
    );
  }
  const names = new Set<string>(approve);
  return ({ tool }) => names.has(tool);
}
