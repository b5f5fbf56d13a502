/**
 * The project as data for the tests that judge it: which files belong to it, what they hold, and their syntax.
 * Files that git would commit count, added or not, so a rule bites before the commit and not after it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { type Comment, parseSync, visitorKeys } from "oxc-parser";

/** The checkout's top folder. */
export const root: string = join(import.meta.dirname, "..");

const ignored = new Set([".git", "node_modules", "dist", "coverage"]);

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (ignored.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [relative(root, path).split(sep).join("/")];
  });
}

function listFiles(): string[] {
  if (!existsSync(join(root, ".git"))) return walk(root);
  const options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", options, { cwd: root, encoding: "utf8" }).split("\0");
  return [...new Set(listed)].filter((path) => path !== "" && existsSync(join(root, path)));
}

/** Every file of the project, as paths from its top with forward slashes, sorted. */
export const projectFiles: readonly string[] = listFiles().sort();

/** The text of one project file. */
export const read = (path: string): string => readFileSync(join(root, path), "utf8");

export const isTypeScript = (path: string): boolean => /\.tsx?$/.test(path);
export const isTest = (path: string): boolean => path.endsWith(".test.ts");
export const isMarkdown = (path: string): boolean => path.endsWith(".md");

/** A syntax node, seen without its exact type: the rules look at a few fields of a few kinds. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Syntax {
  readonly program: SyntaxNode;
  readonly comments: readonly Comment[];
  /** The line, from 1, that an offset is on. */
  lineAt(offset: number): number;
}

/** Parses TypeScript; a file that does not parse throws with its name. */
export function parse(path: string, text: string): Syntax {
  const result = parseSync(path, text);
  const problem = result.errors[0];
  if (problem !== undefined) throw new Error(`${path} does not parse: ${problem.message}`);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  return { program: result.program as unknown as SyntaxNode, comments: result.comments, lineAt };
}

/** Visits every node below and including this one, each with its parent and the field it sits in. */
export function visit(
  node: SyntaxNode,
  see: (node: SyntaxNode, parent: SyntaxNode | undefined, field: string) => void,
  parent?: SyntaxNode,
  field = "",
): void {
  see(node, parent, field);
  for (const key of visitorKeys[node.type] ?? []) {
    const child = node[key];
    for (const item of Array.isArray(child) ? child : [child]) {
      if (item !== null && typeof item === "object") visit(item as SyntaxNode, see, node, key);
    }
  }
}

/** The lines of a markdown text outside fenced code, each with its number from 1. */
export function proseLines(text: string): { line: number; text: string }[] {
  let fence: string | undefined;
  return text.split("\n").flatMap((lineText, index) => {
    const mark = /^\s*(```+|~~~+)/.exec(lineText)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      return [];
    }
    return fence === undefined ? [{ line: index + 1, text: lineText }] : [];
  });
}

/** The titles of the tests in a test file: the literal first argument of `test` and `it` and of their variants that run. */
export function testTitles(path: string, text: string): { title: string; line: number }[] {
  const titles: { title: string; line: number }[] = [];
  const syntax = parse(path, text);
  visit(syntax.program, (node) => {
    if (node.type !== "CallExpression" || !isTestCall(node.callee as SyntaxNode)) return;
    const title = literalText((node.arguments as SyntaxNode[])[0]);
    if (title !== undefined) titles.push({ title, line: syntax.lineAt(node.start) });
  });
  return titles;
}

/** `test`, `it`, `test.each(table)`, `test.for(table)` … but not `test.skip` or another that proves nothing. */
function isTestCall(callee: SyntaxNode): boolean {
  if (callee.type === "Identifier") return callee.name === "test" || callee.name === "it";
  if (callee.type === "MemberExpression") {
    const variant = (callee.property as SyntaxNode).name as string;
    return !["skip", "todo", "fails"].includes(variant) && isTestCall(callee.object as SyntaxNode);
  }
  return callee.type === "CallExpression" && isTestCall(callee.callee as SyntaxNode);
}

/** The text of a string literal or of a template without holes. */
export function literalText(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type !== "TemplateLiteral" || (node.expressions as unknown[]).length > 0) return undefined;
  const [quasi] = node.quasis as { value: { cooked: string } }[];
  return quasi?.value.cooked;
}
