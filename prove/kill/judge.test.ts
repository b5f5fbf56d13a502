/** The judgement over killed processes, shown to see what it is there to see. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, type Run } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { judge } from "./judge.ts";
import { byLine, Ledger, moment } from "./ledger.ts";
import { machineEntries, machines, type RunId } from "./machines.ts";

let folder: string;
let path: string;
let ledger: Ledger;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-judge-"));
  path = join(folder, "victim.db");
  ledger = new Ledger();
  await live();
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A short life that ends while things are pending. */
async function live(): Promise<void> {
  const hear = (line: string) => void ledger.read(line, Date.now());
  const runtime = await createRuntime({ store: sqlite(path), machines: machineEntries(hear) });
  const runs = {} as Record<RunId, Run>;
  for (const id of Object.keys(machines) as RunId[])
    runs[id] = (await runtime.start(machines[id] as never, { id })) as unknown as Run;
  const send = async (id: RunId, type: string, n: number) => {
    await runs[id].send(type, n, { key: `${type} ${n}` });
    hear(`acked ${id} ${type} ${n}`);
  };
  for (let n = 0; n < 3; n++) await send("count", "add", n);
  await runs.count.send("call");
  await runs.count.waitFor("open");
  const { context } = await runs.count.state();
  hear(`answered ${(context as { answers: string[] }).answers[0]} ${moment()}`);
  await send("mail", "mail", 0);
  await runs.mail.waitFor("idle");
  await send("ping", "serve", 0);
  await send("boss", "delegate", 0);
  await Promise.all([send("nap", "nap", 0), send("nap", "later", 0), send("nap", "later", 1)]);
  await runtime.close();
}

const problemsWith = async (change: () => void): Promise<string> => {
  change();
  return (await judge(path, ledger)).problems.join("\n");
};

function sql(text: string): void {
  const database = new DatabaseSync(path);
  database.exec(text);
  database.close();
}

test("a store that was left in the middle goes on by itself, and has nothing against it", async () => {
  const { problems, figures } = await judge(path, ledger);
  expect(problems).toEqual([]);
  expect(figures).toMatchObject({ children: 1, timers: 2 });
});

test("K1: an acknowledged event that is not there is lost", async () => {
  expect(await problemsWith(() => ledger.read("acked count add 3", 0))).toContain("K1: count lost add 3");
  expect(await problemsWith(() => sql("DELETE FROM run WHERE run = 'ping'"))).toContain(
    "K1: the whole run ping is lost",
  );
});

test("K2: an event that came of nothing, or that came twice, is seen", async () => {
  expect(
    await problemsWith(() =>
      sql(
        "DELETE FROM entry WHERE run_id = (SELECT id FROM run WHERE run = 'pong') AND seq > 1; DELETE FROM inbox",
      ),
    ),
  ).toContain("K2: ping serve was taken 1 times and led to 1,0,");
});

test("K3: a tool that is called again after its answer was durable, or whose answer vanished, is seen", async () => {
  const [key] = ledger.answered.keys();
  expect(await problemsWith(() => ledger.read(`tool ${key} ${moment()}`, 0))).toContain("called again");
  expect(await problemsWith(() => ledger.read(`answered count:99.0 ${moment()}`, 0))).toContain(
    "K1: the answer of count:99.0",
  );
  expect(await problemsWith(() => ledger.tools.clear())).toContain("K3: an answer of");
});

test("K3: calls of a tool are told from its answer by when they were, whichever process is heard first", () => {
  const problemsOf = (...lines: readonly string[]): readonly string[] => {
    const ledger = new Ledger();
    for (const line of lines) ledger.read(line, 0);
    return ledger.problems;
  };
  // The tool and whoever waits for its answer may be in two processes, and what these say is heard in any order.
  expect(problemsOf("answered count:6.0 30", "tool count:6.0 10", "tool count:6.0 20")).toEqual([]);
  const again = ["the tool was called again for count:6.0 after its answer was durable"];
  expect(problemsOf("tool count:6.0 10", "answered count:6.0 30", "tool count:6.0 40")).toEqual(again);
  expect(problemsOf("tool count:6.0 40", "tool count:6.0 10", "answered count:6.0 30")).toEqual(again);
  expect(() => problemsOf("tool count:6.0")).toThrow("does not say when");
});

test("K4: a tool that may happen once and began twice, or never, is seen", async () => {
  const [key] = ledger.posts.keys();
  expect(await problemsWith(() => ledger.read(`post ${key}`, 0))).toContain(`K4: ${key} was begun 2 times`);
  expect(await problemsWith(() => ledger.posts.clear())).toContain(`K4: ${key} is told to be done`);
});

test("K5: a timer that was heard before it was due is early", async () => {
  expect(await problemsWith(() => ledger.woke.set(0, 1))).toContain(
    "K5: nap 0 was heard to be over before it was",
  );
});

test("K7: a journal that was changed, or has a gap, is seen", async () => {
  const damaged = problemsWith(() =>
    sql("DELETE FROM entry WHERE seq = 2 AND run_id = (SELECT id FROM run WHERE run = 'count')"),
  );
  await expect(damaged).rejects.toMatchObject({ code: "STORE_CORRUPT" });
});

test("K13: a run that is removed before anybody sent it to its end is seen, unless it is the fork of one that was", () => {
  const removals = (...lines: readonly string[]): readonly string[] => {
    const ledger = new Ledger();
    for (const line of lines) ledger.read(line, 0);
    return ledger.chronicle.problems;
  };
  expect(removals("forking b a 3 alike", "ending a", "removed b")).toEqual([
    "K13: b was removed and had not ended",
  ]);
  expect(removals("ending a", "forking b a 3 alike", "forking c b 4 edited", "removed c")).toEqual([]);
});

test("a line that its writer did not finish is not told", () => {
  const lines: string[] = [];
  const hear = byLine((line) => lines.push(line));
  for (const text of ["acked a", " b 1\nack", "ed a b 2\nacked a b"]) hear(text);
  expect(lines).toEqual(["acked a b 1", "acked a b 2"]);
});
