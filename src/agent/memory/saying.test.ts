/** What tells one fact from another, and what does not. */
import { describe, expect, test } from "vitest";
import type { Draft } from "../../core/definition.ts";
import { produce } from "../../core/draft.ts";
import { type Candidate, emptyMemory, type Memory } from "./fact.ts";
import { FactSearch } from "./recall.ts";
import { forgetAll, noteRecalled, type Remembered, remember } from "./remember.ts";

type Said = Partial<Candidate>;
const source = { trust: "trusted" } as const;
/** What a memory makes of one thing after another. */
function tell(memory: Memory, ...said: readonly Said[]): { outcomes: Remembered[]; memory: Memory } {
  const outcomes: Remembered[] = [];
  const recipe = (draft: Draft<Memory>) => {
    for (const one of said) outcomes.push(remember(draft, { subject: "Ada", source, ...one }, { at: 5 }));
  };
  return { memory: produce(memory, recipe, undefined), outcomes };
}
const outcomesOf = (...said: readonly Said[]) =>
  tell(emptyMemory, ...said).outcomes.map((one) => one.outcome);
const recall = (memory: Memory, question: string, subject?: string) =>
  new FactSearch()
    .search(memory, question, { now: 9, ...(subject === undefined ? {} : { subject }) })
    .map(({ fact }) => fact.text);

describe("facts that differ", () => {
  test.each([
    ["signs", ["C", "C++", "C#"]],
    ["the sign of a number", ["5", "-5", "+5", "5%"]],
    ["voiced kana", ["かき", "かぎ"]],
    ["vowels of Devanagari", ["दिन", "दान"]],
    ["emoji", ["👍", "👎"]],
    ["powers", ["52", "5²"]],
  ])("C7: %s tell one object from another", (_, objects) => {
    const said = objects.map((object) => ({ predicate: "likes", object }));
    expect(outcomesOf(...said)).toEqual(objects.map(() => "remembered"));
    const { memory } = tell(emptyMemory, ...said);
    // Each contradicts the one before it.
    expect(memory.facts.filter(({ validTo }) => validTo === undefined).map(({ object }) => object)).toEqual(
      objects.slice(-1),
    );
    expect(tell(memory, { predicate: "likes", object: objects.at(-1) as string }).outcomes).toMatchObject([
      { outcome: "duplicate", id: `f${objects.length}` },
    ]);
  });

  test("C7: who owes whom is told by the order of the words", () => {
    const [one, other] = ["Alice owes Bob 5 euros", "Bob owes Alice 5 euros"];
    expect(outcomesOf({ text: one }, { text: other }, { text: one }, { text: other })).toEqual([
      ...["remembered", "remembered", "duplicate", "duplicate"],
    ]);
  });

  test("C7: in a long text a sign, a number or a denial more is another fact", () => {
    const text = "Ada wrote in March that she would rather not travel by train to any city in the north";
    for (const other of [`${text} 👎`, `${text} C#`, text.replace("would", "wouldn't"), `${text} ±`])
      expect(outcomesOf({ text }, { text: other })).toEqual(["remembered", "remembered"]);
    expect(outcomesOf({ text }, { text: `${text}, again` })).toEqual(["remembered", "duplicate"]);
  });

  test("C7: subjects and predicates are told apart in the same way", () => {
    const { memory, outcomes } = tell(
      emptyMemory,
      { subject: "C", predicate: "is from", object: "1972" },
      { subject: "C++", predicate: "is from", object: "1985" },
    );
    expect(outcomes).toMatchObject([{ outcome: "remembered" }, { outcome: "remembered", closed: [] }]);
    expect(recall(memory, "is from", "C")).toEqual(["C is from 1972"]);
    expect(recall(memory, "is from", "c++")).toEqual(["C++ is from 1985"]);
  });

  test("C7: an echo of one is none of the other", () => {
    const { memory } = tell(emptyMemory, { predicate: "codes in", object: "C" });
    const heard = produce(memory, (draft) => noteRecalled(draft, ["Ada codes in C"]), undefined);
    const { outcomes } = tell(
      heard,
      { predicate: "codes in", object: "C" },
      { predicate: "codes in", object: "C#" },
    );
    expect(outcomes).toMatchObject([{ outcome: "refused", why: "echo" }, { outcome: "remembered" }]);
  });
});

test("C7: case, spaces, hyphens, the form of a letter and the stop at the end make no other fact", () => {
  const said = ["Ada lives in Orléans.", "ada  LIVES in orle\u0301ans!", "Ada lives-in Orléans"];
  expect(outcomesOf(...said.map((text) => ({ text })))).toEqual(["remembered", "duplicate", "duplicate"]);
  expect(
    outcomesOf(...["lives in", "lives_in"].map((predicate) => ({ predicate, object: "Paris" })), {
      predicate: "Lives-in",
      object: "Rome",
    }),
  ).toEqual(["remembered", "duplicate", "remembered"]);
});

test("C7: a memory that was stored before is found, repeated, contradicted and forgotten by its keys", () => {
  const fact = { validFrom: 1, confidence: 1, recordedAt: 1, seen: 1, seenAt: 1 };
  const codes = { subject: "Ada", predicate: "codes in", object: "C++" };
  const stored: Memory = {
    facts: [
      { ...fact, ...codes, id: "f1", text: "Ada codes in C++", source: { ...source, message: "m1" } },
      { ...fact, id: "f2", subject: "用户", text: "用户喜欢吃苹果", source: { ...source, message: "m2" } },
    ],
    ...{ made: 2, words: 5, characters: 43 },
    bySaying: {
      o: { b: { c: { n12nMqg3OW2IRjmaOyC_g4: [1] } } },
      l: { m: { k: { "klJdoswPnCrz-Fop2_UCze": [2] } } },
    },
    bySlot: { o: { c: { h: { "nrg2-9W4wlM3Eff3eaNrIU": [1] } } } },
    bySubject: {
      h: { b: { f: { "7AEVVdbghrE7RC4e1nXq3H": [1] } } },
      c: { o: { h: { rnwZND45KJ8bpg31FnhUXp: [2] } } },
    },
    ...{ recalled: [], refused: { echo: 0, secret: 0, duplicate: 0 } },
  };
  expect(recall(stored, "苹果")).toEqual(["用户喜欢吃苹果"]);
  const again = tell(stored, codes, { subject: "用户", text: "用户喜欢吃苹果。" }, { ...codes, object: "C" });
  expect(again.outcomes).toEqual([
    ...[
      { outcome: "duplicate", id: "f1" },
      { outcome: "duplicate", id: "f2" },
    ],
    { outcome: "remembered", id: "f3", closed: ["f1"] },
  ]);
  const empty = produce(again.memory, (draft) => void forgetAll(draft, { at: 9 }), undefined);
  expect([empty.words, empty.characters]).toEqual([0, 0]);
  expect(JSON.stringify(empty)).not.toMatch(/"[\w-]{22}"/);
});

describe("texts without spaces", () => {
  const { memory } = tell(
    emptyMemory,
    { subject: "用户", text: "用户喜欢吃苹果" },
    { subject: "ユーザー", text: "ユーザーは猫を飼っています" },
    { subject: "ผู้ใช้", text: "ผู้ใช้ชอบดื่มกาแฟ" },
    { subject: "Ada", text: "Ada用iPhone手机" },
  );

  test.each([
    ["苹果", "用户喜欢吃苹果"],
    ["用户喜欢什么", "用户喜欢吃苹果"],
    ["猫", "ユーザーは猫を飼っています"],
    ["กาแฟ", "ผู้ใช้ชอบดื่มกาแฟ"],
    ["iphone", "Ada用iPhone手机"],
    ["手机", "Ada用iPhone手机"],
  ])("C7: %s finds the fact that has it", (question, text) => {
    expect(recall(memory, question)[0]).toBe(text);
  });

  test("C7: and what has it not is not found", () => {
    expect(recall(memory, "电脑")).toEqual([]);
  });
});
