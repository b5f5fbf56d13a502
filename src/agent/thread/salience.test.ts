/** What phrases mean by what was mentioned; readings are given, so no language is needed. */
import { describe, expect, test } from "vitest";
import { readEnglish } from "./english.ts";
import {
  emptySalience,
  type Mention,
  noteMentions,
  type Reference,
  resolveReference,
  resolveReferences,
  resolveReferencesWith,
  type TextReading,
} from "./salience.ts";

const thing = (text: string, parts: Partial<Mention> = {}): Mention => ({
  text,
  kinds: [text],
  plural: false,
  gender: "neuter",
  role: "object",
  offset: 0,
  clause: 0,
  ...parts,
});
const it: Reference = { phrase: "it", offset: 99, kind: "pronoun", plural: false, gender: "neuter" };

describe("the register", () => {
  test("C1: number, gender and kind must agree, and the newer is meant", () => {
    const salience = emptySalience();
    noteMentions(
      salience,
      { mentions: [thing("lamp"), thing("Ada", { gender: "female" }), thing("cups", { plural: true })] },
      "user",
    );
    noteMentions(salience, { mentions: [thing("table")] }, "user");
    expect(resolveReference(salience, it).entity).toBe("table");
    expect(resolveReference(salience, { ...it, phrase: "she", gender: "female" }).entity).toBe("Ada");
    expect(
      resolveReference(salience, { ...it, phrase: "they", gender: "unknown", plural: true }).entity,
    ).toBe("cups");
    expect(resolveReference(salience, { ...it, kind: "noun", noun: "lamp", gender: "unknown" }).entity).toBe(
      "lamp",
    );
    expect(resolveReference(salience, { ...it, phrase: "he", gender: "male" }).entity).toBeUndefined();
  });

  test("C1: ordinals, the former, the latter and the other one pick from the newest list", () => {
    const salience = emptySalience();
    const mentions = ["tea", "milk"].map((text, offset) => thing(text, { list: 1, offset }));
    noteMentions(salience, { mentions }, "user");
    const pick = (parts: Partial<Reference>) =>
      resolveReference(salience, { ...it, gender: "unknown", ...parts }).entity;
    expect(pick({ kind: "ordinal", ordinal: 2 })).toBe("milk");
    expect(pick({ kind: "ordinal", ordinal: -1 })).toBe("milk");
    expect(pick({ kind: "ordinal", ordinal: 3 })).toBeUndefined();
    expect(pick({ kind: "former" })).toBe("tea");
    expect(pick({ kind: "latter" })).toBe("milk");
    noteMentions(salience, { mentions: [thing("milk")] }, "user");
    expect(pick({ kind: "other" })).toBe("tea");
  });

  test("stays small, however much is mentioned", () => {
    const salience = emptySalience();
    for (let turn = 0; turn < 300; turn++)
      noteMentions(
        salience,
        { mentions: [thing(`a${turn}`, { list: 1 }), thing(`b${turn}`, { list: 1 })] },
        "user",
      );
    expect(salience.entities).toHaveLength(40);
    expect(salience.lists).toHaveLength(4);
    expect(resolveReference(salience, it).entity).toBe("a299");
  });

  test("a pronoun does not mean another part of its own clause", () => {
    const salience = emptySalience();
    noteMentions(salience, { mentions: [thing("column")] }, "user");
    const reading: TextReading = {
      mentions: [thing("table", { clause: 0 })],
      references: [{ ...it, clause: 0 }],
    };
    expect(resolveReferences(salience, reading).map(({ entity }) => entity)).toEqual(["column"]);
  });
});

describe("a resolver", () => {
  const salience = emptySalience();
  noteMentions(salience, { mentions: [thing("lamp"), thing("table")] }, "user");
  const asked: unknown[] = [];
  const turn = { text: "Move it.", reading: { mentions: [], references: [it] } };

  test("C1: is asked where the margin is small, and only its choice among the candidates counts", async () => {
    const choose = (choice: string | undefined) =>
      resolveReferencesWith(salience, turn, {
        marginMin: 0.5,
        resolver: async (question) => {
          asked.push(question);
          return choice;
        },
      });
    expect(await choose("lamp")).toMatchObject([{ entity: "lamp", asked: true }]);
    expect(await choose("the moon")).toMatchObject([
      { entity: expect.stringMatching(/lamp|table/), asked: true },
    ]);
    expect(asked[0]).toMatchObject({
      phrase: "it",
      text: "Move it.",
      candidates: expect.arrayContaining(["lamp", "table"]),
    });
  });

  test("is left alone where it is clear, or there is none", async () => {
    const clear = await resolveReferencesWith(salience, turn, {
      marginMin: 0,
      resolver: () => Promise.reject(new Error("asked")),
    });
    expect(clear).toMatchObject([{ asked: false }]);
    expect(await resolveReferencesWith(salience, turn)).toMatchObject([{ asked: false }]);
  });
});

describe("English", () => {
  test("names of files, links, code and tickets are one thing each", () => {
    const { mentions } = readEnglish(
      "I read src/a.ts with notes.md, `npm test`, https://example.org/x and PAY-12.",
    );
    expect(mentions.map(({ text }) => text)).toEqual([
      "src/a.ts",
      "notes.md",
      "npm test",
      "https://example.org/x",
      "PAY-12",
    ]);
    expect(mentions[0]?.kinds).toContain("file");
  });

  test("references are told from words that mean nothing", () => {
    const phrases = (text: string) => readEnglish(text).references.map(({ phrase }) => phrase);
    expect(phrases("Delete that file and the second one, then tell her.")).toEqual([
      "that file",
      "the second one",
      "her",
    ]);
    expect(phrases("It is late, and that is fine.")).toEqual([]);
  });

  test("what is enumerated is a list, and lines are", () => {
    const lists = (text: string) =>
      readEnglish(text).mentions.map(({ text: name, list }) => [name, list !== undefined]);
    expect(lists("Take tea or coffee.")).toEqual([
      ["tea", true],
      ["coffee", true],
    ]);
    expect(lists("- Rome\n- Paris").every(([, isListed]) => isListed)).toBe(true);
  });
});
