/** What commands are called with, and how they refuse what cannot be meant. */
import { describe, expect, test } from "vitest";
import { readArguments, workerArguments } from "./arguments.ts";
import { commands, options } from "./usage.ts";

const env = { HOLDFAST_STORE: "postgres://db/agents" };
const read = (line: string, given: Readonly<Record<string, string>> = env) =>
  readArguments(line.split(" ").filter(Boolean), given);

test("a worker has its defaults, and its store from the environment", () => {
  expect(read("worker ./machines.js")).toEqual({
    ...{ command: "worker", module: "./machines.js", store: "postgres://db/agents", schema: undefined },
    ...{ signals: undefined, slots: undefined, drainMs: 30_000, listen: { host: "127.0.0.1", port: 9464 } },
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
  expect(read("doctor --json --workers 3")).toMatchObject({ isJson: true, workers: 3 });
});

test("a fleet starts workers with what it was given, and without the store's address among their arguments", () => {
  const fleet = read("fleet m.js --slots 2 --drain 5s --schema a --signals postgres://direct/agents");
  const argv = workerArguments(fleet as never);
  expect(argv.join(" ")).not.toContain("postgres://db/agents");
  expect(readArguments(argv, env)).toEqual({
    ...{
      command: "worker",
      module: "m.js",
      store: env.HOLDFAST_STORE,
      schema: "a",
      slots: 2,
      drainMs: 5_000,
    },
    ...{ signals: "postgres://direct/agents", listen: undefined },
  });
});

test.each([
  ["nothing --store x", "There is no command nothing"],
  ["worker", "takes one module"],
  ["worker a.js b.js", "takes one module"],
  ["doctor a.js", "takes no a.js"],
  ["worker m.js --what", "--what"],
  ["worker m.js --slots 0", "--slots is 0"],
  ["worker m.js --slots 1.5", "--slots is 1.5"],
  ["worker m.js --drain soon", "--drain: "],
  ["worker m.js --listen 9464", "--listen is 9464"],
  ["worker m.js --listen a:99999", "--listen is a:99999"],
  ["fleet m.js --min 3 --max 2", "--min 3 is more than --max 2"],
])("%s is refused", (line, problem) => {
  expect(() => read(line)).toThrow(expect.objectContaining({ code: "COMMAND_INVALID" }));
  expect(() => read(line)).toThrow(problem);
});

test("a command without a store is refused", () => {
  expect(() => read("worker m.js", {})).toThrow("HOLDFAST_STORE");
});

describe("help", () => {
  test.each(["", "help", "--help"])("“%s” tells of every command", (line) => {
    const { text } = read(line, {}) as { text: string };
    for (const name of Object.keys(commands)) expect(text).toContain(`  ${name} `);
  });

  test.each(Object.keys(commands) as (keyof typeof commands)[])("of %s has every option it takes", (name) => {
    const { text } = read(`${name} --help`, {}) as { text: string };
    for (const option of commands[name].options) expect(text).toContain(options[option].about);
  });
});
