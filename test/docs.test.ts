/**
 * The snippets of the README and the guide, compiled and run as a reader would run them. Each ```ts block is a module of
 * its own in which `holdfast` is this source. A comment after a statement states its value and is checked:
 *
 *     matches(state, "idle"); // → true
 *     defineMachine(broken); // → throws MACHINE_INVALID
 *
 * A block marked "ts no-run: reason" is shown but not run; those are few and counted below.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isMarkdown, parse, projectFiles, read, root, type SyntaxNode, visit } from "./project.ts";

const notRunMax = 3;

interface Snippet {
  /** Where its code begins, as `file:line`. */
  readonly at: string;
  readonly code: string;
  readonly notRun: string | undefined;
}

/** The TypeScript blocks of a markdown text. One that is not run must say why. */
function snippetsOf(path: string, text: string): Snippet[] {
  const blocks = [...text.matchAll(/^```ts\b[ ]*([^\n]*)\n(.*?)^```$/gms)];
  return blocks.map(({ index, 1: info = "", 2: code = "" }) => {
    const at = `${path}:${text.slice(0, index).split("\n").length + 1}`;
    const notRun = /^no-run: (.+)$/.exec(info)?.[1];
    if (info !== "" && notRun === undefined) throw new Error(`${at}: “${info}” is not “no-run: reason”`);
    return { at, code, notRun };
  });
}

const prelude = [
  `import { deepStrictEqual as $equal } from "node:assert/strict";`,
  `function $throws(work: () => unknown, code: string): void {`,
  `  let thrown: unknown; try { work(); } catch (error) { thrown = error; }`,
  `  $equal((thrown as { code?: string } | undefined)?.code, code, thrown as Error); }`,
].join(" ");

/** The check that a comment `// → …` asks for, as text to put around or after its statement. */
function checkOf(
  statement: SyntaxNode,
  code: string,
  claim: string,
): { start: number; end: number; text: string } {
  const { start, end } = statement;
  const source = code.slice(start, end).replace(/;$/, "");
  const failure = claim.match(/^throws (\w+)$/)?.[1];
  if (statement.type === "ExpressionStatement" && failure !== undefined)
    return { start, end, text: `$throws(() => (${source}), "${failure}");` };
  if (statement.type === "ExpressionStatement")
    return { start, end, text: `$equal((${source}), (${claim}));` };
  const [declared] = statement.declarations as { id: SyntaxNode }[];
  return { start: end, end, text: ` $equal(${declared?.id.name}, (${claim}));` };
}

/** The code with every claimed value checked, lines kept; a claim that belongs to no statement throws. */
function withChecks(at: string, code: string): string {
  const syntax = parse(`${at}.ts`, code);
  const statements: SyntaxNode[] = [];
  visit(syntax.program, (node) => {
    if (/^(ExpressionStatement|VariableDeclaration)$/.test(node.type)) statements.push(node);
  });
  const checks = syntax.comments
    .filter((comment) => comment.value.trim().startsWith("→"))
    .map((comment) => {
      const isBefore = ({ end }: SyntaxNode) =>
        end <= comment.start && code.slice(end, comment.start).trim() === "";
      const statement = statements.findLast(isBefore);
      if (statement === undefined || syntax.lineAt(statement.end) !== syntax.lineAt(comment.start))
        throw new Error(`${at}: “${comment.value.trim()}” stands after no statement`);
      return checkOf(statement, code, comment.value.trim().slice(1).trim());
    });
  const woven = checks
    .sort((one, other) => other.start - one.start)
    .reduce((text, { start, end, text: check }) => text.slice(0, start) + check + text.slice(end), code);
  return `${prelude} ${woven}`;
}

/** Puts modules into a folder of this package, where `holdfast` means its own source, while `use` looks at them. */
function withModules<Result>(
  codes: readonly string[],
  use: (folder: string, files: string[]) => Result,
): Result {
  // Git and the linter ignore this folder, so that no other check sees the modules.
  mkdirSync(join(root, "coverage"), { recursive: true });
  const folder = mkdtempSync(join(root, "coverage", "snippets-"));
  try {
    const files = codes.map((_, index) => join(folder, `snippet-${index}.ts`));
    for (const [index, file] of files.entries()) writeFileSync(file, codes[index] ?? "");
    return use(folder, files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs modules one after the other in a process of their own; what each failed with, null where all went well. */
function failuresOf(codes: readonly string[]): (string | null)[] {
  return withModules(codes, (folder, files) => {
    const report = join(folder, "report.json");
    const driver = `
      import { writeFileSync } from "node:fs";
      const failures = [];
      for (const file of ${JSON.stringify(files)})
        failures.push(await import(file).then(() => null, (error) => error.stack));
      writeFileSync(${JSON.stringify(report)}, JSON.stringify(failures));
      // What a snippet that failed left open keeps nobody waiting.
      process.exit();`;
    // What a snippet writes, as a store, goes with the folder.
    execFileSync(process.execPath, ["--conditions=holdfast-source", "--input-type=module", "-e", driver], {
      cwd: folder,
    });
    return JSON.parse(readFileSync(report, "utf8")) as (string | null)[];
  });
}

/** Type-checks modules in one go; what the compiler says, empty when all is well. */
function compilerOutput(codes: readonly string[]): string {
  return withModules(codes, (folder) => {
    const config = { extends: join(root, "tsconfig.json"), include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    return stdout;
  });
}

const pages = projectFiles
  .filter(
    (path) => ["README.md", "docs/high-availability.md"].includes(path) || path.startsWith("docs/guide/"),
  )
  .filter(isMarkdown);
const snippets = pages.flatMap((path) => snippetsOf(path, read(path)));
const run = snippets.filter(({ notRun }) => notRun === undefined);

describe("the documentation's snippets", () => {
  const codes = run.map(({ at, code }) => withChecks(at, code));
  const failures = failuresOf(codes);

  test("there are some, and few that are not run", () => {
    expect(run.length).toBeGreaterThan(0);
    expect(snippets.filter(({ notRun }) => notRun !== undefined).length).toBeLessThanOrEqual(notRunMax);
  });

  test("compile", { timeout: 60_000 }, () => {
    const named = compilerOutput(codes).replace(
      /\S*snippet-(\d+)\.ts/g,
      (_, index) => run[Number(index)]?.at ?? "",
    );
    expect(named).toBe("");
  });

  test.each(run.map(({ at }, index) => ({ at, failure: failures[index] })))(
    "$at runs and gives the values it claims",
    ({ failure }) => {
      expect(failure).toBeNull();
    },
  );
});

describe("each check fails on what it forbids", () => {
  test("a wrong value, a missing error and a broken snippet are found", () => {
    const failures = failuresOf(
      [
        "const a = 1 + 1; // → 2\n[a, 3]; // → [2, 3]",
        "const a = 1 + 1; // → 3",
        "[1, 2]; // → [1, 3]",
        "(() => 1)(); // → throws NOT_JSON",
        "missing();",
      ].map((code) => withChecks("sample", code)),
    );
    const [good, ...bad] = failures;
    expect(good).toBeNull();
    expect(bad.map((failure) => /^\w+/.exec(failure ?? "")?.[0])).toEqual([
      "AssertionError",
      "AssertionError",
      "AssertionError",
      "ReferenceError",
    ]);
  });

  test("a type error is found", { timeout: 60_000 }, () => {
    expect(compilerOutput(["export const a: number = 1;"])).toBe("");
    expect(compilerOutput(["export const a: number = '1';"])).toContain("snippet-0.ts");
  });

  test("a claim after no statement and a block that is not run without a reason are refused", () => {
    expect(() => withChecks("sample", "// → 1")).toThrow("stands after no statement");
    expect(() => snippetsOf("a.md", "```ts no-run\n1;\n```")).toThrow("is not");
    expect(snippetsOf("a.md", "# A\n\n```ts no-run: needs a key\n1;\n```\n")).toEqual([
      { at: "a.md:4", code: "1;\n", notRun: "needs a key" },
    ]);
  });
});
