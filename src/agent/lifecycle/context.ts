/**
 * What an agent knows, as the context of its run. How its steps change it is in `turn.ts` and `calls.ts`, whose functions take a
 * draft.
 *
 * C1. The thread can go on after every step: whatever ends a turn closes the calls that are open, with a result that says why.
 */
import type { Draft } from "../../core/definition.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import type { ReadPages } from "../pages.ts";
import { isWorkingMemory, makeWorkingMemory, type WorkingMemory } from "../plan/working-memory.ts";
import { problemOfThread } from "../thread/check-thread.ts";
import type { CallPart, Message, Part, Role } from "../thread/message.ts";
import { emptySalience, type Salience } from "../thread/salience.ts";
import { append, emptyThread, findMessage, lengthOf, type Thread } from "../thread/thread.ts";
import type { Topics } from "../thread/topics.ts";
import type { Calibration } from "../window/tokens.ts";
import type { RecalledFact } from "./recalled.ts";
import type { SeenWindow } from "./seen.ts";

/** Every agent has one model, so what it reports is kept under one name. */
export const modelName = "model";

/** What one turn may use up. */
export interface Budget {
  /** How often the model is asked. */
  readonly steps?: number;
  readonly tokens?: number;
  readonly cost?: number;
}

/** What is done about one message of the user. */
export interface Turn {
  /** 1 for the first. */
  readonly number: number;
  /** The id of the message. */
  readonly message: string;
  /** The position of the message before it; null if it begins the conversation. */
  readonly after: number | null;
  /** How often the model was asked, and what that used up. */
  readonly thoughts: number;
  readonly tokens: number;
  readonly cost: number;
  /** How often the answer was looked at and sent back. */
  readonly revisions: number;
  /** How often the turn was handed from agent to agent. */
  readonly handOvers: number;
  /** What phrases of the message mean that mean something said before; where references are resolved. */
  readonly meant: readonly Referred[];
  /** The topic it belongs to, by its number in `topics`; null where topics are not tracked. */
  readonly topic: number | null;
}

/** A phrase and what it means. */
export interface Referred {
  readonly phrase: string;
  readonly entity: string;
  /** How much more likely that is than the next, from 0 to 1. */
  readonly margin: number;
  /** Whether the resolver was asked. */
  readonly asked: boolean;
}

/** What somebody says to an agent. */
export interface Said {
  /** Of the message it becomes. */
  readonly id: string;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
  /** The message it is said instead of: that one, and all that followed it, stay as a branch of their own. */
  readonly instead?: string;
}

/** How a turn ended. */
export interface TurnEnd {
  /** The id of the message it was about. */
  readonly message: string;
  /** `handedOver`: another agent goes on with it. */
  readonly outcome: "answered" | "failed" | "stopped" | "handedOver";
  /** Why it failed. */
  readonly reason?: JsonObject;
  /** The position of the thread's newest message then. */
  readonly head: number | null;
}

/** A call that the model asked for and that has no result in the thread yet. */
export interface PendingCall extends Omit<CallPart, "type"> {
  readonly decision: "free" | "asked" | "approved" | "rejected";
  /** When the model asked for it. */
  readonly askedAt: number;
  /** Who decided on it, what was said about that, and when. */
  readonly by?: string;
  readonly note?: string;
  readonly decidedAt?: number;
  /** Whether a person changed its input; what the model had asked for stands in the thread. */
  readonly isEdited?: true;
}

/** What people decided on a call. */
export interface Decided {
  readonly isApproved: boolean;
  readonly by?: string;
  readonly note?: string;
  /** When; null if nobody did before its time was up or its turn ended. */
  readonly at: number | null;
  /** The input it was changed to. */
  readonly input?: Json;
}

/** What became of a call that was asked for; what it was given and gave stands in the thread. */
export interface CallRecord {
  readonly call: string;
  /** `rejected` and `cancelled` were never made; of `unknown` nobody can tell. */
  readonly status: "done" | "failed" | "rejected" | "cancelled" | "unknown";
  readonly startedAt: number;
  readonly ms: number;
  readonly attempt: number;
  /** Of a call that people were asked about. */
  readonly decided?: Decided;
  /** Of a call that stands in no thread, since a planner or critic made it: what it was given and gave. */
  readonly of?: { readonly tool: string; readonly input: Json; readonly output: Json };
}

/** What a planner or critic with tools has said and was told, and what it has called. */
export interface Aside {
  readonly messages: readonly Message[];
  readonly calls: readonly PendingCall[];
}

/** How a call came out. */
export type CallEnd =
  | (Pick<CallRecord, "startedAt" | "ms" | "attempt"> & { readonly status: "done"; readonly output: Json })
  | { readonly status: "failed" | "rejected" | "unknown"; readonly error: Json };

/** What all turns together used up. */
export interface Used {
  /** How often the model was asked. */
  readonly thoughts: number;
  /** As the model's provider reports them, or as they were estimated. */
  readonly input: number;
  readonly output: number;
  /** Tokens of whoever plans, looks back, sums up or resolves, where they say so; absent while there are none. */
  readonly besides?: number;
  readonly cost: number;
}

export interface AgentContext {
  readonly thread: Thread;
  readonly working: WorkingMemory;
  readonly turn: Turn;
  /** How the last turn ended; null before that. */
  readonly ended: TurnEnd | null;
  readonly calls: readonly PendingCall[];
  /** When the calls under way were begun. */
  readonly callsAt: number;
  readonly log: ReadPages<CallRecord>;
  readonly used: Used;
  /** What the model saw when it was asked last; null before that. */
  readonly seen: SeenWindow | null;
  /** Where the model has said that the conversation is to go, until it does. */
  readonly handing: { readonly to: string } | null;
  /** What was mentioned, and up to which message; nothing where references are not resolved. */
  readonly salience: Readonly<Salience>;
  readonly salienceTo: string;
  /** What the conversation was about; null where that is not tracked. */
  readonly topics: Readonly<Topics> | null;
  /** Where each topic was talked about last: positions of messages of users and of answers, by its number. */
  readonly topicPlaces: Readonly<Record<string, readonly number[]>>;
  /** The run that has the conversation now; empty while this one has. */
  readonly successor: string;
  /** How what the model reports compares with what was counted. */
  readonly calibration: Readonly<Calibration>;
  /** Of a planner or critic that looks things up; absent while none does. */
  readonly aside?: Aside;
  /** Whether tools of a planner or critic have answered: what is planned may repeat what they said. */
  readonly advised?: boolean;
  /** What was said over the agent, while what it had said before is found out; absent while there is nothing. */
  readonly next?: readonly Said[];
  /** What is remembered about what was said in this turn, where there is a memory. */
  readonly recalled?: readonly RecalledFact[];
}

/** What a turn begins with. */
export const freshTurn = {
  ...{ thoughts: 0, tokens: 0, cost: 0, revisions: 0, handOvers: 0, meant: [] as Referred[], topic: null },
};

export const emptyContext = (): AgentContext => ({
  thread: emptyThread(),
  working: makeWorkingMemory(""),
  turn: { number: 0, message: "", after: null, ...freshTurn },
  ended: null,
  calls: [],
  callsAt: 0,
  log: [],
  used: { thoughts: 0, input: 0, output: 0, cost: 0 },
  seen: null,
  handing: null,
  salience: emptySalience(),
  salienceTo: "",
  topics: null,
  topicPlaces: {},
  successor: "",
  calibration: {},
});

/** What an agent is given of a conversation that another one had. */
export interface Inheritance {
  readonly thread: Thread;
  readonly working: WorkingMemory;
  /** What is to be gone on with at once. */
  readonly turn?: Turn;
}

/** How an agent begins: with nothing, or where another one left off. */
export function beginWith(inherited: Inheritance | undefined): AgentContext {
  if (inherited === undefined) return emptyContext();
  checkInheritance(inherited);
  const { thread, working, turn } = inherited;
  return { ...emptyContext(), thread, working, ...(turn === undefined ? {} : { turn }) };
}

/** Throws AGENT_INVALID for what no agent can go on with: it could never answer anything. */
function checkInheritance(inherited: Inheritance): void {
  const { thread, working, turn } = Object(inherited) as Partial<Inheritance>;
  const problem =
    thread === undefined || !isWorkingMemory(working) || (turn !== undefined && !isTurn(turn))
      ? "it is not { thread, working, turn } of another agent"
      : problemOfThread(thread);
  if (problem === undefined) return;
  throw new HoldfastError("AGENT_INVALID", `An agent cannot begin with ${show(inherited)}: ${problem}`);
}

const isTurn = (turn: unknown): boolean =>
  isObject(turn) &&
  typeof turn.message === "string" &&
  Object.keys(freshTurn).every((name) => Object.hasOwn(turn, name));

/** Whether an agent begins with what another one left to it. */
export const isHeir = ({ turn, ended }: AgentContext): boolean => turn.message !== "" && ended === null;

export type Changing = Draft<AgentContext>;

/** Adds a message that nobody but the agent itself has a name for. */
export function add(
  draft: Changing,
  { role, parts, at, metadata }: { role: Role; parts: readonly Part[]; at: number; metadata?: JsonObject },
): void {
  const id = freeId(draft, role);
  append(draft.thread, { id, role, parts, at, ...(metadata === undefined ? {} : { metadata }) });
}

/** An id for the next message; whoever speaks gives theirs, and may have given this one. */
export function freeId({ thread }: Changing, role: Role): string {
  let id = `${role}-${lengthOf(thread)}`;
  while (findMessage(thread, id) !== undefined) id += "~";
  return id;
}
