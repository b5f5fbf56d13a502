/**
 * The machine behind a memory: one run for each user, which is told, corrected and made to forget, answers in the step that made
 * it durable, and sees to its index and its vectors beside that.
 *
 * M1. The index and the vectors follow the facts, each by one activity at a time; what changes meanwhile is done next. A process
 *     that dies in between leaves an activity that is taken up.
 * M2. Whoever asks is answered, be it with an error: what is wrong changes nothing.
 * M3. What search and embeddings there are is no part of the definition: they can come and go.
 */
import type { Draft, StateDefinition, TransitionParts } from "../../core/definition.ts";
import type { Json } from "../../core/json.ts";
import { defineMachine, type Machine } from "../../core/machine.ts";
import { messageOf, show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { lacksVector } from "./embedding.ts";
import { type Candidate, emptyMemory, type FactVector, type Memory, numberOf, placeOf } from "./fact.ts";
import {
  type Change,
  closeFact,
  confirmFact,
  consolidate,
  correctFact,
  forgetAll,
  forgetFacts,
  forgetFrom,
  noteRecalled,
  quarantineFact,
  remember,
} from "./remember.ts";

/** What waits to be done with facts whose words came or went, by their ids. */
interface Work {
  readonly pending: readonly string[];
  /** What is being done. */
  readonly under: readonly string[];
  /** Whether it could not be done: it is tried again when there is something new. */
  readonly failed: boolean;
}

/** What the store's index is made of this; a `mark` of 0 while there is none. */
export interface Indexed {
  readonly mark: number;
  /** How its words were made, and which key hides them, as the kind's `keyId`; null while there is none, and in old ones. */
  readonly key: string | null;
}

export interface MemoryState {
  readonly memory: Memory;
  readonly index: Work & Indexed;
  readonly vectors: Work;
  /** The answer to the event of this step, while it lasts. */
  readonly answer: Json;
}

/** What a memory is told, by the type of the event. */
export interface MemoryQuestions {
  readonly remember: Candidate;
  readonly correct: {
    readonly id: string;
    readonly instead: Omit<Candidate, "subject"> & { subject?: string };
  };
  readonly close: { readonly id: string; readonly validTo?: number };
  readonly confirm: { readonly id: string };
  readonly quarantine: { readonly id: string };
  readonly forget:
    | { readonly ids: readonly string[] }
    | { readonly message: string }
    | { readonly everything: true };
  readonly consolidate: null;
  readonly note: { readonly texts: readonly string[] };
  /** Somebody found that the index is not of this state, or that vectors are missing. */
  readonly refresh: { readonly index: boolean; readonly vectors: boolean };
}

export type MemoryQuestion = keyof MemoryQuestions;

export type MemoryMachine = Machine<MemoryState>;
type MemoryDraft = Draft<MemoryState>;
type Definition = StateDefinition<MemoryState>;

export interface MemoryParts {
  readonly id: string;
  readonly version: number;
  readonly rules: NonNullable<Change["rules"]>;
  readonly halfLife: Change["halfLife"];
  readonly hasSearch: boolean;
  /** The id of the model of embeddings, if there is one. */
  readonly model: string | undefined;
}

const noWork: Work = { pending: [], under: [], failed: false };
export const emptyState: MemoryState = {
  ...{ memory: emptyMemory, index: { ...noWork, mark: 0, key: null }, vectors: noWork, answer: null },
};

/** Both can wait: what they lack is found another way meanwhile. */
const retry = { attempts: 10, first: "500ms", max: "1m" };

export function memoryMachine(parts: MemoryParts): MemoryMachine {
  const questions = Object.keys(answers) as MemoryQuestion[];
  const open: Definition = {
    type: "parallel",
    on: {
      ...Object.fromEntries(questions.map((question) => [question, ask(parts, question)])),
      erase: { target: "clearing", update: (draft) => void Object.assign(draft, emptyState) },
    },
    states: { index: indexing(parts), vectors: embedding(parts) },
  };
  return defineMachine<MemoryState>({
    ...{ id: parts.id, version: parts.version, start: emptyState, initial: "open" },
    states: {
      open,
      // Should that fail for good, what is left goes with the run.
      clearing: { invoke: { id: "clear", activity: "rebuild", retry, onDone: "erased", onError: "erased" } },
      erased: { type: "final" },
    },
  });
}

/** What each question does to a memory, and the answer to it. */
const answers: {
  readonly [Question in MemoryQuestion]: (
    draft: MemoryDraft,
    data: MemoryQuestions[Question],
    change: Change & { readonly model: string | undefined },
  ) => unknown;
} = {
  remember: ({ memory }, candidate, change) => remember(memory, candidate, change),
  correct: ({ memory }, { id, instead }, change) => correctFact(memory, id, instead, change),
  close: ({ memory }, { id, validTo }, { at }) =>
    closeFact(memory, id, { at, ...(validTo === undefined ? {} : { validTo }) }),
  confirm: ({ memory }, { id }, change) => confirmFact(memory, id, change),
  quarantine: ({ memory }, { id }, change) => quarantineFact(memory, id, change),
  forget: ({ memory }, which, change) => {
    const { ids, message, everything } = (which ?? {}) as Partial<Record<string, unknown>>;
    if (everything === true) return forgetAll(memory, change);
    if (typeof message === "string") return forgetFrom(memory, message, change);
    const isList = Array.isArray(ids) && ids.every((id) => typeof id === "string");
    if (isList) return forgetFacts(memory, [...new Set(ids as string[])], change);
    throw new HoldfastError(
      "FACT_INVALID",
      `${show(which)} says not what to forget; give ids, a message, or everything`,
    );
  },
  consolidate: ({ memory }, _, change) => consolidate(memory, change),
  note: ({ memory }, { texts }) => noteRecalled(memory, texts),
  refresh: (draft, { index, vectors }, { model }) => {
    if (index) draft.index.mark = 0;
    if (vectors && model !== undefined)
      draft.vectors.pending = draft.memory.facts
        .filter((fact) => lacksVector(fact as Memory["facts"][number], model))
        .map(({ id }) => id);
  },
};

function ask(parts: MemoryParts, question: MemoryQuestion): TransitionParts<MemoryState> {
  const { rules, halfLife, hasSearch, model } = parts;
  return {
    actions: [
      {
        update: (draft, { event, at }) => {
          const changed = (id: string): void => {
            // Without one it falls behind, and is made anew should it come back.
            if (hasSearch) draft.index.pending.push(id);
            else draft.index.mark = 0;
            if (model !== undefined) draft.vectors.pending.push(id);
          };
          // Whatever stopped it may be over by now.
          draft.index.failed = false;
          draft.vectors.failed = false;
          const answer = answers[question] as (draft: MemoryDraft, data: Json, change: object) => unknown;
          try {
            const is = answer(draft, event.data as Json, { at, rules, halfLife, changed, model }) ?? null;
            draft.answer = { is: is as Json };
          } catch (error) {
            draft.answer = { error: messageOf(error) };
          }
        },
      },
      { reply: ({ context }) => context.answer },
      {
        update: (draft) => {
          draft.answer = null;
        },
      },
    ],
  };
}

function indexing({ hasSearch }: MemoryParts): Definition {
  const isOpen = ({ index }: MemoryState) => hasSearch && !index.failed;
  const failed = {
    target: "resting",
    update: (draft: MemoryDraft) => void Object.assign(draft.index, { ...noWork, mark: 0, failed: true }),
  };
  return {
    initial: "resting",
    states: {
      resting: {
        always: [
          {
            guard: ({ context }) => isOpen(context) && context.index.mark === 0 && context.memory.made > 0,
            target: "rebuilding",
            update: (draft) => {
              draft.index.pending = [];
            },
          },
          {
            guard: ({ context }) => isOpen(context) && context.index.pending.length > 0,
            target: "writing",
            update: (draft) =>
              void Object.assign(draft.index, { pending: [], under: [...draft.index.pending] }),
          },
        ],
      },
      writing: {
        invoke: {
          ...{
            id: "index",
            activity: "index",
            retry,
            input: ({ context }) => wordsChange(context) as unknown as Json,
          },
          onDone: { target: "resting", update: indexed },
          onError: failed,
        },
      },
      rebuilding: {
        invoke: {
          ...{ id: "rebuild", activity: "rebuild", retry },
          onDone: { target: "resting", update: indexed },
          onError: failed,
        },
      },
    },
  };
}

/** A mark of 0 says that the index was of another state: it is made anew. */
const indexed = (draft: MemoryDraft, { event }: { readonly event: { readonly data?: unknown } }): void => {
  const { mark, key } = event.data as Indexed;
  Object.assign(draft.index, { under: [], mark, key });
};

/** What the activity that writes the index is given. */
export interface TextsChange {
  readonly expect: number;
  readonly key: string | null;
  readonly put: readonly { readonly id: string; readonly text: string }[];
  readonly remove: readonly string[];
}

function wordsChange({ memory, index }: MemoryState): TextsChange {
  const ids = [...new Set(index.under)];
  const texts = textsOf(memory, ids);
  const there = new Set(texts.map(({ id }) => id));
  return { expect: index.mark, key: index.key, put: texts, remove: ids.filter((id) => !there.has(id)) };
}

/** The texts of those that are not forgotten. */
function textsOf({ facts }: Memory, ids: readonly string[]): TextsChange["put"] {
  return ids.flatMap((id) => {
    const fact = facts[placeOf(facts, numberOf(id))];
    return fact === undefined || fact.forgottenAt !== undefined ? [] : [{ id, text: fact.text }];
  });
}

function embedding({ model }: MemoryParts): Definition {
  const isDue = ({ vectors }: MemoryState) =>
    model !== undefined && !vectors.failed && vectors.pending.length > 0;
  return {
    initial: "resting",
    states: {
      resting: {
        always: {
          guard: ({ context }) => isDue(context),
          target: "embedding",
          update: ({ vectors }) => {
            vectors.under = vectors.pending.splice(0, limits.embeddedAtATimeMax);
          },
        },
      },
      embedding: {
        invoke: {
          ...{ id: "embed", activity: "embed", retry },
          input: ({ context }) => textsOf(context.memory, context.vectors.under) as unknown as Json,
          onDone: { target: "resting", update: (draft, { event }) => embedded(draft, event.data as never) },
          // They are found without, and asked for again when somebody misses them.
          onError: {
            target: "resting",
            update: ({ vectors }) => void Object.assign(vectors, { ...noWork, failed: true }),
          },
        },
      },
    },
  };
}

/** Vectors of texts that were forgotten meanwhile are not kept. */
function embedded(
  { memory, vectors }: MemoryDraft,
  made: readonly { readonly id: string; readonly vector: FactVector }[],
): void {
  vectors.under = [];
  for (const { id, vector } of made) {
    const place = placeOf(memory.facts, numberOf(id));
    const fact = memory.facts[place];
    if (fact !== undefined && fact.forgottenAt === undefined) fact.vector = vector;
  }
}

/** What an answer says; an error where it was one. */
export type Answered = { readonly is: Json } | { readonly error: string };
