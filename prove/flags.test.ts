/** The command lines of proofs: what they take is told, and what cannot be meant is refused before anything begins. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { read } from "../test/project.ts";
import { given, helpOf, number, oneBug, oneOf, text, valuesOf } from "./flags.ts";

const bugs = [{ name: "one", lines: 1 }];
const flags = {
  seed: number("where to begin", 1),
  half: number("how much", undefined, { least: 0.5, isWhole: false }),
  part: oneOf("which", ["a", "b"], "a"),
  only: text("these", "NAME"),
  bug: oneBug("plants one", bugs),
  all: given("all of it"),
};

test("flags have their values, or what holds without them", () => {
  const nothing = { seed: 1, half: undefined, part: "a", only: undefined, bug: undefined, all: false };
  expect(valuesOf(flags, [])).toEqual(nothing);
  const args = ["--seed", "7", "--half=0.5", "--part", "b", "--only", "x y", "--bug", "one", "--all"];
  expect(valuesOf(flags, args)).toEqual({
    ...{ seed: 7, half: 0.5, part: "b", only: "x y", bug: bugs[0], all: true },
  });
});

test.each([
  [["--sede", "1"], "There is no --sede"],
  [["--toString", "1"], "There is no --toString"],
  [["7"], '"7" means nothing here'],
  [["--seed"], "--seed wants N"],
  [["--seed", "1.5"], '--seed must be a whole number of at least 0; it is "1.5"'],
  [["--seed", "-1"], "--seed"],
  [["--seed="], '--seed must be a whole number of at least 0; it is ""'],
  [["--half", "0.4"], '--half must be a number of at least 0.5; it is "0.4"'],
  [["--part", "c"], '--part must be one of: a, b; it is "c"'],
  [["--bug", "two"], '--bug must be one of: one; it is "two"'],
  [["--all=yes"], "--all takes no value"],
])("%j is refused", (args, why) => {
  expect(() => valuesOf(flags, args)).toThrow(why);
});

test("help says what each takes, and what holds without it", () => {
  expect(helpOf("some", "What it shows.", flags)).toBe(`npm run prove:some -- [flags]
What it shows.

  --seed N     where to begin (1)
  --half N     how much
  --part a|b   which (a)
  --only NAME  these
  --bug NAME   plants one
  --all        all of it`);
});

describe("every proof", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const names = Object.keys(scripts).flatMap((name) => (name.startsWith("prove:") ? [name.slice(6)] : []));
  const run = (name: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, ["--conditions=holdfast-source", `prove/${name}.ts`, ...args]);

  test.each(names)(
    "prove:%s refuses what it does not take, and says how to see what it does",
    async (name) => {
      const why = `prove:${name}: There is no --nonsense. \`npm run prove:${name} -- --help\` lists what it takes.\n`;
      await expect(run(name, "--nonsense", "1")).rejects.toMatchObject({ code: 2, stdout: "", stderr: why });
    },
  );

  test("is told of by --help", async () => {
    const { stdout } = await run("restore", "--help");
    expect(stdout).toMatch(/^npm run prove:restore -- \[flags\]\nA backup .+\n\n {2}--events N /s);
  });
});
