/**
 * The lifecycle of an agent as a statechart: it hears, plans, thinks, has tools called, waits for people, looks back, and
 * answers; and can be stopped, interrupted and spoken to again wherever it is.
 *
 *     idle ── say ──▶ working { planning ▶ executing { thinking ⇄ acting } ⇄ waiting ▶ reflecting } ──▶ done | error
 *
 * `done` and `error` tell how the last turn ended; both hear what is said next. Only `close` ends an agent.
 */
import type { RunLimits } from "../../core/bounds.ts";
import type { StateDefinition, TransitionParts } from "../../core/definition.ts";
import type { Event } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { defineMachine, type Machine } from "../../core/machine.ts";
import type { Scope } from "../../core/scope.ts";
import type { CallPart } from "../thread/message.ts";
import { reasons } from "../thread/unit.ts";
import type { CallOptions } from "../tool/tool.ts";
import {
  type AgentContext,
  type Budget,
  beginWith,
  type CallDecision,
  type CallEnd,
  type Changing,
  decide,
  type Found,
  fail,
  finish,
  giveTo,
  hear,
  type Inheritance,
  interrupt,
  isSayable,
  isToGoOn,
  keepPlan,
  keepResults,
  keepThought,
  overspent,
  type PendingCall,
  type Reflection,
  rejectAll,
  revise,
  type Said,
  settleUncalled,
  type Thought,
  takeBack,
} from "./context.ts";
import { keepSummary, type Summary, type View } from "./view.ts";

/** What becomes of what is said while the agent is busy. */
export type BusyPolicy = "reject" | "enqueue" | "interrupt" | "rollback";

export type AgentEvent =
  | { readonly type: "say"; readonly data: Said }
  | { readonly type: "decide"; readonly data: CallDecision }
  | { readonly type: "stop"; readonly data: { readonly partial?: string } }
  | { readonly type: "handOver"; readonly data: { readonly to: string } }
  | { readonly type: "close" };

/** Tools that are called alike. */
export interface ToolGroup {
  readonly tools: ReadonlySet<string>;
  readonly options: CallOptions;
}

/** What a lifecycle is made from. */
export interface AgentParts {
  readonly id: string;
  readonly version: number;
  readonly limits: RunLimits | undefined;
  readonly hasPlanner: boolean;
  readonly hasReflection: boolean;
  readonly hasSummariser: boolean;
  readonly view: View;
  readonly groups: readonly ToolGroup[];
  readonly mustAsk: (call: CallPart) => boolean;
  readonly mayDecide: (decision: CallDecision, call: PendingCall) => boolean;
  readonly whenBusy: BusyPolicy;
  readonly budget: Budget;
  /** How many tools are called at a time. */
  readonly parallel: number;
  readonly thinking: { readonly retry: Json; readonly timeout?: number | string };
  /** How often an answer may be sent back. */
  readonly revisions: number;
  readonly decideWithin: number | string | undefined;
}

export type AgentMachine = Machine<AgentContext, AgentEvent, Inheritance | undefined>;
type Definition = StateDefinition<AgentContext, AgentEvent>;

/** Finding a plan, or fault with an answer, is worth some tries. */
const retry = { attempts: 3, first: "500ms", max: "10s" };

export function agentMachine(parts: AgentParts): AgentMachine {
  const listening: Definition = {
    on: {
      say: {
        target: "working",
        require: sayable,
        update: (draft, { event, at }) => {
          hear(draft, event.data, at);
          parts.view.compact(draft, at);
        },
      },
      handOver: { target: "handedOver", update: (draft, { event }) => giveTo(draft, event.data.to) },
      close: "closed",
    },
  };
  return defineMachine<AgentContext, AgentEvent, Inheritance | undefined>({
    ...{ id: parts.id, version: parts.version },
    ...(parts.limits === undefined ? {} : { limits: parts.limits }),
    start: ({ input }) => beginWith(input),
    initial: "idle",
    unhandled: "reject",
    states: {
      idle: { ...listening, id: "idle" },
      working: working(parts),
      done: { ...listening, id: "done" },
      error: { ...listening, id: "error" },
      handedOver: { type: "final", output: ({ context }) => ({ to: context.successor }) },
      closed: { type: "final" },
    },
  });
}

function working(parts: AgentParts): Definition {
  const { whenBusy, hasPlanner, hasReflection } = parts;
  const takesOver = whenBusy === "interrupt" || whenBusy === "rollback";
  return {
    initial: hasPlanner ? "planning" : "executing",
    // What is said meanwhile waits for its turn, or takes it, or is refused.
    ...(whenBusy === "enqueue" ? { defer: ["say"] } : {}),
    on: {
      ...(takesOver
        ? { say: { target: "working", reenter: true, require: sayable, update: takeOver(whenBusy) } }
        : {}),
      // Something in here went wrong: the turn ends, and says why.
      "error.execution": fails,
      stop: {
        target: "#idle",
        update: (draft, { event, at }) => interrupt(draft, event.data.partial, at),
      },
    },
    states: {
      ...(hasPlanner ? { planning: planning() } : {}),
      executing: executing(parts),
      waiting: waiting(parts),
      ...(hasReflection ? { reflecting: reflecting(parts) } : {}),
    },
  };
}

/** Bad input changes nothing: the step that would take it is refused. */
const sayable = {
  "what is said is a message with an id of its own": ({ context, event, at }: SayScope) =>
    isSayable(context.thread, event.data, at),
};

const takeOver =
  (policy: "interrupt" | "rollback") =>
  (draft: Changing, { event, at }: SayScope): void => {
    if (policy === "rollback") takeBack(draft, at);
    else interrupt(draft, event.data.partial, at);
    hear(draft, event.data, at);
  };
type AgentScope = Scope<AgentContext, AgentEvent>;
type SayScope = Scope<AgentContext, Extract<AgentEvent, { readonly type: "say" }>>;

/** Where what ends a turn badly leads. */
const fails = {
  target: "#error",
  update: (draft: Changing, { event, at }: Scope<AgentContext, Event>) =>
    fail(draft, (event.data ?? { message: event.type }) as JsonObject, at),
};

const planning = (): Definition => ({
  invoke: {
    id: "plan",
    activity: "plan",
    retry,
    onDone: { target: "executing", update: (draft, { event }) => keepPlan(draft, event.data as Found) },
    onError: fails,
  },
});

function executing(parts: AgentParts): Definition {
  const { groups, budget, parallel, mustAsk, thinking, hasReflection, hasSummariser, view } = parts;
  const isKnown = (tool: string) => groups.some(({ tools }) => tools.has(tool));
  const answered: TransitionParts<AgentContext, AgentEvent> = hasReflection
    ? { target: "#reflecting" }
    : { target: "#done", update: (draft) => finish(draft) };
  return {
    id: "executing",
    initial: "checking",
    states: {
      checking: {
        always: [
          {
            guard: ({ context }) => overspent(context.turn, budget) !== undefined,
            target: "#error",
            update: (draft, { at }) => fail(draft, overspent(draft.turn, budget) as JsonObject, at),
          },
          ...(hasSummariser
            ? [
                {
                  guard: ({ context }: AgentScope) => view.plan(context) !== undefined,
                  target: "summarising",
                },
              ]
            : []),
          "thinking",
        ],
      },
      ...(hasSummariser ? { summarising } : {}),
      thinking: {
        invoke: {
          ...{ id: "think", activity: "think", ...thinking },
          onDone: {
            target: "choosing",
            update: (draft, { event, at }) => {
              keepThought(draft, event.data as Thought, mustAsk, at);
              settleUncalled(draft, isKnown, at);
            },
          },
          onError: fails,
        },
      },
      // What was asked for but not to be called has its result by now.
      choosing: {
        id: "choosing",
        always: [
          {
            guard: ({ context }) => context.calls.some(({ decision }) => decision === "asked"),
            target: "#waiting",
          },
          ...(groups.length === 0
            ? []
            : [{ guard: ({ context }: AgentScope) => context.calls.length > 0, target: "acting" }]),
          { guard: ({ context }) => isToGoOn(context.thread), target: "checking" },
          answered,
        ],
      },
      // An agent without tools has nothing to call.
      ...(groups.length === 0 ? {} : { acting: acting(groups, parallel) }),
    },
  };
}

/** A window that is nearly full is made room in; whoever cannot sum it up leaves that to the next turn. */
const summarising: Definition = {
  invoke: {
    ...{ id: "summarise", activity: "summarise", retry },
    onDone: {
      target: "thinking",
      update: (draft, { event, at }) => event.data && keepSummary(draft, event.data as Summary, at),
    },
    onError: "thinking",
  },
};

const acting = (groups: readonly ToolGroup[], parallel: number): Definition => ({
  type: "parallel",
  states: Object.fromEntries(groups.map((group, index) => [`group${index + 1}`, calling(group, parallel)])),
  onDone: "checking",
});

/** Calls the tools of one group, several at a time; what fails is told to the model, and nothing else fails with it. */
const calling = ({ tools, options }: ToolGroup, parallel: number): Definition => ({
  initial: "calling",
  states: {
    calling: {
      map: {
        over: ({ context }) => context.calls.filter(({ tool }) => tools.has(tool)) as unknown as Json[],
        activity: "call",
        concurrency: parallel,
        tolerate: "100%",
        ...options,
        onDone: {
          target: "called",
          update: (draft, { event, at }) => keepResults(draft, endsOf(event.data, options), at),
        },
        onError: fails,
      },
    },
    called: { type: "final" },
  },
});

function waiting({ mayDecide, decideWithin, groups }: AgentParts): Definition {
  const isKnown = (tool: string) => groups.some(({ tools }) => tools.has(tool));
  return {
    id: "waiting",
    tags: ["approval"],
    always: {
      guard: ({ context }) => context.calls.every(({ decision }) => decision !== "asked"),
      target: "#choosing",
      update: (draft, { at }) => settleUncalled(draft, isKnown, at),
    },
    on: {
      decide: {
        guard: ({ context, event }) => {
          const call = context.calls.find(({ id }) => id === event.data.call);
          return call?.decision === "asked" && mayDecide(event.data, call);
        },
        update: (draft, { event, at }) => decide(draft, event.data, at),
      },
    },
    ...(decideWithin === undefined
      ? {}
      : { after: [{ delay: decideWithin, update: (draft) => rejectAll(draft, "Nobody decided in time.") }] }),
  };
}

const reflecting = ({ revisions, hasPlanner }: AgentParts): Definition => ({
  id: "reflecting",
  invoke: {
    id: "reflect",
    activity: "reflect",
    retry,
    onDone: [
      {
        guard: ({ context, event }) =>
          (event.data as Reflection).verdict === "accept" || context.turn.revisions >= revisions,
        target: "#done",
        update: (draft) => finish(draft),
      },
      {
        guard: ({ event }) => hasPlanner && (event.data as Reflection).verdict === "replan",
        target: "planning",
        update: (draft, { event, at }) => revise(draft, event.data as Reflection, at),
      },
      { target: "executing", update: (draft, { event, at }) => revise(draft, event.data as Reflection, at) },
    ],
    onError: fails,
  },
});

/** How the calls of a map came out. */
function endsOf(data: MapEnd, { once }: CallOptions): ReadonlyMap<string, CallEnd> {
  const ends = new Map<string, CallEnd>();
  for (const result of data.results) if (result !== null) ends.set(result.call, result.end);
  // What may happen once only says itself that it failed, so that one of which the runtime says so may have happened.
  for (const { item, error } of data.failures)
    ends.set(
      item.id,
      once ? { status: "unknown", error: reasons.unknown } : { status: "failed", error: textOfError(error) },
    );
  return ends;
}

interface MapEnd {
  readonly results: readonly (CallOutcome | null)[];
  readonly failures: readonly { readonly item: PendingCall; readonly error: JsonObject }[];
}

/** What the activity that calls a tool gives back. */
export interface CallOutcome {
  readonly call: string;
  readonly end: CallEnd;
}

const textOfError = ({ name, message }: JsonObject): string =>
  typeof message === "string" ? message : `It failed (${String(name)}).`;
