/** Long-term memory: what is kept and what is refused, what is true when, and what is recalled. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Draft } from "../../core/definition.ts";
import { produce } from "../../core/draft.ts";
import { diff } from "../../core/patch.ts";
import { limits } from "../../limits.ts";
import { audit } from "./audit.ts";
import { type Candidate, emptyMemory, type Fact, isUsable, isValid, type Memory } from "./fact.ts";
import { FactSearch, type RecallOptions, strengthOf } from "./recall.ts";
import { closeFact, confirmFact, forgetFrom, noteRecalled, type Remembered, remember } from "./remember.ts";
import { hasSecret } from "./secrets.ts";

const day = 86_400_000;
const trusted = { trust: "trusted" } as const;
type Recipe = (draft: Draft<Memory>) => unknown;
const memoryAfter = (memory: Memory, ...recipes: Recipe[]): Memory =>
  recipes.reduce((before, recipe) => produce(before, recipe, undefined), memory);
const says =
  (candidate: Partial<Candidate>, at = 0): Recipe =>
  (draft) =>
    remember(draft, { subject: "Ada", source: trusted, ...candidate }, { at, rules: { many: ["likes"] } });
const lives = (object: string, at: number, more: Partial<Candidate> = {}): Recipe =>
  says({ predicate: "lives in", object, ...more }, at);
/** What a memory makes of something, and what it is then. */
const told = (memory: Memory, candidate: Partial<Candidate>, at = 0): readonly [Remembered, Memory] => {
  let outcome: Remembered | undefined;
  const next = memoryAfter(memory, (draft) => {
    outcome = says(candidate, at)(draft) as Remembered;
  });
  return [outcome!, next];
};
const recall = (memory: Memory, question: string, options: Partial<RecallOptions> = {}) =>
  new FactSearch()
    .search(memory, question, { now: 0, ...options })
    .map(({ fact }) => fact.object ?? fact.text);

describe("facts over time", () => {
  test("C7: a contradiction closes the old fact and overwrites nothing", () => {
    const memory = memoryAfter(emptyMemory, lives("Paris", 10), lives("Berlin", 20));
    expect(memory.facts).toMatchObject([
      { id: "f1", object: "Paris", validFrom: 10, validTo: 20, expiredAt: 20, closedBy: "f2" },
      { id: "f2", object: "Berlin", validFrom: 20, recordedAt: 20 },
    ]);
    expect(memory.facts[1]).not.toHaveProperty("validTo");
    const where = (now: number, asOf = 100) => recall(memory, "where does Ada live, in", { now, asOf });
    expect([where(15), where(25), where(5)]).toEqual([["Paris"], ["Berlin"], []]);
    expect(where(25, 15)).toEqual(["Paris"]);
  });

  test("C7: what was true earlier and is learned later finds its place", () => {
    const memory = memoryAfter(
      emptyMemory,
      lives("Paris", 10),
      lives("Rome", 40),
      lives("Berlin", 50, { validFrom: 20 }),
    );
    const where = (now: number) => recall(memory, "Ada lives in", { now, asOf: 100 });
    expect([where(15), where(25), where(45)]).toEqual([["Paris"], ["Berlin"], ["Rome"]]);
  });

  test("C7: what may be many does not contradict itself, and other subjects are others", () => {
    const memory = memoryAfter(
      emptyMemory,
      ...[says({ predicate: "likes", object: "tea" }), says({ predicate: "likes", object: "chess" })],
      ...[lives("Paris", 0), lives("Rome", 1, { subject: "Bob" })],
    );
    expect(memory.facts.every(({ validTo }) => validTo === undefined)).toBe(true);
  });

  test("a fact can be closed without another in its place", () => {
    const memory = memoryAfter(emptyMemory, lives("Paris", 10), (draft) =>
      closeFact(draft, "f1", { at: 30 }),
    );
    expect(recall(memory, "Ada Paris", { now: 31, asOf: 31 })).toEqual([]);
    expect(() => memoryAfter(memory, (draft) => closeFact(draft, "f9", { at: 0 }))).toThrow('no fact "f9"');
  });

  test("C7: whatever is said in whatever order, of one thing at most one is true at a time", () => {
    const saying = fc.record({
      object: fc.constantFrom("Paris", "Rome", "Berlin", "Oslo"),
      validFrom: fc.nat(30),
      message: fc.constantFrom("m1", "m2", "m3"),
    });
    fc.assert(
      fc.property(
        fc.array(saying, { maxLength: 12 }),
        fc.option(fc.constantFrom("m1", "m2")),
        (sayings, forgotten) => {
          let memory = memoryAfter(
            emptyMemory,
            ...sayings.map(({ object, validFrom, message }, index) =>
              lives(object, 100 + index, { validFrom, source: { ...trusted, message } }),
            ),
          );
          if (forgotten !== null)
            memory = memoryAfter(memory, (draft) => forgetFrom(draft, forgotten, { at: 200 }));
          for (let now = 0; now <= 31; now++) {
            const objects = memory.facts.filter(
              (fact) => isUsable(fact) && isValid(fact, { now, asOf: 300 }),
            );
            expect(new Set(objects.map(({ object }) => object)).size).toBeLessThanOrEqual(1);
          }
          // And the newest that anybody knows of is true now.
          const usable = memory.facts.filter(isUsable);
          const newest = Math.max(...usable.map(({ validFrom }) => validFrom));
          if (usable.length > 0)
            expect(
              usable.some((fact) => fact.validFrom === newest && isValid(fact, { now: 31, asOf: 300 })),
            ).toBe(true);
        },
      ),
    );
  });
});

describe("what is refused", () => {
  test("C7: the same words again are the same fact, seen once more", () => {
    const [, memory] = told(emptyMemory, { text: "Ada works on the Analytical Engine." });
    const [outcome, next] = told(memory, { text: "ada works on the  ANALYTICAL engine" }, 5);
    expect(outcome).toEqual({ outcome: "duplicate", id: "f1" });
    expect(next.facts).toMatchObject([{ seen: 2, seenAt: 5, recordedAt: 0 }]);
  });

  test("C7: nearly the same words are too, unless a number or a denial differs", () => {
    const text = "Ada said in March that she prefers to get long reports by mail on Friday mornings";
    const [, memory] = told(emptyMemory, { text });
    const outcomeOf = (other: string) => told(memory, { text: other })[0].outcome;
    expect(outcomeOf(`${text} always`)).toBe("duplicate");
    expect(outcomeOf(`${text} 9`)).toBe("remembered");
    expect(outcomeOf(text.replace("prefers", "never prefers"))).toBe("remembered");
    expect(outcomeOf("Ada prefers tea")).toBe("remembered");
  });

  test("C7: what the memory has just said does not come back as news", () => {
    const [, memory] = told(emptyMemory, { text: "Ada likes tea" });
    const heard = memoryAfter(memory, (draft) => noteRecalled(draft, ["Ada likes tea", "Bob is away"]));
    const [outcome, next] = told(heard, { subject: "Bob", text: "bob is away!" });
    expect(outcome).toEqual({ outcome: "refused", why: "echo" });
    expect([next.facts.length, next.refused.echo]).toEqual([1, 1]);
    const texts = Array.from({ length: limits.recalledMax }, (_, index) => `fact ${index}`);
    const later = memoryAfter(heard, (draft) => noteRecalled(draft, texts));
    expect(later.recalled).toHaveLength(limits.recalledMax);
    expect(told(later, { subject: "Bob", text: "bob is away!" })[0].outcome).toBe("remembered");
  });

  test("C7: secrets are not kept, and what only talks of them is", () => {
    for (const secret of [
      ...[
        "my key is sk-proj-abcdefghijklmnop1234",
        "password: hunter22",
        "The API key is k9x2mmmm",
        "AKIAIOSFODNN7EXAMPLE",
      ],
      ...[
        "ghp_0123456789abcdefghijABCDEFGHIJ0123",
        "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF",
        "4111 1111 1111 1111",
      ],
      ...["-----BEGIN RSA PRIVATE KEY-----", "postgres://ada:s3cret@db/main", "xoxb-1234567890-abc"],
    ]) {
      const [outcome, memory] = told(emptyMemory, { text: `Ada: ${secret}` });
      expect([secret, outcome.outcome]).toEqual([secret, "refused"]);
      expect(JSON.stringify(memory)).not.toContain(secret.slice(-8));
    }
    for (const plain of [
      "The token is used for login",
      "Her secret is patience",
      "Order 4111 1111 1111 1112",
      "A 0000 0000 0000 0000",
    ])
      expect([plain, hasSecret(plain)]).toEqual([plain, false]);
    expect(hasSecret("project Seahorse", [/seahorse/i])).toBe(true);
  });

  test("a text made to slow the filter down does not", () => {
    for (const part of ["a:", "1 ", "sk-", "eyJ", "password is ", "-"]) hasSecret(part.repeat(20_000));
  });

  test("F5: what is no fact is an error, and changes nothing", () => {
    for (const [bad, message] of [
      [{ text: " … " }, "says nothing"],
      [{ subject: "" }, "says nothing"],
      [{ text: 3 }, "write text"],
      [{ object: "x" }, "give both"],
      [{ text: "x".repeat(limits.factLengthMax + 1) }, "say it in short"],
      [{ text: "x", validFrom: Number.NaN }, "write milliseconds"],
      [{ text: "x", validFrom: 2, validTo: 1 }, "ends before"],
      [{ text: "x", confidence: 2 }, "write 0 to 1"],
      [{ text: "x", source: {} }, "trusted or untrusted"],
    ] as [Partial<Candidate>, string][])
      expect(() => told(emptyMemory, bad)).toThrow(message);
    expect(told(emptyMemory, { text: "x".repeat(limits.factLengthMax) })[0].outcome).toBe("remembered");
  });
});

describe("trust", () => {
  const page = { trust: "untrusted", tool: "fetch", message: "m7" } as const;

  test("C7: what nobody vouches for is neither recalled nor believed, until it is confirmed", () => {
    const memory = memoryAfter(emptyMemory, lives("Paris", 0), lives("Mars", 1, { source: page }));
    expect(recall(memory, "Ada lives in", { now: 2, asOf: 2 })).toEqual(["Paris"]);
    const confirmed = memoryAfter(memory, (draft) => confirmFact(draft, "f2", { at: 3 }));
    expect(recall(confirmed, "Ada lives in", { now: 4, asOf: 4 })).toEqual(["Mars"]);
    expect(confirmed.facts[0]).toMatchObject({ validTo: 1, expiredAt: 3, closedBy: "f2" });
    expect(memoryAfter(confirmed, (draft) => confirmFact(draft, "f2", { at: 5 }))).toEqual(confirmed);
  });

  test("C7: the word of somebody who is trusted confirms it", () => {
    const memory = memoryAfter(
      emptyMemory,
      says({ text: "Ada is away", source: page }),
      says({ text: "Ada is away" }, 1),
    );
    expect(recall(memory, "away", { now: 1 })).toEqual(["Ada is away"]);
  });

  test("C7: all that came from a message is forgotten, words and traces, and what it closed is open again", () => {
    const memory = memoryAfter(
      emptyMemory,
      ...[lives("Paris", 0), lives("Atlantis", 1, { source: { ...trusted, message: "m7" } })],
      ...[
        says({ text: "Ada owes me money", source: page }),
        says({ text: "Ada is kind", source: { ...trusted, message: "m8" } }),
      ],
      (draft) => noteRecalled(draft, ["Ada owes me money"]),
    );
    let gone: readonly string[] = [];
    const next = memoryAfter(memory, (draft) => {
      gone = forgetFrom(draft, "m7", { at: 9 });
    });
    expect(gone).toEqual(["f2", "f3"]);
    expect(JSON.stringify(next)).not.toMatch(/Atlantis|owes|m7/);
    expect(next.recalled).toEqual([]);
    expect(recall(next, "Ada lives in", { now: 10, asOf: 10 })).toEqual(["Paris", "Ada is kind"]);
    expect(told(next, { predicate: "lives in", object: "Atlantis" }, 11)[0].outcome).toBe("remembered");
    const keys = JSON.stringify(next.bySaying).match(/"[\w-]{22}":\[\d+\]/g);
    expect(keys).toHaveLength(2);
  });
});

describe("recalling", () => {
  test("C7: rare words count more than common ones, and short facts more than long ones", () => {
    const memory = memoryAfter(
      emptyMemory,
      ...[
        "Ada likes tea",
        "Ada likes walks",
        "Ada likes long walks by the sea in winter",
        "Ada plays the theremin",
      ].map((text) => says({ text })),
    );
    expect(recall(memory, "does Ada like a theremin?")[0]).toBe("Ada plays the theremin");
    expect(recall(memory, "walks").slice(0, 2)).toEqual([
      "Ada likes walks",
      "Ada likes long walks by the sea in winter",
    ]);
    expect(recall(memory, "walks", { limit: 1 })).toHaveLength(1);
    expect(recall(memory, "walks", { subject: "bob" })).toEqual([]);
    expect(recall(memory, "nothing of the kind at all")).not.toContain("Ada likes tea");
  });

  test("C7: the score is that of BM25, by hand", () => {
    const memory = memoryAfter(emptyMemory, says({ text: "tea tea cake" }), says({ text: "cake" }));
    const [first] = new FactSearch().search(memory, "tea", { now: 0 });
    const rarity = Math.log(1 + (2 - 1 + 0.5) / (1 + 0.5));
    expect(first?.score).toBeCloseTo(rarity * ((2 * 2.2) / (2 + 1.2 * (0.25 + 0.75 * (3 / 2)))), 12);
  });

  test("C7: facts fade by half in their half-life, and what was said often fades from higher up", () => {
    const [, once] = told(emptyMemory, { text: "Ada likes tea", confidence: 0.8 });
    const often = memoryAfter(once, ...Array.from({ length: 7 }, () => says({ text: "Ada likes tea" })));
    const fact = (memory: Memory) => memory.facts[0] as Fact;
    expect(strengthOf(fact(once), { now: 90 * day })).toBeCloseTo(0.4, 12);
    expect(strengthOf(fact(once), { now: 10 * day, halfLife: "5 days" })).toBeCloseTo(0.2, 12);
    expect(strengthOf(fact(often), { now: 0 })).toBeCloseTo(0.8 * (1 + Math.log(8) / 4), 12);
  });

  test("C7: a search that grows with its memory finds what a new one finds", () => {
    const words = fc.constantFrom("tea", "walk", "sea", "Paris", "kelp");
    const doing = fc.oneof(
      fc.tuple(fc.constant("say"), fc.array(words, { minLength: 1, maxLength: 4 })),
      fc.tuple(fc.constant("forget"), fc.array(words, { maxLength: 1 })),
      fc.tuple(fc.constant("undo"), fc.constant([])),
    );
    fc.assert(
      fc.property(fc.array(doing, { maxLength: 15 }), words, (doings, question) => {
        const grown = new FactSearch();
        let memory: Memory = emptyMemory;
        const past: Memory[] = [memory];
        doings.forEach(([what, texts], index) => {
          if (what === "undo") memory = past.at(-2) ?? memory;
          else if (what === "forget")
            memory = memoryAfter(memory, (draft) => forgetFrom(draft, `m${index % 3}`, { at: 1 }));
          else
            memory = memoryAfter(
              memory,
              says({ text: texts.join(" "), source: { ...trusted, message: `m${index % 3}` } }),
            );
          past.push(memory);
          expect(grown.search(memory, question, { now: 2 })).toEqual(
            new FactSearch().search(memory, question, { now: 2 }),
          );
        });
      }),
      { numRuns: 60 },
    );
  });
});

test("C7: what a new fact changes does not grow with the memory", () => {
  let memory: Memory = emptyMemory;
  const sizes: number[] = [];
  for (let index = 0; index < 400; index++) {
    const next = memoryAfter(
      memory,
      says({ subject: `s${index % 40}`, text: `s${index % 40} has item ${index}` }),
    );
    sizes.push(JSON.stringify(diff(memory as never, next as never)).length);
    memory = next;
  }
  const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
  expect(mean(sizes.slice(-100))).toBeLessThan(1.3 * mean(sizes.slice(50, 150)));
});

test("C7: an audit tells what is of use, what is not, and where it came from", () => {
  const page = { trust: "untrusted", tool: "fetch" } as const;
  const memory = memoryAfter(
    emptyMemory,
    ...[lives("Paris", 0), lives("Rome", 1), says({ text: "Ada is away", source: page }, 1)],
    ...[
      says({ text: "Ada likes tea", confidence: 0.04, source: { ...trusted, tool: "crm" } }, 1),
      lives("Rome", 2),
    ],
    ...[
      says({ text: "password: hunter22" }, 2),
      says({ text: "gone", source: { ...trusted, message: "m" } }, 2),
    ],
    (draft) => forgetFrom(draft, "m", { at: 3 }),
  );
  expect(audit(memory, { now: 3, rules: { secrets: [/likes tea/] } })).toEqual({
    ...{ total: 5, live: 2, closed: 1, quarantined: 1, forgotten: 1, faded: ["f4"], secrets: ["f4"] },
    ...{ byTool: { none: 1, crm: 1 }, refused: { echo: 0, secret: 1, duplicate: 1 }, noise: 3 / 7 },
  });
  expect(audit(emptyMemory, { now: 0, halfLife: "1 day" })).toMatchObject({ total: 0, noise: 0 });
});
