/** Embeddings: what they are kept as, how rankings are fused, and that no two models are compared. A scripted model through the AI SDK. */
import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
// Loaded beforehand: a virtual clock does not see how long that takes.
import "./ai-sdk.ts";
import { defineMemory } from "./define-memory.ts";
import { embeddingOf, fuse, likenessOf, vectorsOf } from "./embedding.ts";
import type { Fact } from "./fact.ts";
import { openMemory } from "./open-memory.ts";

/** Directions that words point in; a text points in the direction of its words. */
const meanings: Readonly<Record<string, readonly number[]>> = {
  ...{ car: [1, 0, 0], automobile: [0.9, 0.1, 0], drives: [0.8, 0, 0.1] },
  ...{ cat: [0, 1, 0], kitten: [0, 0.9, 0.2], tea: [0, 0, 1], beverage: [0.1, 0, 0.9] },
};

const meaningOf = (text: string): number[] =>
  (text.toLowerCase().match(/\w+/g) ?? []).reduce(
    (sum, word) => sum.map((value, index) => value + (meanings[word]?.[index] ?? 0)),
    [0, 0, 0.001],
  );

/** A model of the AI SDK, as providers implement it, that says what a script has for it; and what it was asked. */
function scripted(modelId: string, embed = meaningOf) {
  const asked: string[][] = [];
  const model: EmbeddingModelV4 = {
    ...{ specificationVersion: "v4", provider: "scripted", modelId },
    ...{ maxEmbeddingsPerCall: 100, supportsParallelCalls: true },
    doEmbed: async ({ values }) => {
      asked.push([...values]);
      return { embeddings: values.map(embed), warnings: [] };
    },
  };
  return { model, asked };
}

const trusted = { source: { trust: "trusted" } } as const;

onEveryStore((world) => {
  test("C7: a question finds what means the same in other words, and vectors are made once", async () => {
    const here = await world();
    const { model, asked } = scripted("small");
    const kind = defineMemory({ id: "memory", embedding: model, search: await here.look() });
    const first = await here.boot([kind]);
    const open = (runtime: typeof first) => openMemory(runtime, kind, { user: "ada", clock: here.clock });
    for (const text of ["Ada drives an old car.", "Ada has a cat.", "Ada drinks tea."])
      await open(first).remember({ subject: "Ada", text, ...trusted });
    await here.rest();
    expect(asked.flat().sort()).toEqual(["Ada drinks tea.", "Ada drives an old car.", "Ada has a cat."]);
    await here.crash(first);
    const memory = open(await here.boot([kind]));
    const recalled = await memory.recall("automobile", { limit: 1 });
    expect(recalled).toMatchObject([{ fact: { text: "Ada drives an old car." } }]);
    expect(recalled[0]?.fact).not.toHaveProperty("vector");
    expect(
      (await memory.recall("Which beverage? And the cat", { limit: 2 })).map(({ fact }) => fact.id),
    ).toEqual([...["f2", "f3"]]);
    await here.rest();
    expect(asked.flat().filter((text) => text.startsWith("Ada")).length).toBe(3);
  });

  test("C7: another model has vectors of its own, made when somebody misses them", async () => {
    const here = await world();
    const old = defineMemory({ id: "memory", embedding: scripted("old").model });
    const first = await here.boot([old]);
    const text = "Ada drives an old car.";
    await openMemory(first, old, { user: "ada", clock: here.clock }).remember({
      subject: "Ada",
      text,
      ...trusted,
    });
    await here.rest();
    await here.crash(first);
    // It sees everything the other way round, and in more dimensions.
    const { model, asked } = scripted("new", (said) => [...meaningOf(said).map((value) => -value), 0]);
    const kind = defineMemory({ id: "memory", embedding: model });
    const memory = openMemory(await here.boot([kind]), kind, { user: "ada", clock: here.clock });
    expect(await memory.recall("automobile")).toEqual([]);
    await here.rest();
    expect(asked).toEqual([["automobile"], [text]]);
    expect((await memory.read()).facts[0]?.vector?.model).toBe("scripted/new");
    expect(await memory.recall("automobile")).toMatchObject([{ fact: { text } }]);
  });

  test("C7: a model is given so many facts at a time, and all in the end", async () => {
    const here = await world();
    const sizes: number[] = [];
    const embed = async (texts: readonly string[]): Promise<number[][]> => {
      sizes.push(texts.length);
      return texts.map(meaningOf);
    };
    const bare = defineMemory({ id: "memory" });
    const first = await here.boot([bare]);
    const tell = async (number: number) =>
      openMemory(first, bare, { user: "ada" }).remember({
        subject: `s${number}`,
        text: `fact ${number}`,
        ...trusted,
      });
    for (let number = 0; number <= limits.embeddedAtATimeMax; number++) await tell(number);
    await here.crash(first);
    const kind = defineMemory({ id: "memory", embedding: { id: "late", embed } });
    const memory = openMemory(await here.boot([kind]), kind, { user: "ada", clock: here.clock });
    await memory.recall("fact");
    await here.rest();
    expect(sizes).toEqual([1, limits.embeddedAtATimeMax, 1]);
    expect((await memory.read()).facts.every(({ vector }) => vector?.model === "late")).toBe(true);
  });

  test("C7: a model that fails leaves words, and what was forgotten meanwhile gets no vector", async () => {
    const here = await world();
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const embed = async (texts: readonly string[]): Promise<number[][]> => {
      if (texts[0] === "car") throw new Error("quota");
      await gate;
      return texts.map(meaningOf);
    };
    const kind = defineMemory({ id: "memory", embedding: { id: "slow", embed } });
    const memory = openMemory(await here.boot([kind]), kind, { user: "ada", clock: here.clock });
    await memory.remember({ subject: "Ada", text: "Ada drives a car.", ...trusted });
    await memory.remember({ subject: "Ada", text: "Ada has a cat.", ...trusted });
    expect(await memory.recall("car")).toMatchObject([{ fact: { id: "f1" } }]);
    await memory.forget({ ids: ["f1"] });
    release();
    await here.rest();
    const { facts } = await memory.read();
    expect(facts.map(({ vector }) => vector?.model)).toEqual([undefined, "slow"]);
  });
});

test("a vector of bytes is as alike to others as the one it was made of, to a hundredth", async () => {
  const random = (() => {
    let seed = 7;
    return () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647 - 0.5;
    };
  })();
  const vectors = Array.from({ length: 20 }, () => Array.from({ length: 256 }, random));
  const texts = vectors.map((_, index) => String(index));
  const kept = await vectorsOf({ id: "m", embed: async () => vectors }, texts);
  const length = (vector: number[]) => Math.hypot(...vector);
  for (const [i, one] of vectors.entries())
    for (const [j, other] of vectors.entries()) {
      const product = one.reduce((sum, value, index) => sum + value * (other[index] as number), 0);
      const exact = product / (length(one) * length(other));
      expect(Math.abs(likenessOf(kept[i]!, kept[j]!) - exact)).toBeLessThan(0.01);
    }
  expect(likenessOf(kept[0]!, { ...kept[0]!, model: "other" })).toBe(0);
});

test("rankings are fused by rank: what is in both is before what is first in one", () => {
  const fact = (id: string) => ({ fact: { id } as Fact, score: 0 });
  const fused = fuse([["a", "b"].map(fact), ["c", "b"].map(fact)], 9);
  expect(fused.map(({ fact: { id } }) => id)).toEqual(["b", "a", "c"]);
  expect(fused[0]?.score).toBeCloseTo(2 / 62, 12);
});

test("what makes no vectors is refused at once, and a wrong number of them when they come", async () => {
  expect(() => embeddingOf({} as never)).toThrow("no embeddings that can be made");
  const short = { id: "m", embed: async () => [] };
  await expect(vectorsOf(short, ["a"])).rejects.toMatchObject({ code: "FACT_INVALID" });
  const long = (length: number) => ({ id: "m", embed: async () => [Array<number>(length).fill(1)] });
  expect(await vectorsOf(long(limits.vectorLengthMax), ["a"])).toMatchObject([{ model: "m" }]);
  await expect(vectorsOf(long(limits.vectorLengthMax + 1), ["a"])).rejects.toMatchObject({
    code: "FACT_INVALID",
  });
  const nonsense = { id: "m", embed: async () => [[Number.NaN]] };
  await expect(vectorsOf(nonsense, ["a"])).rejects.toMatchObject({ code: "FACT_INVALID" });
});
