/**
 * Embeddings: what texts mean to a model, as vectors, so that a question finds facts that use other words. Works without; where
 * a model is given, both rankings are fused by ranks (Cormack, Clarke and Büttcher, 2009: 1 / (60 + rank) of each).
 *
 * A vector is kept with one signed byte for each dimension: a quarter of the bytes, and cosines that differ by less than 0.01.
 * Vectors of two models are never compared.
 */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Fact, FactVector, Memory } from "./fact.ts";
import { byScore, isTellable, type Recalled, type RecallOptions, strengthOf } from "./recall.ts";

/** What makes vectors of texts. */
export interface Embedding {
  /** Another model has another id; vectors of the one are made anew for the other. */
  readonly id: string;
  /** One vector for each text, all of one length. */
  embed(texts: readonly string[], scope: { readonly signal?: AbortSignal }): Promise<readonly number[][]>;
}

/** A model of embeddings of the AI SDK, as far as it can be told from other things. */
export interface SdkEmbedding {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

export type GivenEmbedding = Embedding | SdkEmbedding;

/** What `defineMemory` takes for a model of embeddings; the package of the AI SDK is loaded when its model is asked. */
export function embeddingOf(given: GivenEmbedding): Embedding {
  if ("embed" in given && typeof given.embed === "function") return given;
  const { specificationVersion, provider, modelId } = given as SdkEmbedding;
  if (typeof specificationVersion !== "string")
    throw new HoldfastError(
      "FACT_INVALID",
      "The memory has no embeddings that can be made: give a model of the AI SDK, or an id and a function `embed`",
    );
  const embed: Embedding["embed"] = async (texts, scope) =>
    (await import("./ai-sdk.ts")).embedWithSdk(given as never, texts, scope);
  return { id: `${provider}/${modelId}`, embed };
}

/** Vectors of texts, as they are kept; throws FACT_INVALID for what no vector can be. */
export async function vectorsOf(
  { id, embed }: Embedding,
  texts: readonly string[],
  scope: { readonly signal?: AbortSignal } = {},
): Promise<readonly FactVector[]> {
  const vectors = await embed(texts, scope);
  const isVector = (vector: unknown): vector is number[] =>
    Array.isArray(vector) && vector.length <= limits.vectorLengthMax && vector.every(Number.isFinite);
  if (vectors.length !== texts.length || !vectors.every(isVector))
    throw new HoldfastError(
      "FACT_INVALID",
      `The model ${JSON.stringify(id)} gave no vectors of up to ${limits.vectorLengthMax} numbers for ${texts.length} texts`,
    );
  return vectors.map((vector) => ({ model: id, values: Buffer.from(quantised(vector)).toString("base64") }));
}

/** The largest number becomes 127: a cosine knows no length. */
function quantised(vector: readonly number[]): Int8Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  return Int8Array.from(vector, (value) => Math.round((value / largest) * 127));
}

/** What was read of vectors, for as long as somebody has them. */
const read = new WeakMap<FactVector, Int8Array>();

function valuesOf(vector: FactVector): Int8Array {
  const known = read.get(vector);
  if (known !== undefined) return known;
  const { buffer, byteOffset, length } = Buffer.from(vector.values, "base64");
  const values = new Int8Array(buffer, byteOffset, length);
  read.set(vector, values);
  return values;
}

/** How alike two vectors are, from -1 to 1; 0 where they cannot be compared. */
export function likenessOf(one: FactVector, other: FactVector): number {
  const [a, b] = [valuesOf(one), valuesOf(other)];
  if (one.model !== other.model || a.length !== b.length) return 0;
  let [product, ofA, ofB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index] as number, b[index] as number];
    product += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? 0 : product / Math.sqrt(ofA * ofB);
}

/** Whether a fact has something to be understood, and no vector of this model yet. */
export function lacksVector({ forgottenAt, vector }: Fact, model: string): boolean {
  return forgottenAt === undefined && vector?.model !== model;
}

/** The facts that mean something like the question, the likest that is left of them first. */
export function alikeFacts(
  { facts }: Memory,
  question: FactVector,
  options: RecallOptions,
): readonly Recalled[] {
  return facts
    .flatMap((fact): Recalled[] => {
      if (fact.vector === undefined || !isTellable(fact, options)) return [];
      const likeness = likenessOf(fact.vector, question);
      return likeness <= 0 ? [] : [{ fact, score: likeness * strengthOf(fact, options) }];
    })
    .sort(byScore)
    .slice(0, options.limit ?? 10);
}

/** One ranking of several: what is far up in any of them is far up, and what is in all of them further. */
export function fuse(rankings: readonly (readonly Recalled[])[], limit: number): readonly Recalled[] {
  const fused = new Map<string, { fact: Fact; score: number }>();
  for (const ranking of rankings)
    ranking.forEach(({ fact }, rank) => {
      const score = (fused.get(fact.id)?.score ?? 0) + 1 / (rankOffset + rank + 1);
      fused.set(fact.id, { fact, score });
    });
  return [...fused.values()].sort(byScore).slice(0, limit);
}

const rankOffset = 60;
