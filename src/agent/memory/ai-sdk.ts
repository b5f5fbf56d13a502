/** Models of embeddings of the AI SDK: asked once; trying again is the memory's business. */
import { type EmbeddingModel, embedMany } from "ai";

export async function embedWithSdk(
  model: EmbeddingModel,
  texts: readonly string[],
  { signal }: { readonly signal?: AbortSignal },
): Promise<readonly number[][]> {
  const { embeddings } = await embedMany({
    ...{ model, values: [...texts], maxRetries: 0 },
    ...(signal === undefined ? {} : { abortSignal: signal }),
  });
  return embeddings;
}
