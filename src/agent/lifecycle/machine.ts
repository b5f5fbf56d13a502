/**
 * The lifecycle of an agent as a statechart: it hears, plans, thinks, has tools called, waits for people, looks back, and
 * answers; and can be stopped, interrupted and spoken to again wherever it is.
 *
 *     idle ── say ──▶ working { planning ▶ executing { thinking ⇄ acting } ⇄ waiting ▶ reflecting } ──▶ done | error
 *
 * `done` and `error` tell how the last turn ended; both hear what is said next. Only `close` ends an agent.
 */
import type { RunLimits } from "../../core/bounds.ts";
import type { Draft, SettledEvent, TransitionParts } from "../../core/definition.ts";
import type { Event } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { defineMachine, type Machine } from "../../core/machine.ts";
import type { Scope } from "../../core/scope.ts";
import { acting, type ToolGroup } from "./acting.ts";
import { away, awayWith, leave } from "./away.ts";
import {
  type Callable,
  type CallDecision,
  decide,
  isDecision,
  keepResults,
  rejectAll,
  settleUncalled,
} from "./calls.ts";
import { consulting } from "./consulting.ts";
import {
  type AgentContext,
  type Budget,
  beginWith,
  type Changing,
  type Inheritance,
  isHeir,
  type PendingCall,
} from "./context.ts";
import type { AgentEvent, Definition } from "./event.ts";
import type { OwnTool, Successors } from "./own-tools.ts";
import { type RecalledFact, recalledIn } from "./recalled.ts";
import { charge } from "./spending.ts";
import { type BusyPolicy, type SayScope, sayable, speakOver, stop, stopping, takesOver } from "./stopping.ts";
import {
  accept,
  type Found,
  fail,
  finish,
  giveTo,
  hear,
  isSayable,
  isToGoOn,
  keepPlan,
  keepThought,
  overspent,
  type Reflected,
  revise,
  type Thought,
} from "./turn.ts";
import { keepUnderstood, type Understood } from "./understanding.ts";
import { keepSummary, type Summary, type View } from "./view.ts";

/** What a lifecycle is made from. */
export interface AgentParts {
  readonly id: string;
  readonly version: number;
  readonly limits: RunLimits | undefined;
  readonly hasMemory: boolean;
  readonly hasPlanner: boolean;
  readonly hasReflection: boolean;
  /** What a planner and a critic may call, each for itself. */
  readonly planGroups: readonly ToolGroup[];
  readonly reflectGroups: readonly ToolGroup[];
  readonly hasSummariser: boolean;
  readonly view: View;
  readonly groups: readonly ToolGroup[];
  /** What its model may call that the lifecycle does itself, and whom it may hand over to. */
  readonly own: readonly OwnTool[];
  readonly successors: Successors;
  /** Whether references are resolved, and topics tracked. */
  readonly hasReferences: boolean;
  readonly topics: boolean;
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

/** Finding a plan, or fault with an answer, is worth some tries. */
const retry = { attempts: 3, first: "500ms", max: "10s" };

export function agentMachine(parts: AgentParts): AgentMachine {
  const listening: Definition = {
    on: {
      say: {
        target: "working",
        ...(parts.whenBusy === "enqueue" ? { guard: isTakenNow } : { require: sayable }),
        update: (draft, { event, at }) => {
          hear(draft, event.data, { at, topics: parts.topics });
          parts.view.compact(draft, at);
        },
      },
      handOver: {
        target: "handedOver",
        require: { "it says which run has it then": ({ event: { data } }) => isSuccessor(data?.to) },
        update: (draft, { event }) => giveTo(draft, event.data.to),
      },
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
      idle: {
        ...{ ...listening, id: "idle" },
        always: { guard: ({ context }) => isHeir(context), target: "working" },
      },
      working: working(parts),
      stopping: stopping(parts),
      done: { ...listening, id: "done" },
      error: { ...listening, id: "error" },
      handedOver: { type: "final", output: ({ context }) => ({ to: context.successor }) },
      ...(Object.keys(parts.successors).length === 0 ? {} : { away: away(parts.successors, fails) }),
      closed: { type: "final", id: "closed" },
    },
  });
}

const isSuccessor = (run: unknown): boolean => typeof run === "string" && run !== "";

function working(parts: AgentParts): Definition {
  const { whenBusy, hasMemory, hasPlanner, hasReflection, hasReferences } = parts;
  const first = hasPlanner ? "planning" : "executing";
  const understood = hasMemory ? "recalling" : first;
  return {
    initial: hasReferences ? "understanding" : understood,
    // What is said meanwhile waits for its turn, or takes it, or is refused.
    ...(whenBusy === "enqueue" ? { defer: ["say"] } : {}),
    on: {
      ...(takesOver(parts) ? { say: speakOver(parts) } : {}),
      // Something in here went wrong: the turn ends, and says why. Whoever says so from outside is not believed.
      "error.execution": { ...fails, guard: ({ event }) => (event as Event).kind !== undefined },
      stop,
    },
    states: {
      ...(hasReferences ? { understanding: understanding(understood) } : {}),
      ...(hasMemory ? { recalling: recalling(first) } : {}),
      ...(hasPlanner ? { planning: planning(parts) } : {}),
      executing: executing(parts),
      waiting: waiting(parts),
      ...(hasReflection ? { reflecting: reflecting(parts) } : {}),
    },
  };
}

/**
 * Where what is said may have waited in line, it is not taken rather than refused: what is refused takes the step with it, and
 * that is the one that ended the turn before.
 */
const isTakenNow = ({ context, event, at }: SayScope): boolean => isSayable(context.thread, event.data, at);

/** What a turn goes on without, if need be: whoever cannot say what is meant leaves it to the model. */
const understanding = (target: string): Definition => ({
  invoke: {
    ...{ id: "understand", activity: "understand", retry },
    onDone: { target, update: (draft, { event }) => keepUnderstood(draft, event.data as Understood) },
    onError: target,
  },
});

type AgentScope = Scope<AgentContext, AgentEvent>;

/** Where what ends a turn badly leads. */
const fails = {
  target: "#error",
  update: (draft: Changing, { event, at }: Scope<AgentContext, Event>) =>
    fail(draft, (event.data ?? { message: event.type }) as JsonObject, at),
};

/** What is known about what was said, before anything is thought. */
const recalling = (target: string): Definition => ({
  invoke: {
    ...{ id: "recall", activity: "recall", retry },
    onDone: {
      target,
      update: (draft, { event }) => {
        const { facts, ...spending } = recalledIn(event.data);
        draft.recalled = facts as Draft<RecalledFact>[];
        charge(draft, spending);
      },
    },
    onError: fails,
  },
});

const planning = ({ planGroups: groups, ...parts }: AgentParts): Definition => ({
  id: "planning",
  ...consulting({
    ...{ ...parts, who: "plan", groups, retry, fails },
    onDone: [{ target: "#executing", update: (draft, { event }) => keepPlan(draft, event.data as Found) }],
  }),
});

/** What can be called. */
const callableOf = ({ groups, own }: AgentParts): Callable => ({
  isKnown: (tool) => groups.some(({ tools }) => tools.has(tool)),
  own: new Map(own.map((tool) => [tool.name, tool])),
});

/** A conversation that is to go elsewhere goes once all that was to be called has come out. */
const handsOver = ({ successors }: AgentParts): TransitionParts<AgentContext, AgentEvent>[] =>
  Object.keys(successors).map((to, index) => ({
    guard: ({ context }) => context.handing?.to === to && context.calls.length === 0,
    target: `#${awayWith(index)}`,
    update: (draft) => leave(draft),
  }));

/** A window that is nearly full is summed up first. */
const makesRoom = (view: AgentParts["view"]): TransitionParts<AgentContext, AgentEvent> => ({
  guard: ({ context }) => view.plan(context) !== undefined,
  target: "summarising",
});

function executing(parts: AgentParts): Definition {
  const { groups, budget, parallel, thinking, hasReflection, hasSummariser, view } = parts;
  const callable = callableOf(parts);
  const answered: TransitionParts<AgentContext, AgentEvent> = hasReflection
    ? { target: "#reflecting" }
    : { target: "#done", update: (draft) => finish(draft) };
  return {
    id: "executing",
    initial: "checking",
    states: {
      checking: {
        always: [
          ...handsOver(parts),
          {
            guard: ({ context }) => overspent(context.turn, budget) !== undefined,
            target: "#error",
            update: (draft, { at }) => fail(draft, overspent(draft.turn, budget) as JsonObject, at),
          },
          ...(hasSummariser ? [makesRoom(view)] : []),
          "thinking",
        ],
      },
      ...(hasSummariser ? { summarising } : {}),
      thinking: {
        id: "thinking",
        invoke: {
          ...{ id: "think", activity: "think", ...thinking },
          onDone: {
            target: "choosing",
            update: (draft, { event, at }) => {
              keepThought(draft, event.data as Thought, at);
              settleUncalled(draft, callable, at);
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
      ...(groups.length === 0
        ? {}
        : {
            acting: acting({
              ...{ groups, parallel, fails, activity: "call", onDone: "checking" },
              ...{ callsOf: ({ calls }) => calls, keep: keepResults },
            }),
          }),
    },
  };
}

/** A window that is nearly full is made room in; what cannot be summed up is left to the next turn. */
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

function waiting(parts: AgentParts): Definition {
  const { mayDecide, decideWithin } = parts;
  const callable = callableOf(parts);
  return {
    id: "waiting",
    tags: ["approval"],
    always: {
      guard: ({ context }) => context.calls.every(({ decision }) => decision !== "asked"),
      target: "#choosing",
      update: (draft, { at }) => settleUncalled(draft, callable, at),
    },
    on: {
      decide: {
        guard: ({ context, event }) => {
          if (!isDecision(event.data)) return false;
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

/** Only an agent that plans can plan anew; any other has its answer revised. */
const replans: TransitionParts<AgentContext, SettledEvent> = {
  guard: ({ event }) => (event.data as Reflected).verdict === "replan",
  target: "#planning",
  update: (draft, { event, at }) => revise(draft, event.data as Reflected, at),
};

const reflecting = ({ reflectGroups: groups, ...parts }: AgentParts): Definition => ({
  id: "reflecting",
  ...consulting({
    ...{ ...parts, who: "reflect", groups, retry, fails },
    onDone: [
      {
        guard: ({ context, event }) =>
          (event.data as Reflected).verdict === "accept" || context.turn.revisions >= parts.revisions,
        target: "#done",
        update: (draft, { event }) => accept(draft, event.data as Reflected),
      },
      ...(parts.hasPlanner ? [replans] : []),
      { target: "#executing", update: (draft, { event, at }) => revise(draft, event.data as Reflected, at) },
    ],
  }),
});
