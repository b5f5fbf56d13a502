/** Who said a fact: what each source is worth, and what is left when it is taken back. */
import { expect, test } from "vitest";
import type { Draft } from "../../core/definition.ts";
import { produce } from "../../core/draft.ts";
import { limits } from "../../limits.ts";
import { type Candidate, emptyMemory, isUsable, lengthOf, type Memory } from "./fact.ts";
import { confirmFact, forgetFrom, noteRecalled, type Remembered, remember } from "./remember.ts";

const boat = { subject: "Ada", text: "Ada owns a boat" };
const lives = (object: string) => ({ subject: "Ada", predicate: "lives in", object });
const by = (message: string): Candidate["source"] => ({ trust: "trusted", message });
const rumour = (message: string): Candidate["source"] => ({ trust: "untrusted", message });
type Recipe = (draft: Draft<Memory>) => unknown;
const after = (memory: Memory, ...recipes: readonly Recipe[]): Memory =>
  recipes.reduce((before, recipe) => produce(before, (draft) => void recipe(draft), undefined), memory);
const says =
  (source: Candidate["source"], said: Omit<Candidate, "source"> = boat, at = 1): Recipe =>
  (draft) =>
    remember(draft, { ...said, source }, { at });
const forget = (memory: Memory, message: string): readonly [Memory, readonly string[]] => {
  let gone: readonly string[] = [];
  const next = after(memory, (draft) => {
    gone = forgetFrom(draft, message, { at: 9 });
  });
  return [next, gone];
};

test("C7: what was confirmed by a message is in quarantine again when that is forgotten", () => {
  const confirmed = after(emptyMemory, says(rumour("m1")), says(by("m2")));
  expect(confirmed.facts).toMatchObject([{ source: by("m2"), also: [rumour("m1")] }]);
  expect(confirmed.facts.map(isUsable)).toEqual([true]);
  const [left, gone] = forget(confirmed, "m2");
  expect(gone).toEqual([]);
  expect(left.facts).toMatchObject([{ ...boat, source: rumour("m1"), quarantined: true }]);
  expect(JSON.stringify(left)).not.toContain("m2");
  const [nothing, last] = forget(left, "m1");
  expect([last, nothing.characters]).toEqual([["f1"], 0]);
  expect(JSON.stringify(nothing)).not.toMatch(/boat|m1/);
});

test("C7: what several said who are trusted stays until the last of them is forgotten", () => {
  const memory = after(emptyMemory, says(by("m1")), says(by("m2")), says(by("m2")));
  expect(memory.facts).toMatchObject([{ seen: 3, also: [by("m2")] }]);
  const [left, gone] = forget(memory, "m1");
  expect([gone, left.facts.map(isUsable)]).toEqual([[], [true]]);
  expect(left.characters).toBe(lengthOf({ ...boat, source: by("m2") }));
  expect(forget(left, "m2")[1]).toEqual(["f1"]);
});

test("C7: what goes back into quarantine opens again what it had closed", () => {
  const memory = after(
    emptyMemory,
    ...[
      says(by("m0"), lives("Paris")),
      says(rumour("m1"), lives("Rome"), 2),
      says(by("m2"), lives("Rome"), 3),
    ],
  );
  expect(memory.facts[0]).toMatchObject({ closedBy: "f2" });
  const [left] = forget(memory, "m2");
  expect(left.facts.filter(isUsable)).toMatchObject([{ object: "Paris" }]);
  expect(left.facts[0]).not.toHaveProperty("validTo");
});

test("C7: what somebody released by hand stays so when one of those who are not trusted is forgotten", () => {
  const memory = after(emptyMemory, says(rumour("m1")), says(rumour("m2")), (draft) =>
    confirmFact(draft, "f1", { at: 2 }),
  );
  expect(forget(memory, "m1")[0].facts.map(isUsable)).toEqual([true]);
});

test("C7: repeats of those who are not trusted make nothing stronger", () => {
  const repeats = ["w1", "w2", "w3"].map((message) => says(rumour(message), boat, 50));
  expect(after(emptyMemory, says(by("m1")), ...repeats).facts).toMatchObject([{ seen: 1, seenAt: 1 }]);
  expect(after(emptyMemory, says(rumour("m1")), ...repeats, says(by("m2"), boat, 60)).facts).toMatchObject([
    { seen: 2, seenAt: 60 },
  ]);
});

test("C7: a fact keeps so many sources and no more, and those who are trusted first", () => {
  const { factSourcesMax } = limits;
  const rumours = Array.from({ length: factSourcesMax }, (_, index) => says(rumour(`w${index}`)));
  const full = after(emptyMemory, ...rumours);
  expect(full.facts[0]?.also).toHaveLength(factSourcesMax - 1);
  const over = after(full, says(rumour("one more")), says(by("m1")));
  expect(over.facts[0]).toMatchObject({ source: by("m1") });
  expect(over.facts[0]?.also).toHaveLength(factSourcesMax - 1);
  expect(over.facts[0]?.also?.at(-1)).toEqual(rumour(`w${factSourcesMax - 2}`));
  expect(over.characters).toBe(lengthOf(over.facts[0] as Memory["facts"][number]));
});

test("C7: a source that there is no room for is refused, and the fact stays as it was", () => {
  const memory = after(emptyMemory, says(by("m1")));
  const full = { ...memory, characters: limits.memoryLengthMax - 1 };
  const outcomes: Remembered[] = [];
  const next = after(full, (draft) => {
    for (const message of ["m2", "m1"]) outcomes.push(says(by(message))(draft) as Remembered);
  });
  expect(outcomes).toEqual([
    { outcome: "refused", why: "full" },
    { outcome: "duplicate", id: "f1" },
  ]);
  expect(next.facts).toMatchObject([{ source: by("m1") }]);
});

test("C7: what was told and is not true any more may be true again; what still is comes back as an echo", () => {
  const told = after(
    emptyMemory,
    says(by("m1"), lives("Paris"), 1),
    (draft) => noteRecalled(draft, ["Ada lives in Paris"]),
    says(by("m2"), lives("Rome"), 2),
  );
  const outcomes: unknown[] = [];
  const back = after(told, (draft) => {
    outcomes.push(says(by("m3"), lives("Paris"), 3)(draft), says(by("m4"), lives("Paris"), 4)(draft));
  });
  expect(outcomes).toEqual([
    { outcome: "remembered", id: "f3", closed: ["f2"] },
    { outcome: "refused", why: "echo" },
  ]);
  expect(back.facts[2]).not.toHaveProperty("validTo");
});
