/** What PostgreSQL cannot keep: one run suffers for it, and nobody else. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRuntime, defineMachine } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { createDatabase, type Database } from "./database.ts";

let database: Database;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database?.drop());

const odd = "a tool\0with half a name";
const caller = defineMachine({
  id: "caller",
  initial: "open",
  states: {
    open: { on: { go: "calling", note: { update: () => {} } } },
    calling: { invoke: { activity: odd, onDone: "done" } },
    done: { type: "final" },
  },
});

test("G4: a run whose step cannot be kept is parked, those of the same commit and all others go on", async () => {
  const problems: unknown[] = [];
  const runtime = await createRuntime({
    ...{ store: postgres(database.url), machines: [{ machine: caller, activities: { [odd]: () => 1 } }] },
    onProblem: (problem) => void problems.push(problem),
  });
  const ids = ["a", "b", "c"];
  const [a, ...others] = await Promise.all(ids.map((id) => runtime.start(caller, { id })));
  const sent = a?.send("go");
  const noted = others.map((run) => run.send("note"));
  await expect(sent).rejects.toMatchObject({ code: "VALUE_UNSTORABLE" });
  for (const receipt of await Promise.all(noted))
    expect(await receipt.handled()).toMatchObject({ seq: 2, outcome: "taken" });
  await expect.poll(async () => (await a?.head())?.status).toBe("parked");
  expect((await a?.state())?.configuration).toEqual(["open"]);
  expect(problems).toMatchObject([{ run: "a", error: { code: "VALUE_UNSTORABLE" } }]);
  await a?.retry();
  expect(await (await a?.send("note"))?.handled()).toMatchObject({ outcome: "taken" });
  await runtime.close();
});

test("G4: what waits in the inbox of such a run does not end one process after another", async () => {
  const machines = [{ machine: caller, activities: { [odd]: () => 1 } }];
  const client = await createRuntime({ store: postgres(database.url), machines, role: "client" });
  const run = await client.start(caller, { id: "waiting" });
  await run.send("go");
  const worker = await createRuntime({ store: postgres(database.url), machines, onProblem: () => {} });
  await expect.poll(async () => (await client.run("waiting")).head()).toMatchObject({ status: "parked" });
  expect((await (await worker.start(caller, { id: "later" })).head()).status).toBe("active");
  await worker.close();
  await client.close();
});
