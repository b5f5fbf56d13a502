/** `npm test` itself: what it counts, that it stops at a failure, and that it runs everything it should. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allStages, countReport, runStages, type Stage } from "../scripts/test.ts";
import { read, root } from "./project.ts";

const stage = (name: string, code: string): Stage => ({ name, command: ["-e", code] });
const good = (name: string) => stage(name, "");
const bad = (name: string) => stage(name, "process.exit(1)");

test("each stage that succeeds counts one", () => {
  expect(runStages([good("one"), good("two")], root, () => {})).toEqual({ passed: 2, failed: 0 });
});

test("the first failure stops the rest and says what was not run", () => {
  const said: string[] = [];
  const count = runStages([good("one"), bad("two"), good("three")], root, (line) => said.push(line));
  expect(count).toEqual({ passed: 1, failed: 1 });
  expect(said.at(-1)).toContain("two failed; not run: three");
});

test("a stage that is killed or cannot be found has failed", () => {
  expect(runStages([stage("killed", "process.kill(process.pid)")], root, () => {}).failed).toBe(1);
  expect(runStages([good("nowhere")], join(root, "nowhere"), () => {}).failed).toBe(1);
});

test("a stage with a report counts its tests, and fails if it exits badly all the same", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-report-"));
  const report = join(folder, "report.json");
  const figures = JSON.stringify({ numPassedTests: 7, numFailedTests: 0, testResults: [] });
  const write = `fs.writeFileSync(${JSON.stringify(report)}, ${JSON.stringify(figures)});`;
  const reporting = (code: string): Stage => ({ ...stage("tests", write + code), report });
  expect(runStages([reporting("")], root, () => {})).toEqual({ passed: 7, failed: 0 });
  expect(runStages([reporting("process.exit(1)")], root, () => {})).toEqual({ passed: 7, failed: 1 });
  rmSync(folder, { recursive: true });
});

test("a test file that breaks before its first test counts as a failure", () => {
  const testResults = [
    { status: "failed", assertionResults: [] },
    { status: "failed", assertionResults: [{}] },
  ];
  expect(countReport({ numPassedTests: 3, numFailedTests: 1, testResults })).toEqual({
    passed: 3,
    failed: 2,
  });
});

test("every proof of the manifest is among the stages", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const proofs = Object.keys(scripts).filter((name) => name.startsWith("prove:"));
  expect(allStages("report.json").map(({ name }) => name)).toEqual([
    "format and lint",
    "types",
    "tests",
    ...proofs,
  ]);
});
