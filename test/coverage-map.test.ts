/**
 * The map from requirements to tests, checked in both directions. The ids live in the page itself: a section's title
 * names its first and last, and its rows are exactly those. A row names a test as `file` › title.
 */
import { describe, expect, test } from "vitest";
import { isTest, projectFiles, proseLines, read, testTitles } from "./project.ts";

interface Row {
  readonly id: string;
  readonly line: number;
  readonly status: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

const page = "docs/coverage.md";
const rowForm = /^\| ([A-Z]\d+) \| .+? \| (done|in part: .+?|not yet) \| (.*?) ?\|$/;
const testForm = /^`([^`]+)` › (.+)$/;

/** The rows of the map; a table row or a reference that does not have the page's form throws with its line. */
function rowsOf(text: string): Row[] {
  return proseLines(text)
    .filter((line) => /^\| [A-Z]\d/.test(line.text))
    .map(({ line, text: rowText }) => {
      const [, id, status, references] = rowForm.exec(rowText) ?? [];
      if (id === undefined || status === undefined || references === undefined)
        throw new Error(`${page}:${line} is not of the form | id | what | status | tests |`);
      const tests = references
        .split("<br>")
        .filter(Boolean)
        .map((reference) => {
          const [, file, title] = testForm.exec(reference.trim()) ?? [];
          if (file === undefined || title === undefined)
            throw new Error(`${page}:${line}: ${reference} names no test`);
          return { file, title };
        });
      return { id, line, status, tests };
    });
}

/** The ids that the section titles promise, in order: “(A1–A8)” promises eight. */
function promisedIds(text: string): string[] {
  return proseLines(text).flatMap((line) => {
    const [, letter, last] = /^## .*\(([A-Z])1–\1(\d+)\)$/.exec(line.text) ?? [];
    return Array.from({ length: Number(last ?? 0) }, (_, index) => `${letter}${index + 1}`);
  });
}

type Titles = ReadonlyMap<string, readonly string[]>;

/** Where the map and the tests disagree. */
function mapProblems(rows: readonly Row[], titlesByFile: Titles): string[] {
  const missing = rows.flatMap(({ id, line, tests }) =>
    tests
      .filter(({ file, title }) => !titlesByFile.get(file)?.includes(title))
      .map(({ file, title }) => `${page}:${line}: ${id} names “${title}”, which is not a test in ${file}`),
  );
  const untruthful = rows
    .filter(({ status, tests }) => (status === "not yet") !== (tests.length === 0))
    .map(({ id, line, status }) => `${page}:${line}: ${id} is “${status}”, its tests say otherwise`);
  const unlisted = [...titlesByFile].flatMap(([file, titles]) =>
    titles
      .filter((title) => {
        const id = /^([A-Z]\d+):/.exec(title)?.[1];
        const row = rows.find((one) => one.id === id);
        return id !== undefined && !row?.tests.some((one) => one.file === file && one.title === title);
      })
      .map((title) => `${page}: the row of ${title.split(":")[0]} lacks: \`${file}\` › ${title}`),
  );
  return [...missing, ...untruthful, ...unlisted];
}

/** Invariants of a file are numbered I1, I2 …; requirements begin with the letters of the map. */
function requirementTitles(letters: ReadonlySet<string>): Titles {
  return new Map(
    projectFiles.filter(isTest).map((path) => {
      const titles = testTitles(path, read(path)).map(({ title }) => title);
      return [path, titles.filter((title) => !/^[A-Z]\d+:/.test(title) || letters.has(title[0] ?? ""))];
    }),
  );
}

describe("the coverage map", () => {
  const text = read(page);

  test("has exactly the rows its section titles promise, once each and in order", () => {
    expect(rowsOf(text).map(({ id }) => id)).toEqual(promisedIds(text));
    expect(promisedIds(text).length).toBeGreaterThan(0);
  });

  test("names only tests that exist, and every test whose title begins with an id", () => {
    const letters = new Set(promisedIds(text).map((id) => id.slice(0, 1)));
    expect(mapProblems(rowsOf(text), requirementTitles(letters))).toEqual([]);
  });
});

describe("each check fails on what it forbids", () => {
  const row = (status: string, tests: string) => rowsOf(`| A1 | Be good. | ${status} | ${tests} |`);
  const titles = new Map([["src/a.test.ts", ["A1: it is good"]]]);

  test("a map that agrees with its tests has no problems", () => {
    expect(mapProblems(row("done", "`src/a.test.ts` › A1: it is good"), titles)).toEqual([]);
    expect(mapProblems(row("not yet", ""), new Map())).toEqual([]);
  });

  test("a test that is not there, or in another file, is found", () => {
    expect(mapProblems(row("done", "`src/a.test.ts` › A1: it is better"), titles)).toHaveLength(2);
    expect(mapProblems(row("done", "`src/b.test.ts` › A1: it is good"), titles)).toHaveLength(2);
  });

  test("a test with an id that its row does not name is found", () => {
    expect(mapProblems(row("not yet", ""), titles)).toHaveLength(1);
    expect(mapProblems(rowsOf("| A2 | Be kind. | not yet | |"), titles)).toHaveLength(1);
  });

  test("a status that its tests contradict is found", () => {
    expect(mapProblems(row("not yet", "`src/a.test.ts` › A1: it is good"), titles)).toHaveLength(1);
    expect(mapProblems(row("done", ""), new Map())).toHaveLength(1);
  });

  test("a malformed row or reference is an error, not a row that is skipped", () => {
    expect(() => row("soon", "")).toThrow("form");
    expect(() => row("done", "somewhere")).toThrow("names no test");
  });

  test("titles are read from every form of test that runs, and from no other", () => {
    const text =
      'test("A1: a", f); it.only("b", f); test.each([1])(`c`, f); test.skip("d", f); describe("e", f);';
    expect(testTitles("a.test.ts", text).map(({ title }) => title)).toEqual(["A1: a", "b", "c"]);
  });
});
