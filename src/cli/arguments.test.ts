/** What commands are called with, and how they refuse what cannot be meant. */
import { describe, expect, test } from "vitest";
import { everyCommand, readCommand, stillWorld } from "../../test/cli/read-command.ts";
import { execute } from "./command.ts";
import { exit } from "./exit.ts";
import { workerArguments } from "./fleet.ts";

const env = { HOLDFAST_STORE: "postgres://db/agents" };
const wordsOf = (line: string) => line.split(" ").filter(Boolean);
const read = (line: string, given: Readonly<Record<string, string>> = env) =>
  readCommand(wordsOf(line), given);

test("a worker has its defaults, and its store from the environment", () => {
  expect(read("worker ./machines.js")).toEqual({
    ...{ module: "./machines.js", store: "postgres://db/agents", schema: undefined },
    ...{ signals: undefined, slots: undefined, drainMs: 30_000, listen: { host: "127.0.0.1", port: 9464 } },
    ...{ log: "off", trace: false },
  });
});

test("what is given goes before the defaults", () => {
  const line = "worker m.js --store runs.db --slots 4 --drain 1m --listen [::1]:80 --signals off --schema a";
  expect(read(line)).toMatchObject({
    ...{ store: "runs.db", slots: 4, drainMs: 60_000, listen: { host: "::1", port: 80 } },
    ...{ signals: false, schema: "a" },
  });
  expect(read("worker m.js --listen off")).toMatchObject({ listen: undefined });
  expect(read("fleet m.js --min 2 --max 2 --every 1s --cool-down 5s")).toMatchObject({
    ...{ min: 2, max: 2, everyMs: 1_000, coolDownMs: 5_000 },
  });
  expect(read("doctor --json --workers 3")).toMatchObject({ json: true, workers: 3 });
});

test("a fleet starts workers with what it was given, and without the store's address among their arguments", () => {
  const line =
    "fleet m.js --slots 2 --drain 5s --schema a --signals postgres://direct/agents --log warn --trace";
  const fleet = read(line);
  const argv = workerArguments(fleet as never);
  expect(argv.join(" ")).not.toContain("postgres://db/agents");
  expect(readCommand(argv, env)).toEqual({
    ...{
      module: "m.js",
      store: env.HOLDFAST_STORE,
      schema: "a",
      slots: 2,
      drainMs: 5_000,
    },
    ...{ signals: "postgres://direct/agents", listen: undefined, log: "warn", trace: true },
  });
  const deaf = workerArguments(read("fleet m.js --signals off --json") as never);
  expect(readCommand(deaf, env)).toMatchObject({ signals: false, json: true });
});

test.each([
  ["nothing", "unknown command 'nothing'"],
  ["worker", "missing required argument 'module'"],
  ["worker a.js b.js", "too many arguments"],
  ["doctor a.js", "too many arguments"],
  ["worker m.js --what", "--what"],
  ["worker m.js --slots 0", "--slots is 0"],
  ["worker m.js --slots 1.5", "--slots is 1.5"],
  ["worker m.js --drain soon", "--drain: "],
  ["worker m.js --log loud", "Allowed choices are debug, info, warn, error, off"],
  ["worker m.js --listen 9464", "--listen is 9464"],
  ["worker m.js --listen a:99999", "--listen is a:99999"],
  ["fleet m.js --min 3 --max 2", "--min 3 is more than --max 2"],
])("%s is refused", async (line, problem) => {
  const { world, said } = stillWorld(env);
  expect(await execute(wordsOf(line), world)).toBe(exit.misused);
  expect(said.err).toContain(problem);
  expect(said.err).toMatch(/^holdfast: COMMAND_INVALID: .+\n$/);
});

test("a command without a store is refused", () => {
  expect(() => read("worker m.js", {})).toThrow("HOLDFAST_STORE");
});

test("whoever reads JSON is told in JSON what is wrong", async () => {
  const { world, said } = stillWorld();
  expect(await execute(["doctor", "--json"], world)).toBe(exit.misused);
  expect(JSON.parse(said.err)).toEqual({
    error: { code: "COMMAND_INVALID", message: expect.stringContaining("No store was given") },
  });
});

describe("help", () => {
  test.each(["", "help", "--help"])("“%s” tells of every command", async (line) => {
    const { world, said } = stillWorld();
    expect(await execute(wordsOf(line), world)).toBe(exit.done);
    for (const { name } of everyCommand()) expect(said.out).toContain(`  ${name.split(" ")[0]} `);
  });

  test.each(everyCommand())(
    "of $name begins with examples and has every option",
    async ({ name, command }) => {
      const { world, said } = stillWorld();
      expect(await execute([...wordsOf(name), "--help"], world)).toBe(exit.done);
      if (command.commands.length === 0) expect(said.out).toMatch(new RegExp(`^  \\$ holdfast ${name}`));
      const text = said.out.replace(/\s+/g, " ");
      for (const { long, description } of command.options) {
        expect(text).toContain(long);
        expect(description).not.toBe("");
        expect(text).toContain(description.replace(/\s+/g, " "));
      }
    },
  );
});
