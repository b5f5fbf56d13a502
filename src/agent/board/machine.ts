/**
 * The machine behind a board: every question is an event, decided by pure functions on the state, and answered in the step that
 * made it durable. One alarm at a time serves whatever is over first: a lease, somebody's patience, a vote.
 *
 * M1. What is over is over before anything else is decided, whether the alarm has rung or not.
 * M2. Whoever asks is answered, be it with an error: what is wrong changes nothing.
 */
import type { MachineDefinition, TransitionParts } from "../../core/definition.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import { defineMachine, type Machine } from "../../core/machine.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import type { Key } from "./keys.ts";
import { expireLeases, type LeaseAsked, lease, nextExpiry, release, renew } from "./lease.ts";
import { type Asker, type BoardState, emptyBoard } from "./state.ts";
import { type BallotAsked, closeProposals, nextClose, type ProposalAsked, propose, vote } from "./vote.ts";
import { type Aim, decide, type ReviewAsked, remove, type WriteAsked, write } from "./write.ts";

/** What a board is made of. */
export interface Rules {
  readonly id: string;
  readonly version: number;
  readonly keys: ReadonlyMap<string, Key>;
  /** The names that leases may have; any if there are none. */
  readonly leases: readonly string[] | undefined;
  /** What the definition says of all that, so that another one is told from it. */
  readonly said: Json;
}

const text = { type: "string", minLength: 1, maxLength: 512 };
const number = { type: "number" };
const texts = { type: "array", items: text };
const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
const asked = (properties: object, optional: object = {}) =>
  jsonSchema({
    type: "object",
    required: ["by", ...Object.keys(properties)],
    properties: { by: text, ...properties, ...optional },
  });

const aim = { ifVersion: number, fence: number };
/** What each question must say; `by` is the agent that asks. */
const questions = {
  write: asked({ key: text, value: true }, aim),
  remove: asked({ key: text }, aim),
  review: asked({ id: text, decision: { enum: ["accept", "reject", "replace"] } }, { value: true }),
  lease: asked({ names: texts, ms: number, waitMs: orNull(number) }),
  renew: asked({ token: number, ms: number }),
  release: asked({ token: number }),
  propose: asked({
    ...{ question: text, options: texts, quorum: orNull(number), openMs: orNull(number) },
    voters: {
      type: "array",
      items: { type: "object", required: ["name", "weight"], properties: { name: text, weight: number } },
    },
    rule: { enum: ["majority", "weighted", "ranked"] },
    tie: { enum: ["first", "reject", "chair"] },
    ...{ chair: orNull(text), isChangeable: { type: "boolean" } },
  }),
  vote: asked({ id: text, choice: texts }),
} as const;

export type Question = keyof typeof questions;

/** The answer to a question; undefined if it comes later. `before` is the state as it was. */
function answer(
  { keys, leases }: Rules,
  question: Question,
  data: unknown,
  board: BoardState,
  { asker, before }: { readonly asker: Asker; readonly before: BoardState },
): Json | undefined {
  const keyOf = (name: string) => findKey(keys, name);
  switch (question) {
    case "write":
      return write(board, keyOf((data as Aim).key), data as WriteAsked, asker, before);
    case "remove":
      return remove(board, keyOf((data as Aim).key), data as Aim, asker);
    case "review":
      return decide(board, data as ReviewAsked, keyOf, asker);
    case "lease":
      for (const name of (data as LeaseAsked).names) checkLease(leases, name);
      return lease(board, data as LeaseAsked, asker);
    case "renew":
      return renew(board, data as { token: number; ms: number }, asker);
    case "release":
      return release(board, data as { token: number }, asker);
    case "propose":
      return propose(board, withoutBy(data as ProposalAsked & { by: string }), asker);
    case "vote":
      return vote(board, data as BallotAsked, asker);
  }
}

const withoutBy = ({ by: _, ...rest }: ProposalAsked & { by: string }): ProposalAsked => rest;

/** The key of a name; throws KEY_UNKNOWN. */
export function findKey(keys: Rules["keys"], name: string): Key {
  const key = keys.get(name);
  if (key !== undefined) return key;
  const all = [...keys.keys()].join(", ");
  throw new HoldfastError("KEY_UNKNOWN", `The board has no key ${JSON.stringify(name)}; it has ${all}`);
}

function checkLease(leases: Rules["leases"], name: string): void {
  if (leases === undefined || leases.includes(name)) return;
  const all = leases.join(", ");
  throw new HoldfastError("KEY_UNKNOWN", `The board knows no lease ${JSON.stringify(name)}; it has ${all}`);
}

/** What is over by now is over (M1). */
function settle(board: BoardState, at: number): void {
  expireLeases(board, at);
  closeProposals(board, at);
}

/** When something is over next; null for never. */
function nextEnd(board: BoardState): number | null {
  const times = [nextExpiry(board), nextClose(board)].flatMap((time) => time ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** An error as an answer, which `openBoard` throws where it was asked. */
function errorAnswer(error: unknown): Json {
  const { message } = error as Error;
  if (!isHoldfastError(error)) return { error: { code: "VALUE_INVALID", message, details: {} } };
  return { error: { code: error.code, message, details: error.details as JsonObject } };
}

/** Whether the alarm has to ring earlier than it will. One that rings too early only looks. */
const isDueEarlier = (board: BoardState): boolean => {
  const next = nextEnd(board);
  return next !== null && (board.wakeAt === null || next < board.wakeAt);
};

/** What every question does: what is over is settled, then it is decided, and the answer is put where it is given from. */
function ask(rules: Rules, question: Question): TransitionParts<BoardState> {
  return {
    update: (draft, { event, at, context }) => {
      const { by } = event.data as unknown as { by: string };
      const asker = { by, at, to: event.replyTo };
      settle(draft, at);
      const reply = (data: Json | undefined) => {
        if (data !== undefined && asker.to !== undefined) draft.outbox.push({ to: asker.to, data });
      };
      try {
        reply(answer(rules, question, event.data, draft, { asker, before: context }));
      } catch (error) {
        reply(errorAnswer(error));
      }
    },
  };
}

/** Gives the answers that are due, one by one. */
const giveAnswer: TransitionParts<BoardState> = {
  guard: ({ context }) => context.outbox.length > 0,
  actions: [
    {
      reply: ({ context }) => context.outbox[0]?.data as Json,
      to: ({ context }) => context.outbox[0]?.to as string,
    },
    { update: (draft) => void draft.outbox.shift() },
  ],
};

const setAlarm: TransitionParts<BoardState> = {
  guard: ({ context }) => isDueEarlier(context),
  actions: [
    { cancel: "wake" },
    {
      send: {
        ...{ type: "wake", to: "self", id: "wake" },
        delay: ({ context, at }) => Math.max(0, (nextEnd(context) as number) - at),
      },
    },
    {
      update: (draft) => {
        draft.wakeAt = nextEnd(draft);
      },
    },
  ],
};

const wake: TransitionParts<BoardState> = {
  update: (draft, { at }) => {
    draft.wakeAt = null;
    settle(draft, at);
  },
};

/** The machine of a board. */
export function boardMachine(rules: Rules): Machine<BoardState> {
  const handlers = (Object.keys(questions) as Question[]).map((question) => [question, ask(rules, question)]);
  const definition: MachineDefinition<BoardState> = {
    id: rules.id,
    version: rules.version,
    meta: rules.said,
    events: { ...questions, wake: {} },
    start: emptyBoard(),
    initial: "open",
    states: { open: { on: { ...Object.fromEntries(handlers), wake }, always: [giveAnswer, setAlarm] } },
  };
  return defineMachine(definition as never) as unknown as Machine<BoardState>;
}
