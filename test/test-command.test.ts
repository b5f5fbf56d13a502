/** `npm test` itself: what it counts, that it stops at a failure, and that it runs everything it should. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allStages, countReport, failuresOf, runStages, type Stage } from "../scripts/test.ts";
import { read, root } from "./project.ts";

const report = {
  ...{ numPassedTests: 3, numFailedTests: 1 },
  testResults: [
    { name: "broken.test.ts", status: "failed", message: "SyntaxError: odd\n  at 1:1", assertionResults: [] },
    {
      ...{ name: "failing.test.ts", status: "failed" },
      assertionResults: [
        {
          fullName: "a sum is right",
          status: "failed",
          failureMessages: ["AssertionError: expected 2 to be 3\n- 3"],
        },
        { fullName: "a sum is there", status: "passed" },
      ],
    },
  ],
};

const stage = (name: string, code: string): Stage => ({ name, command: ["-e", code] });
const good = (name: string) => stage(name, "");
const bad = (name: string) => stage(name, "process.exit(1)");

async function run(stages: readonly Stage[], { atOnce = 1, folder = root } = {}) {
  const said: string[] = [];
  const count = await runStages(stages, {
    folder,
    atOnce,
    graceMs: 100,
    say: (line) => void said.push(line),
  });
  return { count, said };
}

/** A stage that says its letter and waits until the other one has begun, then says it again. */
function meeting(name: string, other: string, folder: string): Stage {
  const [mine, theirs] = [name, other].map((one) => JSON.stringify(join(folder, one)));
  const code = `console.log("${name}1"); fs.writeFileSync(${mine}, "");
    const timer = setInterval(() => { if (fs.existsSync(${theirs})) { console.log("${name}2"); clearInterval(timer); } }, 5);`;
  return stage(name, code);
}

/** Runs with a folder that is removed. */
async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-report-"));
  await work(folder).finally(() => rmSync(folder, { recursive: true }));
}

test("each stage that succeeds counts one", async () => {
  expect((await run([good("one"), good("two")])).count).toEqual({ passed: 2, failed: 0 });
});

test("the first failure stops the rest and says what was not run", async () => {
  const { count, said } = await run([good("one"), bad("two"), good("three"), good("four")]);
  expect(count).toEqual({ passed: 1, failed: 1 });
  expect(said.at(-2)).toContain("two failed");
  expect(said.at(-1)).toContain("Not run: three, four");
});

test("a stage that is killed or cannot be found has failed", async () => {
  expect((await run([stage("killed", "process.kill(process.pid)")])).count.failed).toBe(1);
  expect((await run([good("nowhere")], { folder: join(root, "nowhere") })).count.failed).toBe(1);
});

/** Begins a process that never ends and keeps hold of the stage's output, so that the stage closes only when it is gone. */
const leaveBehind = `child_process.spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });`;

test("a stage that hangs is ended with all it began, and has failed", async () => {
  const { count, said } = await run([{ ...stage("hanging", leaveBehind), limitMs: 2_000 }, good("other")]);
  expect(count).toEqual({ passed: 0, failed: 1 });
  expect(said[0]).toContain("hanging failed: it was ended after 2 s");
});

test("what a stage leaves behind is ended, and holds nothing up", async () => {
  const { count } = await run([stage("leaving", `${leaveBehind} process.exit();`)]);
  expect(count).toEqual({ passed: 1, failed: 0 });
});

test("stages run side by side, and what each of them says is shown whole", async () => {
  await withFolder(async (folder) => {
    const { count, said } = await run([meeting("a", "b", folder), meeting("b", "a", folder)], { atOnce: 2 });
    expect(count).toEqual({ passed: 2, failed: 0 });
    expect(said.toSorted().map((text) => text.match(/[ab][12]/g))).toEqual([
      ["a1", "a2"],
      ["b1", "b2"],
    ]);
  });
});

test("what a stage says of its errors is shown, and how far it has come is not", async () => {
  const talking = stage("talking", 'console.error("\\r10 worlds\\r20 worlds"); console.error("a warning");');
  const { said } = await run([talking]);
  expect(said.join("\n")).toContain("a warning");
  expect(said.join("\n")).not.toContain("worlds");
});

test("a stage beside one that fails comes to its end and counts, and no other is begun", async () => {
  await withFolder(async (folder) => {
    const told = join(folder, "told");
    const waiting = stage(
      "waiting",
      `setInterval(() => fs.existsSync(${JSON.stringify(told)}) && process.exit(), 5);`,
    );
    const said: string[] = [];
    const say = (line: string) => {
      said.push(line);
      if (line.includes("failing failed")) writeFileSync(told, "");
    };
    const count = await runStages([waiting, bad("failing"), good("third")], { folder: root, atOnce: 2, say });
    expect(count).toEqual({ passed: 1, failed: 1 });
    expect(said.at(-1)).toContain("Not run: third");
  });
});

test("a stage that must be alone begins after all before it and ends before all after it", async () => {
  await withFolder(async (folder) => {
    const log = join(folder, "log");
    const logging = (name: string): Stage => {
      const write = (word: string) => `fs.appendFileSync(${JSON.stringify(log)}, "${word} ${name}\\n");`;
      return stage(name, `${write("begins")} setTimeout(() => { ${write("ends")} }, 50);`);
    };
    const alone = { ...logging("alone"), isAlone: true } as const;
    await run([logging("a"), logging("b"), alone, logging("c"), logging("d")], { atOnce: 2 });
    const lines = readFileSync(log, "utf8").trim().split("\n");
    expect(lines.slice(4, 6)).toEqual(["begins alone", "ends alone"]);
    expect(lines).toHaveLength(10);
  });
});

test("a stage with a report counts its tests, and fails if it exits badly all the same", async () => {
  await withFolder(async (folder) => {
    const report = join(folder, "report.json");
    const figures = JSON.stringify({ numPassedTests: 7, numFailedTests: 0, testResults: [] });
    const write = `fs.writeFileSync(${JSON.stringify(report)}, ${JSON.stringify(figures)});`;
    const reporting = (code: string): Stage => ({ ...stage("tests", write + code), report });
    expect((await run([reporting("")])).count).toEqual({ passed: 7, failed: 0 });
    expect((await run([reporting("process.exit(1)")])).count).toEqual({ passed: 7, failed: 1 });
  });
});

test("a test file that breaks before its first test counts as a failure", () => {
  expect(countReport(report)).toEqual({ passed: 3, failed: 2 });
});

test("what failed is named again in a line each, behind all other output", async () => {
  const failures = [
    "✗ broken.test.ts: SyntaxError: odd",
    "✗ failing.test.ts > a sum is right: AssertionError: expected 2 to be 3",
  ];
  expect(failuresOf(report)).toEqual(failures);
  await withFolder(async (folder) => {
    const path = join(folder, "report.json");
    writeFileSync(path, JSON.stringify(report));
    const { said } = await run([{ ...bad("tests"), report: path }, good("other")]);
    expect(said.slice(-3)).toEqual([...failures, "\nNot run: other"]);
  });
});

/** It takes minutes, most of them for packages. */
const apart = ["prove:image"];

test("every proof of the manifest is among the stages, save those that are run by themselves", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const proofs = Object.keys(scripts).filter((name) => name.startsWith("prove:"));
  const [format, types, ofStudio, tests, endToEnd, ...rest] = allStages("reports").map(({ name }) => name);
  expect([format, types, ofStudio]).toEqual(["format and lint", "types", "types of Studio"]);
  expect([tests, endToEnd]).toEqual(["tests", "test:e2e"]);
  // One that is run in two ways is two stages.
  const proven = new Set(rest.map((name) => name.split(" ")[0]));
  expect([...proven, ...apart].toSorted()).toEqual(proofs.toSorted());
});
