/** Commands that are called wrongly: each ends with 2 and says what is wrong and what to do, in the words of whoever called. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute } from "../../src/cli/command.ts";
import { root } from "../project.ts";
import { stillWorld } from "./read-command.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-misuse-"));
const place = ["--store", join(folder, "s.db"), "--module", join(folder, "machines.ts")];
const command = [
  process.execPath,
  "--conditions=holdfast-source",
  "--no-warnings",
  join(root, "src/cli/main.ts"),
];

async function told(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { world, said } = stillWorld(env);
  const code = await execute(argv, { ...world, cwd: folder, stop: new AbortController().signal });
  return { code, ...said };
}

beforeAll(async () => {
  const entry = JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href);
  writeFileSync(
    join(folder, "machines.ts"),
    `import { defineMachine } from ${entry};
     const ask = (version) => defineMachine({
       id: "ask", version, start: () => ({ euros: 1 }), initial: "asking",
       invariants: { aboveZero: ({ context }) => context.euros > 0 },
       states: {
         asking: { approval: { onApproved: "done", onRejected: "done" } },
         done: { type: "final" },
         ...(version === 2 ? { newer: {} } : {}),
       },
     });
     export default [ask(1), ask(2)];`,
  );
  writeFileSync(join(folder, "bad.json"), "{oops");
  writeFileSync(join(folder, "list.json"), "[1]");
  mkdirSync(join(folder, "d.json"));
  await told(["db", "migrate", "--store", join(folder, "s.db")]);
  await told(["runs", "start", "ask", "--id", "a-1", ...place]);
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [["runs", "list", "--status", "bogus"], "--status is bogus; there are active, parked"],
  [["runs", "diff", "a-1", "abc"], "abc is no checkpoint"],
  [
    ["runs", "rollback", "a-1", "--by", "5", "--dry-run"],
    "a-1 is at checkpoint 1; it can be taken back by 0 at most",
  ],
  [["runs", "fork", "a-1", "--context", "nofile.json"], "--context: there is no file"],
  [["runs", "fork", "a-1", "--context", "bad.json"], "has no JSON in it"],
  [["runs", "fork", "a-1", "--context", "list.json"], "has no object in it"],
  [["runs", "fork", "a-1", "--context", "bad.json", "--dry-run"], "has no JSON in it"],
  [["keys", "create", ""], "The name is empty"],
  [
    ["runs", "cancel", "a-1", "--as", "ada", "--url", "http://127.0.0.1:1"],
    "--as goes with --store; at the server http://127.0.0.1:1 the key says who does it",
  ],
  [["keys", "create", "ci", "--expires", "0s"], "--expires is 0"],
])("F5: %j is a wrong call, and says what to do", async (argv, words) => {
  const { code, out, err } = await told([...argv, ...place]);
  expect([code, out, err]).toEqual([2, "", expect.stringContaining(words)]);
});

test.each([
  [["machines", "validate", "no.ts"], "there is no file"],
  [["machines", "validate", "no.yaml"], "there is no file"],
  [["machines", "validate", "d.json/"], "is no file; name one, not a folder"],
  [["init", "bad.json"], "bad.json is a file"],
  [["bogus"], "unknown command 'bogus'; see holdfast --help"],
  [["runs", "bogus"], "unknown command 'bogus'; see holdfast runs --help"],
  [["runs", "show", "--bogus"], "see holdfast runs show --help"],
])("F5: %j is a wrong call wherever it is called", async (argv, words) => {
  const { code, out, err } = await told(argv);
  expect([code, out, err]).toEqual([2, "", expect.stringContaining(words)]);
});

test("F5: a group of commands without one of them shows which there are, and nothing else", async () => {
  const { code, err } = await told(["runs"]);
  expect([code, err]).toEqual([2, expect.stringContaining("Commands:")]);
  expect(err).not.toContain("COMMAND_INVALID");
});

test("F5: a key that cannot be one is not sent, and a server that is away is told with what was behind it", async () => {
  const argv = ["runs", "list", "--url", "http://127.0.0.1:9"];
  const key = await told(argv, { HOLDFAST_KEY: "ключ" });
  expect([key.code, key.err]).toEqual([2, expect.stringContaining("characters that no key has")]);
  const away = await told(["runs", "list", "--url", "http://127.0.0.1:59999"]);
  expect([away.code, away.err]).toEqual([1, expect.stringContaining("(connect ECONNREFUSED")]);
});

test("F5: what is not there is told with how to find what is", async () => {
  const run = await told(["runs", "show", "nobody", ...place]);
  expect([run.code, run.err]).toEqual([
    1,
    expect.stringContaining("holdfast runs list tells which there are"),
  ]);
  const key = await told(["keys", "revoke", "none", ...place]);
  expect([key.code, key.err]).toEqual([
    1,
    expect.stringContaining("holdfast keys list tells which there are"),
  ]);
});

test("F5: what a machine would refuse to go on with is told on trial, and refused without", async () => {
  const edit = ["--set", "euros=-5", ...place];
  const trial = await told(["runs", "fork", "a-1", "--dry-run", ...edit]);
  expect([trial.code, trial.out]).toEqual([0, expect.stringMatching(/It cannot: .*aboveZero/)]);
  for (const way of [["fork"], ["rollback", "--to", "1"]]) {
    const [name = "", ...rest] = way;
    expect(await told(["runs", name, "a-1", ...rest, ...edit])).toMatchObject({
      code: 1,
      err: expect.stringContaining("aboveZero"),
    });
  }
});

test("a machine in several versions is drawn in its newest, or in the one that is asked for", async () => {
  const drawn = (...more: string[]) => told(["machines", "diagram", "machines.ts", ...more]);
  expect((await drawn()).out).toContain("newer");
  expect((await drawn("--machine", "ask")).out).toContain("newer");
  expect((await drawn("--machine-version", "1")).out).not.toContain("newer");
  expect(await drawn("--machine-version", "3")).toMatchObject({
    code: 2,
    err: expect.stringContaining("it has ask@1, ask@2"),
  });
});

test("a simulation in which a line cannot be taken ends with 1", async () => {
  const simulate = (...lines: string[]) => told(["machines", "simulate", "machines.ts", ...lines]);
  expect((await simulate("done nothing")).code).toBe(1);
  expect((await simulate("approve")).code).toBe(0);
});

test("G5: a project in a folder with no letter that npm takes has a name that it takes", async () => {
  const { code, out } = await told(["init", "日本語", "--json"]);
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ store: "sqlite" })]);
  const { name } = JSON.parse(readFileSync(join(folder, "日本語/package.json"), "utf8")) as { name: string };
  expect(name).toBe("my-agent");
});

describe("in a shell", () => {
  const bash = (script: string) =>
    spawnSync("bash", ["--norc", "--noprofile", "-c", script], { encoding: "utf8", cwd: folder });

  test("whoever stops reading ends a command without a word", () => {
    // It goes on after its first line, since it waits for input: only then is it told that nobody reads.
    const line = [...command, "machines", "simulate", "machines.ts"].join(" ");
    const { stdout, stderr } = bash(`printf '+1s\\n+1s\\n' | ${line} | true; echo "\${PIPESTATUS[1]}"`);
    expect([stdout, stderr]).toEqual(["0\n", ""]);
  });

  test("completion goes on after arguments and values of options", async () => {
    const script = join(folder, "completion.bash");
    writeFileSync(script, (await told(["completion", "bash"])).out);
    const complete = (...words: string[]) =>
      bash(
        `source ${script}; COMP_WORDS=(holdfast ${words.join(" ")}); COMP_CWORD=${words.length}; _holdfast; echo "\${COMPREPLY[*]}"`,
      ).stdout;
    expect(complete("runs", "show", "e-1", "--wa")).toBe("--watch\n");
    expect(complete("runs", "list", "--status", "done", "--li")).toBe("--limit\n");
    expect(complete("runs", "roll")).toBe("rollback\n");
  });
});
