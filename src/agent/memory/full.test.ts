/** A memory at its bounds: what it lets go of, and what it refuses. */
import { describe, expect, test } from "vitest";
import { produce } from "../../core/draft.ts";
import { limits } from "../../limits.ts";
import { emptyMemory, type Memory } from "./fact.ts";
import { consolidate, type Remembered, remember } from "./remember.ts";

const year = 365 * 86_400_000;
const factOf = (number: number) =>
  ({ subject: `s${number}`, text: `fact ${number}`, source: { trust: "trusted" } }) as const;

/** What a memory makes of a fact, and what it is then. */
function tell(memory: Memory, number: number, at: number): readonly [Remembered | undefined, Memory] {
  let outcome: Remembered | undefined;
  const recipe = (draft: Parameters<typeof remember>[0]): void => {
    outcome = remember(draft, factOf(number), { at });
  };
  const next = produce(memory, recipe, undefined);
  return [outcome, next];
}

describe("a memory that is full", () => {
  test("C7: lets go of what is of no use, and refuses more than it can hold", () => {
    const { factsMax } = limits;
    const fill = (draft: Parameters<typeof remember>[0]): void => {
      for (let number = 1; number <= factsMax; number++)
        remember(draft, factOf(number), { at: number <= 10 ? 0 : 9 * year });
    };
    const full = produce(emptyMemory, fill, undefined);
    let [outcome, memory] = tell(full, factsMax + 1, 9 * year);
    // The first ten have faded.
    expect(outcome).toMatchObject({ outcome: "remembered", id: `f${factsMax + 1}` });
    expect([memory.facts.length, memory.facts[0]?.id]).toEqual([factsMax - 9, "f11"]);
    for (let number = 2; number <= 10; number++) [, memory] = tell(memory, factsMax + number, 9 * year);
    [outcome] = tell(memory, factsMax + 99, 9 * year);
    expect(outcome).toEqual({ outcome: "refused", why: "full" });
    const emptied = produce(memory, (draft) => void consolidate(draft, { at: 99 * year }), undefined);
    expect([emptied.facts.length, emptied.words, emptied.characters]).toEqual([0, 0, 0]);
  });

  test("C7: lets nothing go that has not faded by its own half-life", () => {
    const [, memory] = tell(emptyMemory, 1, 0);
    const left = (halfLife?: string) =>
      produce(memory, (draft) => void consolidate(draft, { at: 1.1 * year, halfLife }), undefined).facts;
    expect([left().length, left("3650 days").length]).toEqual([0, 1]);
    const full = { ...memory, characters: limits.memoryLengthMax };
    const tellWith = (halfLife: string): Remembered | undefined => {
      let outcome: Remembered | undefined;
      const recipe = (draft: Parameters<typeof remember>[0]): void => {
        outcome = remember(draft, factOf(2), { at: 1.1 * year, halfLife });
      };
      produce(full, recipe, undefined);
      return outcome;
    };
    expect(tellWith("3650 days")).toEqual({ outcome: "refused", why: "full" });
    expect(tellWith("90 days")).toMatchObject({ outcome: "remembered" });
  });

  test("C7: or holds too many characters, is full as well", () => {
    const { subject, text } = factOf(1);
    const leaving = (length: number) => ({ ...emptyMemory, characters: limits.memoryLengthMax - length });
    const length = subject.length + text.length;
    expect(tell(leaving(length), 1, 0)[0]).toMatchObject({ outcome: "remembered" });
    expect(tell(leaving(length - 1), 1, 0)[0]).toEqual({ outcome: "refused", why: "full" });
  });
});
