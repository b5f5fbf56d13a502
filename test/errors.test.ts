/**
 * The error registry and the limits against their reference pages, both ways: the pages are made from the sources, so a
 * code or bound without its row, a row without its code, and a changed meaning all fail.
 * `npx vitest run test/errors.test.ts -u` writes the pages anew.
 */
import { expect, test } from "vitest";
import {
  type ErrorCode,
  errors,
  HoldfastError,
  isHoldfastError,
  type Retry,
  statusOf,
} from "../src/errors.ts";
import { limits } from "../src/limits.ts";
import { isTest, isTypeScript, parse, projectFiles, read, type SyntaxNode, visit } from "./project.ts";

const adviceByRetry: Readonly<Record<Retry, string>> = {
  never: "nothing: the answer will not change",
  later: "try the same again later",
  "after-fix": "mend what was given, then try again",
};

function errorsPage(): string {
  const rows = Object.entries(errors)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([code, { retry, meaning }]) =>
        `| \`${code}\` | ${meaning} | ${adviceByRetry[retry]} | ${statusOf(code as ErrorCode)} |`,
    );
  return [
    "# Error codes",
    "",
    "Every error Holdfast throws or returns is a `HoldfastError` with one of these codes. Decide by `error.code`, never",
    "by the message: messages say what happened, to what, and what to do, and may be reworded. `error.retry` gives the",
    "third column as `never`, `later` or `after-fix`; `error.details` holds the particulars as data.",
    "",
    "This page is made from `src/errors.ts`; `test/errors.test.ts` keeps the two equal.",
    "",
    "| code | meaning | what to do | over HTTP |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** The doc comment above each bound is its reason. */
function reasonsByLimit(): Map<string, string> {
  const path = "src/limits.ts";
  const text = read(path);
  const syntax = parse(path, text);
  const reasons = new Map<string, string>();
  visit(syntax.program, (node) => {
    if (node.type !== "Property") return;
    const comment = syntax.comments.findLast(({ end }) => end <= node.start);
    const between = comment === undefined ? "none" : text.slice(comment.end, node.start).trim();
    if (comment !== undefined && between === "")
      reasons.set(
        (node.key as SyntaxNode).name as string,
        comment.value.replace(/^\*|\s*\n\s*\*/g, "").trim(),
      );
  });
  return reasons;
}

function limitsPage(reasons: ReadonlyMap<string, string>): string {
  const rows = Object.entries(limits).map(
    ([name, value]) => `| \`${name}\` | ${value.toLocaleString("en")} | ${reasons.get(name)} |`,
  );
  return [
    "# Limits",
    "",
    "Every bound of the system, with its reason. A name ends in its unit and in `Max`.",
    "",
    "This page is made from `src/limits.ts`; `test/errors.test.ts` keeps the two equal.",
    "",
    "| limit | value | reason |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

test("docs/reference/errors.md lists every code of the registry and no other", async () => {
  expect(projectFiles).toContain("docs/reference/errors.md");
  await expect(errorsPage()).toMatchFileSnapshot("../docs/reference/errors.md");
});

test("docs/reference/limits.md lists every limit with its reason and no other", async () => {
  expect(projectFiles).toContain("docs/reference/limits.md");
  const reasons = reasonsByLimit();
  expect([...reasons.keys()]).toEqual(Object.keys(limits));
  await expect(limitsPage(reasons)).toMatchFileSnapshot("../docs/reference/limits.md");
});

test("every code and every limit is used by some source", () => {
  const sources = projectFiles
    .filter((path) => path.startsWith("src/") && isTypeScript(path) && !isTest(path))
    .filter((path) => path !== "src/errors.ts" && path !== "src/limits.ts")
    .map(read)
    .join("\n");
  expect(Object.keys(errors).filter((code) => !sources.includes(`"${code}"`))).toEqual([]);
  expect(Object.keys(limits).filter((name) => !sources.includes(`limits.${name}`))).toEqual([]);
});

test("an error carries its code, its retry class, its details and its cause", () => {
  const cause = new Error("below");
  const error = new HoldfastError("TIMER_EARLY", "too early", { details: { due: 5 }, cause });
  expect(error).toMatchObject({
    code: "TIMER_EARLY",
    retry: "later",
    details: { due: 5 },
    message: "too early",
  });
  expect(error.cause).toBe(cause);
  expect(new HoldfastError("NOT_JSON", "plain")).toMatchObject({ details: {} });
});

test("an error of another copy of the package is recognised, anything else is not", () => {
  const foreign = Object.assign(new Error("from elsewhere"), { [Symbol.for("holdfast.error")]: true });
  expect([new HoldfastError("NOT_JSON", "ours"), foreign].map(isHoldfastError)).toEqual([true, true]);
  expect([new Error("other"), null, undefined, "HoldfastError", {}].some(isHoldfastError)).toBe(false);
});
