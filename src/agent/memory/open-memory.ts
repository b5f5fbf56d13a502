/**
 * Long-term memory in use: one run for each user of a tenant, and a handle to it. The run is the user's (its subject), so what
 * erases a user's data finds it. It is found by a singleton's key and not by its id, so that a user who was erased can begin
 * anew.
 *
 * O1. What is recalled is what the committed state says. The store's index only narrows the search, and only while it was made of
 *     this very state: whatever it lost, kept too long or never heard of, the answer is the same.
 */
import type { Json } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { checkName } from "../../runtime/name.ts";
import type { PrunedRun, Run, Runtime } from "../../runtime/runtime.ts";
import { whileLive } from "../while-live.ts";
import { audit, type MemoryAudit } from "./audit.ts";
import type { MemoryKind } from "./define-memory.ts";
import { alikeFacts, fuse, lacksVector, vectorsOf } from "./embedding.ts";
import {
  type Candidate,
  checkCandidate,
  type Fact,
  type Memory,
  numberOf,
  placeOf,
  wordsOf,
} from "./fact.ts";
import type { Answered, MemoryQuestion, MemoryQuestions, MemoryState } from "./memory-machine.ts";
import { FactSearch, type Recalled, type RecallOptions, rankFound } from "./recall.ts";
import type { Remembered } from "./remember.ts";

export interface OpenMemoryOptions {
  readonly user: string;
  readonly tenant?: string;
  readonly clock?: Clock;
}

/** A repeat of the same key is the same event, and is answered as the first. */
interface Keyed {
  readonly key?: string;
}

export interface AskedRecall extends Partial<RecallOptions> {
  /** Notes that these were told, so that they do not come back as news; not unless given, since that is a step. */
  readonly note?: boolean;
}

/** All of a memory, for whom it is about. */
export interface ExportedMemory {
  readonly facts: readonly Fact[];
  readonly refused: Memory["refused"];
}

type Instead = MemoryQuestions["correct"]["instead"];

/** A user's memory, as whoever serves the user holds it. Times are those of its clock unless given. */
export interface OpenMemory {
  /** All of it at its newest, for the functions that take a memory. */
  read(): Promise<Memory>;
  /** Remembers something, unless it is known, an echo, a secret or one too many. Resolves when that is durable. */
  remember(candidate: Candidate, options?: Keyed): Promise<Remembered>;
  /** The facts that a question is about, the likeliest to be of use first. */
  recall(question: string, options?: AskedRecall): Promise<readonly Recalled[]>;
  /** A fact was never true, and this was instead. */
  correct(id: string, instead: Instead, options?: Keyed): Promise<Remembered>;
  /** A fact is not true any more, since then or since now. */
  close(id: string, validTo?: number): Promise<void>;
  /** Takes a fact out of quarantine: it counts from now on; gives the ids of what it contradicts. */
  release(id: string): Promise<readonly string[]>;
  quarantine(id: string): Promise<void>;
  /** Forgets facts, all that came from a message, or everything; gives the ids of what is gone. */
  forget(which: MemoryQuestions["forget"]): Promise<readonly string[]>;
  /**
   * Removes the journal of the memory up to now, once its index has followed: what was forgotten, or refused as a secret, stands
   * nowhere in the store from then on. `scrub` of `holdfast/housekeeping` has its bytes overwritten as well.
   */
  prune(): Promise<PrunedRun>;
  /** Drops what was forgotten, is not true now or has faded; gives the ids. */
  consolidate(): Promise<readonly string[]>;
  audit(): Promise<MemoryAudit>;
  export(): Promise<ExportedMemory>;
  /** Forgets everything, empties the index and ends the run; what is remembered next begins a new one. */
  erase(): Promise<void>;
}

/** How many of each ranking are fused, for each that is wanted. */
const fusedPerWanted = 3;

/** A user's memory; it begins, empty, when it is first asked or told something. */
export function openMemory(
  runtime: Pick<Runtime, "start">,
  kind: MemoryKind,
  { user, tenant, clock = systemClock }: OpenMemoryOptions,
): OpenMemory {
  checkName("user", user);
  const place = { singleton: user, subject: user, ...(tenant === undefined ? {} : { tenant }) };
  const run = (): Promise<Run<MemoryState>> => runtime.start(kind.machine, place);
  const stateOf = async (live: Run<MemoryState>) => (await live.state()).context;
  const read = async () => (await stateOf(await run())).memory;
  const ask = async <Question extends MemoryQuestion>(
    question: Question,
    data: MemoryQuestions[Question],
    options: Keyed = {},
  ): Promise<Json> => {
    const given = data as unknown as Json;
    const answer = (await whileLive(run, (live) => live.ask(question, given, options))) as Answered;
    if ("error" in answer) throw new HoldfastError("FACT_INVALID", answer.error);
    return answer.is;
  };
  const recall = recallIn(kind, stateOf, ask);
  const { halfLife, rules } = kind;
  const fading = halfLife === undefined ? {} : { halfLife };
  return {
    read,
    remember: async (candidate, options) => {
      // Asked here too, so that what is no fact costs no step.
      checkCandidate(candidate);
      return (await ask("remember", candidate, options)) as unknown as Remembered;
    },
    recall: async (question, { note = false, ...asked } = {}) => {
      if (typeof question !== "string")
        throw new HoldfastError("FACT_INVALID", `The question is ${show(question)}; write text`);
      const options = { now: clock.now(), ...fading, ...asked };
      const recalled = (await recall(await run(), question, options)).map(withoutVector);
      if (note && recalled.length > 0) await ask("note", { texts: recalled.map(({ fact }) => fact.text) });
      return recalled;
    },
    correct: async (id, instead, options) =>
      (await ask("correct", { id, instead }, options)) as unknown as Remembered,
    close: async (id, validTo) =>
      void (await ask("close", { id, ...(validTo === undefined ? {} : { validTo }) })),
    release: async (id) => (await ask("confirm", { id })) as readonly string[],
    quarantine: async (id) => void (await ask("quarantine", { id })),
    forget: async (which) => (await ask("forget", which)) as readonly string[],
    prune: () => whileLive(run, pruneAtRest),
    consolidate: async () => (await ask("consolidate", null)) as readonly string[],
    audit: async () => audit(await read(), { now: clock.now(), rules, ...fading }),
    export: async () => {
      const { facts, refused } = await read();
      return { facts: facts.map((fact) => withoutVector({ fact, score: 0 }).fact), refused };
    },
    erase: async () => {
      const ended = await whileLive(run, async (live) => {
        await (await live.send("erase")).handled();
        return live;
      });
      await ended.finished();
    },
  };
}

/** The index and the vectors first: what writes them is given texts, and may ask for the state it began with. */
async function pruneAtRest(live: Run<MemoryState>): Promise<PrunedRun> {
  for (;;) {
    for (const part of ["index", "vectors"]) await live.waitFor(`open.${part}.resting`);
    const pruned = await live.prune();
    // Somebody told it something meanwhile.
    if (pruned.outcome === "pruned" || pruned.why !== "busy") return pruned;
  }
}

type Ask = <Question extends MemoryQuestion>(
  question: Question,
  data: MemoryQuestions[Question],
) => Promise<Json>;
type StateOf = (live: Run<MemoryState>) => Promise<MemoryState>;
type Recall = (
  live: Run<MemoryState>,
  question: string,
  options: RecallOptions,
) => Promise<readonly Recalled[]>;

/** How a memory of this kind is asked: by words, and by what they mean where there is a model. */
function recallIn(kind: MemoryKind, stateOf: StateOf, ask: Ask): Recall {
  const { embedding } = kind;
  const byWords = recallByWords(kind, stateOf, ask);
  if (embedding === undefined) return byWords;
  return async (live, question, options) => {
    const limit = options.limit ?? 10;
    const wide = { ...options, limit: limit * fusedPerWanted };
    const words = await byWords(live, question, wide);
    // Words still serve where the model does not.
    const [vector] = await vectorsOf(embedding, [question]).catch(() => []);
    if (vector === undefined) return words.slice(0, limit);
    const state = await stateOf(live);
    // Whoever asked need not wait for what the next one will find.
    if (isMissingVectors(state, embedding.id))
      ask("refresh", { index: false, vectors: true }).catch(() => {});
    return fuse([words, alikeFacts(state.memory, vector, wide)], limit);
  };
}

function recallByWords(kind: MemoryKind, stateOf: StateOf, ask: Ask): Recall {
  const search = new FactSearch();
  return async (live, question, options) => {
    const found = await findIn(kind, live, question);
    const state = await stateOf(live);
    const places = found && placesOf(state, found, kind);
    if (found !== undefined && isStale(state, found, kind))
      ask("refresh", { index: true, vectors: false }).catch(() => {});
    return places === undefined
      ? search.search(state.memory, question, options)
      : rankFound(state.memory, question, { ...options, places });
  };
}

/** Vectors are long, and mean something to one model only. */
function withoutVector({ fact, score }: Recalled): Recalled {
  const { vector: _, ...rest } = fact;
  return { fact: rest, score };
}

/** What the store's index says of a question; undefined where it is not asked. */
async function findIn({ search }: MemoryKind, { tenant, id }: Run<MemoryState>, question: string) {
  const words = [...new Set(wordsOf(question))];
  if (search === undefined || words.length > limits.questionWordsMax) return undefined;
  return search.findWords({ tenant, run: id }, words, limits.foundFactsMax);
}

type Found = NonNullable<Awaited<ReturnType<typeof findIn>>>;

/** Where to look for an answer: what was found, and what the index has not heard of yet. Undefined: everywhere (O1). */
function placesOf(state: MemoryState, found: Found, kind: MemoryKind): Set<number> | undefined {
  const { memory, index } = state;
  if (found.isCut || !isOfThis(state, found, kind)) return undefined;
  const all = [...found.ids, ...index.pending, ...index.under];
  const places = all.map((id) => placeOf(memory.facts, numberOf(id)));
  return new Set(places.filter((place) => place >= 0));
}

/** Whether the index is of another state, as after a rollback, and nobody is about to mend that. */
function isStale(state: MemoryState, found: Found, kind: MemoryKind): boolean {
  const { index, memory } = state;
  const isAtRest = !index.failed && index.pending.length === 0 && index.under.length === 0;
  return !isOfThis(state, found, kind) && isAtRest && memory.made > 0;
}

/** Whether the index was made of this very state, with words as this kind asks for them. */
function isOfThis({ index }: MemoryState, { mark }: Found, { keyId }: MemoryKind): boolean {
  return mark !== 0 && mark === index.mark && index.key === keyId;
}

function isMissingVectors({ memory, vectors }: MemoryState, model: string): boolean {
  if (vectors.failed || vectors.pending.length > 0 || vectors.under.length > 0) return false;
  return memory.facts.some((fact) => lacksVector(fact, model));
}
