/** `npm run survive` and `npm run journal` as processes of their own, judged by the ledger that the agent's world keeps. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { ledgerPath } from "../examples/folder.ts";
import { readRuns } from "../examples/read-journal.ts";
import { Stage } from "../examples/stage.ts";
import { verify } from "../examples/verify.ts";
import { root } from "./project.ts";

/** What takes longer hangs. */
const hangsMs = 60_000;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
  folders.push(folder);
  return folder;
}

function run(script: string, ...options: string[]) {
  const command = ["--conditions=holdfast-source", `examples/${script}.ts`, ...options];
  return spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
}

interface Line {
  readonly tool?: string;
  readonly key?: string;
  readonly effect?: boolean;
  readonly killed?: number;
}

/** The ledger as it lies there: how often each call took effect, how often it was made, and the processes killed. */
function ledgerOf(folder: string) {
  const lines = readFileSync(ledgerPath(folder), "utf8").trim().split("\n");
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  const calls = Map.groupBy(
    parsed.filter(({ tool }) => tool !== undefined && tool !== "findPublication"),
    ({ tool, key }) => `${tool} ${key}`,
  );
  return {
    effects: [...calls.values()].map((each) => each.filter(({ effect }) => effect).length),
    of: (tool: string) => [...calls].filter(([call]) => call.startsWith(`${tool} `)).map(([, each]) => each),
    kills: parsed.flatMap(({ killed }) => killed ?? []),
  };
}

describe("npm run survive", () => {
  const folder = makeFolder();
  const { status, stdout, stderr } = run("survive", "--folder", folder);
  const ledger = ledgerOf(folder);

  test("ends well and without a complaint", () => {
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test("B4: an agent that is killed five times, each time in another process, goes on where it was and finishes", () => {
    expect(new Set(ledger.kills).size).toBe(5);
    expect(stdout.match(/↻ Resumed at step \d+/g)).toHaveLength(5);
    expect(stdout).toContain("✓ finished in published");
  });

  test("B12: each of its calls took effect once, by a ledger kept outside, though some were made again", () => {
    expect(ledger.effects).toEqual(ledger.effects.map(() => 1));
    expect(ledger.of("search")).toHaveLength(3);
    const made = ledger.of("search").map((each) => each.length);
    expect(made.filter((times) => times === 2)).toHaveLength(2);
  });

  test("B12: what must not happen twice is looked for before it is tried again", () => {
    expect(ledger.of("publish").map((each) => each.map(({ effect }) => effect))).toEqual([[false, true]]);
    expect(stdout.match(/▸ findPublication/g)).toHaveLength(2);
  });

  test("is plain text where there is no terminal, with the chart at every kill and a budget", () => {
    expect(stdout).toBe(stripVTControlCharacters(stdout));
    const frames = stdout.split("╭ researcher ✗ SIGKILL").slice(1);
    expect(frames).toHaveLength(5);
    for (const frame of frames) {
      for (const part of ["● working", "gathering ∥", "withdrawn", "process   none", "budget    steps"])
        expect(frame).toContain(part);
    }
  });

  test("refuses an approval that comes too early, and takes a repeated click once", () => {
    expect(stdout).toContain("Somebody approves too early: refused.");
    expect(stdout).toContain("The same click again: it is the same event.");
    expect(stdout).toContain("✓ a click that was repeated is one event");
  });

  test("refuses to begin where another show is on", () => {
    const taken = makeFolder();
    writeFileSync(join(taken, "pid"), String(process.pid));
    const second = run("survive", "--folder", taken);
    expect([second.status, second.stdout]).toEqual([1, ""]);
    expect(second.stderr).toBe(`Process ${process.pid} is showing the example in ${taken} already.\n`);
  });

  describe("and then npm run journal", () => {
    const journal = run("journal", "--folder", folder);
    const steps = [...journal.stdout.matchAll(/^ +(\d+) +\+\S+ \S+ {2}(\S+) (\w+)$/gm)];

    test("prints every step with its event and outcome, and the kills in between", () => {
      expect([journal.status, journal.stderr]).toEqual([0, ""]);
      expect(steps.map(([, seq]) => Number(seq))).toEqual(steps.map((_, index) => index + 1));
      expect(steps.map(([, , event, outcome]) => `${event} ${outcome}`)).toEqual(
        expect.arrayContaining([
          "start taken",
          "approve refused",
          "done.invoke.search taken",
          "approve taken",
          "done.invoke.publish taken",
        ]),
      );
      for (const pid of ledger.kills) expect(journal.stdout).toContain(`process ${pid} killed with SIGKILL`);
    });

    test("says where each step led, what it changed and asked for, and where the time went", () => {
      for (const part of [
        "in       working.approval",
        'changed  context.reserved = "report-17"',
        "effects  call search; call read",
        "why      ",
        "an event or the clock",
      ])
        expect(journal.stdout).toContain(part);
      const shares = [...journal.stdout.matchAll(/(\d+) % /g)].map(([, share]) => Number(share));
      expect(shares.length).toBeGreaterThan(3);
    });

    test("says what there is when it is asked for another run", () => {
      const other = run("journal", "--folder", folder, "question-9");
      expect([other.status, other.stderr]).toEqual([
        1,
        "There is no run question-9. There are: question-1\n",
      ]);
    });
  });
});

test("npm run journal says so when there is nothing yet", () => {
  const folder = makeFolder();
  const { status, stdout, stderr } = run("journal", "--folder", folder);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toBe(`There is no journal in ${folder} yet. Run npm run survive first.\n`);
});

describe("npm run survive -- --withdraw", () => {
  const folder = makeFolder();
  const { status, stdout } = run("survive", "--withdraw", "--folder", folder);
  const ledger = ledgerOf(folder);

  test("B12: undoes what it had done, once, although it is killed while it does", () => {
    expect([status, ledger.kills.length]).toEqual([0, 4]);
    expect(ledger.effects).toEqual(ledger.effects.map(() => 1));
    expect(ledger.of("release").map((each) => each.map(({ effect }) => effect))).toEqual([[true, false]]);
    expect(ledger.of("publish")).toEqual([]);
    expect(stdout).toContain("✓ finished in withdrawn");
  });

  test("its undoing is a run of its own, with a journal", () => {
    const undoing = /Other runs: (\S+)/.exec(run("journal", "--folder", folder).stdout)?.[1] ?? "none";
    expect(run("journal", "--folder", folder, undoing).stdout).toContain("researcher/compensation@1, done");
  });

  test("the judgement fails when the ledger has an effect twice, or a call that the journal has not", async () => {
    const failing = async () => {
      const { checks } = await verify(folder, "withdraw");
      return checks.filter(({ holds }) => !holds).map(({ what }) => what.replace(/\d+/, "N"));
    };
    expect(await failing()).toEqual([]);
    const [[made] = []] = ledger.of("plan");
    appendFileSync(ledgerPath(folder), `${JSON.stringify(made)}\n`);
    expect(await failing()).toEqual(["N calls, and each took effect exactly once"]);
    appendFileSync(ledgerPath(folder), `${JSON.stringify({ ...made, key: "question-1:99.0" })}\n`);
    expect(await failing()).toHaveLength(2);
    const published = (await verify(folder, "approve")).checks.filter(({ holds }) => holds);
    expect(published.map(({ what }) => what)).not.toContain("finished in published");
  });
});

describe("a stage", () => {
  /** A stream that keeps what is written to it. */
  function makeStream(parts: object) {
    const written: string[] = [];
    const stream = { write: (text: string) => written.push(text), ...parts } as unknown as NodeJS.WriteStream;
    return { stream, written };
  }

  test("replaces a frame by the next one on a terminal, and leaves it where it does not fit", () => {
    const { stream, written } = makeStream({ isTTY: true, rows: 4, columns: 10 });
    const stage = new Stage(stream, false);
    stage.show(["one", "two"]);
    stage.show(["three"]);
    stage.show(["much too wide for it"]);
    stage.show(["four"]);
    expect(written).toEqual(["one\ntwo\n", "\x1b[2A\x1b[J", "three\n", "much too wide for it\n\n", "four\n"]);
  });

  test("lets frames follow one another anywhere else, or when it is to be fast", () => {
    for (const [parts, fast] of [
      [{}, false],
      [{ isTTY: true, rows: 9, columns: 9 }, true],
    ] as const) {
      const { stream, written } = makeStream(parts);
      const stage = new Stage(stream, fast);
      stage.show(["one"]);
      stage.show(["two"]);
      expect(written).toEqual(["one\n\n", "two\n\n"]);
    }
  });

  test("has colours on a terminal, unless NO_COLOR is set", () => {
    const script = `import { Stage } from "./examples/stage.ts";
      const stream = { isTTY: true, write() {} };
      console.log(JSON.stringify(new Stage(stream, false).paint("good", "x")));`;
    const painted = (environment: NodeJS.ProcessEnv) =>
      execFileSync(process.execPath, ["--conditions=holdfast-source", "--input-type=module", "-e", script], {
        ...{ cwd: root, encoding: "utf8", env: { ...process.env, ...environment } },
      }).trim();
    expect(painted({ NO_COLOR: "1" })).toBe('"x"');
    expect(painted({ NO_COLOR: "" })).not.toBe('"x"');
  });
});

test("B4: the first program of the README, killed again and again wherever it is, goes on and ends as if nothing was", {
  timeout: 10 * hangsMs,
}, async () => {
  // A module of this package, so that `holdfast` is this source; git and the linter ignore the folder.
  mkdirSync(join(root, "coverage"), { recursive: true });
  const folder = mkdtempSync(join(root, "coverage", "quick-start-"));
  folders.push(folder);
  const [, code = ""] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  writeFileSync(join(folder, "agent.ts"), `${code}\nconsole.log(output);\n`);
  const live = (killAfterMs: number) =>
    spawnSync(process.execPath, ["--conditions=holdfast-source", "agent.ts"], {
      ...{ cwd: folder, encoding: "utf8", timeout: killAfterMs, killSignal: "SIGKILL" },
    });
  const ended = { status: 0, stdout: "Why does kelp hold? It grips (q-1:1.0).\n", stderr: "" };
  const begun = performance.now();
  expect(live(hangsMs)).toMatchObject(ended);
  const lastsMs = performance.now() - begun;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(folder, `agents.db${suffix}`), { force: true });
  // From before it opens its store to about its end; where exactly does not matter.
  for (let part = 4; part <= 10; part++) live(Math.ceil((lastsMs * part) / 10));
  expect(live(hangsMs)).toMatchObject(ended);
  const [record] = await readRuns(join(folder, "agents.db"));
  expect(record?.entries.map(({ event }) => event.type).sort()).toEqual([
    "approve",
    "done.invoke.thinking",
    "start",
  ]);
  // And once more, when it is long over.
  expect(live(hangsMs)).toMatchObject(ended);
});
