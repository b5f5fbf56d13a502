/** `defineMemory`: a kind of long-term memory, with what it searches by; ready for a runtime's list of machines. */
import type { ActivityScope } from "../../core/activity.ts";
import { durationMs } from "../../core/duration.ts";
import type { Json } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import type { Activity } from "../../runtime/activity/attempt.ts";
import type { MachineEntry } from "../../runtime/registry.ts";
import { type Search, searchOf } from "../../store/search.ts";
import type { Store } from "../../store/store.ts";
import { type Embedding, embeddingOf, type GivenEmbedding, vectorsOf } from "./embedding.ts";
import { type MemoryRules, wordsOf, wordsVersion } from "./fact.ts";
import { hideWords } from "./hidden-words.ts";
import {
  type Indexed,
  type MemoryMachine,
  type MemoryState,
  memoryMachine,
  type TextsChange,
} from "./memory-machine.ts";

export interface MemoryOptions extends MemoryRules {
  readonly id: string;
  /** 1 unless given. */
  readonly version?: number;
  /** After how long without being seen a fact counts half; 90 days unless given. */
  readonly halfLife?: number | string;
  /** The store that keeps an index of words for it, if it has any; without one a memory looks through its own facts. */
  readonly search?: Store;
  /**
   * Hides the words in that index: 16 bytes or more, the same in every process. A runtime with a seal takes no memory whose words
   * stand in an index as they are. With another key the index is made anew.
   */
  readonly searchKey?: string | Uint8Array;
  /** A model of embeddings of the AI SDK, or a function in its place; words are all that counts without one. */
  readonly embedding?: GivenEmbedding;
}

/** A kind of memory, to be given to a runtime. */
export interface MemoryKind extends MachineEntry {
  readonly machine: MemoryMachine;
  readonly activities: Readonly<Record<string, Activity>>;
  readonly search: Search | undefined;
  /** What tells an index from others: how its words are made, and which key hides them, if any does. */
  readonly keyId: string;
  readonly embedding: Embedding | undefined;
  readonly halfLife: number | string | undefined;
  readonly rules: MemoryRules;
}

export function defineMemory(options: MemoryOptions): MemoryKind {
  const { id, version = 1, halfLife, many, secrets } = options;
  if (many !== undefined && !(Array.isArray(many) && many.every((one) => typeof one === "string")))
    throw new HoldfastError(
      "FACT_INVALID",
      `The memory ${show(id)} has many: ${show(many)}; list predicates`,
    );
  if (halfLife !== undefined) durationMs(halfLife);
  const { search, keyId } = searchIn(options);
  const embedding = options.embedding === undefined ? undefined : embeddingOf(options.embedding);
  const rules = { ...(many === undefined ? {} : { many }), ...(secrets === undefined ? {} : { secrets }) };
  const machine = memoryMachine({
    ...{ id, version, rules, halfLife, hasSearch: search !== undefined, model: embedding?.id },
  });
  const activities = {
    index: indexWith(search, keyId),
    rebuild: rebuildWith(search, keyId),
    embed: embedWith(embedding),
  };
  const isClear = search !== undefined && options.searchKey === undefined;
  const unsealed = "the words of its facts, in an index of the store; give it a searchKey, or no search";
  return { machine, activities, search, keyId, embedding, halfLife, rules, ...(isClear && { unsealed }) };
}

function searchIn({ search: store, searchKey }: MemoryOptions): Pick<MemoryKind, "search" | "keyId"> {
  const search = store === undefined ? undefined : searchOf(store);
  if (search === undefined || searchKey === undefined) return { search, keyId: wordsVersion };
  const hidden = hideWords(search, searchKey);
  return { search: hidden.search, keyId: `${wordsVersion}.${hidden.keyId}` };
}

/** The step that asked for it: of two that follow each other, the later one has the higher mark, also after a rollback. */
const markOf = ({ key, run }: ActivityScope): number => Number.parseInt(key.slice(run.length + 1), 10);

/** Writes what changed; gives the mark, or 0 if the index was of another state or has words of another key. */
const indexWith =
  (search: Search | undefined, keyId: string) =>
  async ({ expect, key, put, remove }: TextsChange, scope: ActivityScope): Promise<Indexed> => {
    if (search === undefined || key !== keyId) return { mark: 0, key: keyId };
    const mark = markOf(scope);
    const words = put.map(({ id, text }) => ({ id, words: wordsOf(text) }));
    const outcome = await search.writeWords(scope, { expect, mark, put: words, remove });
    return { mark: outcome === "written" ? mark : 0, key: keyId };
  };

/** Makes the index anew of all there is. */
const rebuildWith =
  (search: Search | undefined, keyId: string) =>
  async (_: Json, scope: ActivityScope): Promise<Indexed> => {
    if (search === undefined) return { mark: 0, key: keyId };
    const { memory } = (await scope.state<MemoryState>()).context;
    const put = memory.facts.flatMap(({ id, text, forgottenAt }) =>
      forgottenAt === undefined ? [{ id, words: wordsOf(text) }] : [],
    );
    const mark = markOf(scope);
    const outcome = await search.writeWords(scope, { expect: undefined, mark, put, remove: [] });
    if (outcome === "written") return { mark, key: keyId };
    throw new Error(
      outcome === "stale"
        ? "The index is of a later state already"
        : "The store of `search` does not have this memory; give the one that its runtime has",
    );
  };

/** Makes vectors; a crash may have the model asked twice for the same texts, and never keeps two answers. */
const embedWith =
  (embedding: Embedding | undefined) =>
  async (texts: TextsChange["put"], { signal }: ActivityScope) => {
    if (embedding === undefined || texts.length === 0) return [];
    const vectors = await vectorsOf(
      embedding,
      texts.map(({ text }) => text),
      { signal },
    );
    return texts.map(({ id }, index) => ({ id, vector: vectors[index] }));
  };
