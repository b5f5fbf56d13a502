/**
 * Style as a test: what a reviewer would otherwise have to say each time. The rules are the values below; each check is
 * shown to fail on a small sample. Words a rule forbids are put together from halves here, so that this file keeps them.
 */
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import {
  isMarkdown,
  isTest,
  isTypeScript,
  parse,
  projectFiles,
  proseLines,
  read,
  root,
  type SyntaxNode,
  visit,
} from "./project.ts";

const budgets = { sourceLinesMax: 400, testLinesMax: 600, functionLinesMax: 70, headerFromLines: 30 };

/** Names that say nothing about what is inside; the glossary has better ones. */
const emptyNames = /^(utils?|helpers?|common|misc|lib|internals?|types?|managers?|services?|base)$/;

const forbiddenText: readonly { pattern: RegExp; reason: string }[] = [
  {
    pattern: new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX"].join("|")})\\b`),
    reason: "unfinished work belongs in an issue",
  },
  {
    pattern: new RegExp(`@ts-(${["ig" + "nore", "no" + "check"].join("|")})`),
    reason: "the compiler is right, or the type is wrong",
  },
  {
    pattern: new RegExp(
      `(^|[\\s"'\`(=:])(${["/ho" + "me", "/Us" + "ers", "/ro" + "ot", "/wo" + "rk"].join("|")})/\\w`,
    ),
    reason: "a path of one machine means nothing on another",
  },
  {
    pattern: new RegExp(`\\bregistry\\.[\\w-]+\\.\\w|"reso${"lved"}":\\s*"https?:`),
    reason: "where packages come from is each machine's own setting",
  },
];

const isText = (path: string): boolean =>
  /(\.(tsx?|css|html|mjs|md|json|ya?ml|scxml|txt)|\/run|LICENSE|ignore|npmrc)$/.test(path);
const lineCount = (text: string): number => text.trimEnd().split("\n").length;
const isProduct = (path: string): boolean =>
  /^(src|studio)\//.test(path) && isTypeScript(path) && !isTest(path);

function textProblems(path: string, text: string): string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      forbiddenText
        .filter(({ pattern }) => pattern.test(line))
        .map(({ pattern, reason }) => `${path}:${index + 1}: ${pattern.exec(line)?.[0].trim()}: ${reason}`),
    );
}

function nameProblems(path: string): string[] {
  return path
    .split("/")
    .map((part) => part.replace(/(\.test)?\.\w+$/, ""))
    .filter((name) => emptyNames.test(name))
    .map((name) => `${path}: “${name}” says nothing about what is inside`);
}

function sizeProblems(path: string, text: string): string[] {
  const linesMax = isTest(path) ? budgets.testLinesMax : budgets.sourceLinesMax;
  const lines = lineCount(text);
  return lines > linesMax ? [`${path}: ${lines} lines, ${linesMax} at most`] : [];
}

/** Test files are left out: the function around a group of tests is as long as the group. */
function functionProblems(path: string, text: string): string[] {
  if (isTest(path)) return [];
  const syntax = parse(path, text);
  const problems: string[] = [];
  visit(syntax.program, (node: SyntaxNode) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return;
    const first = syntax.lineAt(node.start);
    const lines = syntax.lineAt(node.end) - first + 1;
    if (lines > budgets.functionLinesMax)
      problems.push(`${path}:${first}: a function of ${lines} lines, ${budgets.functionLinesMax} at most`);
  });
  return problems;
}

/** A file of any size opens with what it owns and promises, before its imports. */
function headerProblems(path: string, text: string): string[] {
  if (lineCount(text) < budgets.headerFromLines || /^\s*\/[/*]/.test(text.replace(/^#!.*\n/, ""))) return [];
  return [`${path}: no header comment`];
}

function titleProblems(path: string, text: string): string[] {
  const titles = proseLines(text).filter((line) => /^# \S/.test(line.text));
  return titles.length === 1 ? [] : [`${path}: ${titles.length} titles, there must be one`];
}

/** As forges make them: lower case, punctuation dropped, spaces to hyphens. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const anchorsOf = (text: string): string[] =>
  proseLines(text).flatMap(({ text: line }) => {
    const heading = /^#+ (.+)$/.exec(line)?.[1];
    return heading === undefined ? [] : [anchorOf(heading.trim())];
  });

/** Relative links that lead nowhere: to no file, or to no heading in it. */
function linkProblems(path: string, text: string, load: (path: string) => string | undefined): string[] {
  return proseLines(text).flatMap(({ line, text: lineText }) => {
    const targets = [...lineText.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(
      (match) => match[1] ?? "",
    );
    return targets
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [file = "", anchor] = target.split("#");
        const found = file === "" ? text : load(posix.join(posix.dirname(path), decodeURIComponent(file)));
        return found === undefined || (anchor !== undefined && !anchorsOf(found).includes(anchor));
      })
      .map((target) => `${path}:${line}: ${target} leads nowhere`);
  });
}

/** A file's text, the empty text for a folder, undefined where there is nothing. */
function load(path: string): string | undefined {
  if (projectFiles.includes(path)) return read(path);
  const folder = path.replace(/\/$/, "");
  return projectFiles.some((file) => file.startsWith(`${folder}/`)) && existsSync(join(root, folder))
    ? ""
    : undefined;
}

const across = (
  which: (path: string) => boolean,
  check: (path: string, text: string) => string[],
): string[] => projectFiles.filter(which).flatMap((path) => check(path, read(path)));

describe("the project is tidy", () => {
  test("nothing unfinished, silenced or tied to one machine is in any file", () => {
    expect(across(isText, textProblems)).toEqual([]);
  });

  test("every file is named after what it holds", () => {
    expect(projectFiles.flatMap(nameProblems)).toEqual([]);
  });

  test("files and functions stay within their budgets", () => {
    expect(across((path) => isProduct(path) || isTest(path), sizeProblems)).toEqual([]);
    expect(across(isTypeScript, functionProblems)).toEqual([]);
  });

  test("every source file of some size opens with a header comment", () => {
    expect(across(isProduct, headerProblems)).toEqual([]);
  });

  test("every markdown file has one title, and its links lead somewhere", () => {
    expect(across(isMarkdown, titleProblems)).toEqual([]);
    expect(across(isMarkdown, (path, text) => linkProblems(path, text, load))).toEqual([]);
  });
});

describe("each check fails on what it forbids", () => {
  test.each([
    `// ${"TO" + "DO"}: later`,
    `// @ts-${"ig" + "nore"}`,
    `const path = "/ho${"me"}/ada/x";`,
    `cd /wo${"rk"}/main`,
    `see https://registry.${"npmjs"}.org/x`,
    `"reso${"lved"}": "https://example.org/x.tgz"`,
  ])("text: %s", (text) => {
    expect(textProblems("a.ts", text)).toHaveLength(1);
  });

  test("text that only resembles it is fine", () => {
    expect(
      textProblems("a.md", "/workers are at work/play; resolved: yes; the registry. Of errors."),
    ).toEqual([]);
  });

  test("an empty name is found in files, tests and folders", () => {
    expect(nameProblems("src/core/utils.ts")).toHaveLength(1);
    expect(nameProblems("src/core/types.test.ts")).toHaveLength(1);
    expect(nameProblems("src/common/step.ts")).toHaveLength(1);
    expect(nameProblems("src/core/step.ts")).toEqual([]);
  });

  test("a file or function one line over its budget is found, at the budget it is not", () => {
    expect(sizeProblems("src/a.ts", "x\n".repeat(400))).toEqual([]);
    expect(sizeProblems("src/a.ts", "x\n".repeat(401))).toHaveLength(1);
    expect(sizeProblems("src/a.test.ts", "x\n".repeat(600))).toEqual([]);
    expect(sizeProblems("src/a.test.ts", "x\n".repeat(601))).toHaveLength(1);
    expect(functionProblems("a.ts", `const f = () => {${"\n".repeat(69)}};`)).toEqual([]);
    expect(functionProblems("a.ts", `const f = () => {${"\n".repeat(70)}};`)).toHaveLength(1);
    expect(functionProblems("a.ts", `class A { method() {${"\n".repeat(70)}} }`)).toHaveLength(1);
  });

  test("a missing header is found in a file of some size", () => {
    const code = "const a = 1;\n".repeat(30);
    expect(headerProblems("src/a.ts", code)).toHaveLength(1);
    expect(headerProblems("src/a.ts", `/** Owns a. */\n${code}`)).toEqual([]);
    expect(headerProblems("src/a.ts", "const a = 1;\n")).toEqual([]);
  });

  test("missing and second titles are found, comments in code are not titles", () => {
    expect(titleProblems("a.md", "text")).toHaveLength(1);
    expect(titleProblems("a.md", "# One\n# Two")).toHaveLength(1);
    expect(titleProblems("a.md", "# One\n```sh\n# comment\n```")).toEqual([]);
  });

  test("links to missing files and headings are found", () => {
    const pages: Record<string, string> = { "docs/b.md": "# B\n## What it’s for" };
    const problems = (text: string) => linkProblems("docs/a.md", text, (path) => pages[path]);
    expect(
      problems("[b](b.md) [b](b.md#what-its-for) [a](#here) [web](https://example.org)\n# Here"),
    ).toEqual([]);
    expect(problems("[c](c.md)")).toHaveLength(1);
    expect(problems("[b](b.md#nothing)")).toHaveLength(1);
    expect(problems("`[not a link](c.md)`\n```\n[nor this](c.md)\n```")).toEqual([]);
  });
});
