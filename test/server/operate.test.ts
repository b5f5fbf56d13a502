/** What operators and developers do: travel, upload, steer, look why something waits, and read figures. */
import { expect, test } from "vitest";
import { readUploads } from "../../src/server/uploads.ts";
import { openHouse } from "./house.ts";

test("D1: a run is taken back and forked with an edited context, after a look at what that would do", async () => {
  const { client } = await openHouse();
  await client.runs.start({ machine: "counter", run: "a" });
  await client.runs.send({ run: "a", events: [{ type: "add", data: 2 }, { type: "nap" }], wait: "handled" });
  const preview = await client.runs.travel({ run: "a", at: 2, kind: "rollback" });
  expect(preview).toMatchObject({ configuration: ["open"], begins: [], cancels: [{ kind: "timer" }] });
  expect(await client.runs.rollback({ run: "a", to: 2 })).toMatchObject({
    seq: 4,
    run: { configuration: ["open"] },
  });
  const fork = await client.runs.fork({ run: "a", at: 2, fork: "b", context: { n: 40 } });
  expect(fork).toMatchObject({ run: "b", fork: { run: "a", seq: 2 } });
  expect((await client.runs.state({ run: "b" })).state.context).toEqual({ n: 40 });
  expect((await client.runs.show({ run: "a" })).forks).toEqual([{ run: "b", seq: 2 }]);
  const { patches } = await client.runs.diff({ run: "a", from: 1, to: 2 });
  expect(patches).toContainEqual({ op: "set", path: ["context", "n"], value: 2 });
  expect((await client.runs.changed({ run: "a", path: "$.n" })).change?.entry.event.type).toBe("add");
  expect(await client.runs.compare({ one: "a", other: "b" })).toMatchObject({ common: 2 });
});

test("D1: a machine that is data is uploaded with every problem listed, runs, and is kept for the next start", async () => {
  const activities = { ring: () => "rung" };
  const { client, store } = await openHouse({ activities });
  const source =
    "id: bell\ninitial: quiet\nstates:\n  quiet:\n    on: { push: ringing }\n  ringing:\n    invoke: { activity: ring, onDone: quiet }\n";
  const wrong = source.replace("ringing }", "nowhere }").replace("activity: ring,", "activity: sing,");
  const tried = await client.machines.upload({ source: wrong, dryRun: true });
  expect(tried).toMatchObject({ isValid: false, isNew: false });
  expect(tried.problems.map(({ path }) => path)).toContain("states.quiet.on.push");
  await expect(client.machines.upload({ source: wrong })).rejects.toMatchObject({ code: "MACHINE_INVALID" });
  const sung = await client.machines.upload({
    source: source.replace("activity: ring,", "activity: sing,"),
    dryRun: true,
  });
  expect(sung.problems[0]?.message).toContain("this server has ring");
  expect(await client.machines.upload({ source })).toMatchObject({
    machine: "bell",
    version: 1,
    isNew: true,
  });
  expect(await client.machines.upload({ source })).toMatchObject({ isNew: false });
  await client.runs.start({ machine: "bell", run: "b" });
  await client.runs.send({ run: "b", events: [{ type: "push" }], wait: "handled" });
  await expect.poll(async () => (await client.runs.show({ run: "b" })).configuration).toEqual(["quiet"]);
  const { chart, source: from } = await client.machines.show({ machine: "bell" });
  expect(from).toBe("uploaded");
  expect(chart.transitions.map(({ source: at, targets, label }) => [at, targets, label])).toEqual([
    ["quiet", ["ringing"], "push"],
    ["ringing", ["quiet"], "done ringing"],
  ]);
  const kept = await readUploads(store, activities, () => {});
  expect(kept.map(({ machine }) => `${machine.id}@${machine.version}`)).toEqual(["bell@1"]);
  const problems: unknown[] = [];
  expect(await readUploads(store, {}, (problem) => problems.push(problem))).toEqual([]);
  expect(problems).toMatchObject([{ code: "MACHINE_INVALID" }]);
});

test("G4: why a run waits is told in one line: an activity that fails, a parked run, an end", async () => {
  const { client } = await openHouse({
    tool: () => {
      throw new Error("The line is busy");
    },
  });
  await client.runs.start({ machine: "caller", run: "c" });
  const line = async (run: string) => (await client.runs.show({ run })).waiting.line;
  await expect
    .poll(() => line("c"))
    .toMatch(/^waits for tool: attempt 1 of 9 failed, the next at .*, last error: The line is busy$/);
  await client.runs.start({ machine: "counter", run: "a" });
  await client.runs.pause({ run: "a" });
  expect(await line("a")).toBe("is parked: Somebody paused the run");
  expect((await client.runs.list({ stuck: true })).runs).toMatchObject([
    { run: "a", stuck: { why: "parked" } },
  ]);
  const tried = await client.runs.bulk({ action: "retry", filter: { stuck: true }, dryRun: true });
  expect(tried).toMatchObject({ matched: 1, done: 0, runs: [{ run: "a", outcome: "would" }] });
  const done = await client.runs.bulk({ action: "retry", filter: { stuck: true } });
  expect(done).toMatchObject({ matched: 1, done: 1 });
  await client.runs.send({ run: "a", events: [{ type: "end" }] });
  expect(await line("a")).toBe("has ended: done");
});

test("E1: the overview and the metrics tell of throughput, failures by kind, and latencies", async () => {
  const { client } = await openHouse();
  await client.runs.start({ machine: "counter", run: "a" });
  for (const type of ["wrong", "wrong", "nap"])
    await client.runs.send({ run: "a", events: [{ type }], wait: "handled" });
  const overview = await client.operations.overview();
  expect(overview.throughput.buckets.at(-1)).toMatchObject({ steps: 4, started: 1, failures: 2 });
  expect(overview.failures).toMatchObject([
    { kind: "refused", name: "EVENT_UNKNOWN", count: 2, lastRun: "a" },
  ]);
  expect(overview.server?.latency.commits?.count).toBeGreaterThan(2);
  expect(overview.queue).toEqual({ due: 0, isMore: false, oldestMs: 0 });
  const text = (await client.health.metrics()) as string;
  for (const line of [
    "holdfast_up 1",
    "holdfast_steps_total 4",
    "holdfast_failures_total 2",
    "holdfast_streams 0",
  ])
    expect(text).toContain(`\n${line}\n`);
  for (const line of text.trimEnd().split("\n"))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"\})? -?[\d.e+-]+)$/);
});

test("G4: dead letters are listed, sent again and discarded", async () => {
  const { client } = await openHouse();
  await client.runs.start({ machine: "counter", run: "a" });
  await client.runs.send({ run: "a", events: [{ type: "tell" }, { type: "tell" }], wait: "handled" });
  await expect.poll(async () => (await client.deadLetters.list()).letters.length).toBe(2);
  const { letters, next } = await client.deadLetters.list({ limit: 1 });
  expect(letters).toMatchObject([{ run: "nobody", reason: "missing", event: { type: "add" } }]);
  const first = letters[0]?.number as number;
  await client.deadLetters.redeliver({ number: first, to: "a" });
  await expect.poll(async () => (await client.runs.state({ run: "a" })).state.context).toEqual({ n: 1 });
  const rest = await client.deadLetters.list({ after: next as number });
  await client.deadLetters.discard({ number: rest.letters[0]?.number as number });
  expect((await client.deadLetters.list()).letters).toEqual([]);
  await expect(client.deadLetters.discard({ number: first })).rejects.toMatchObject({
    code: "LETTER_UNKNOWN",
  });
});
