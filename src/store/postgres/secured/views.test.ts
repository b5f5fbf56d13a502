/** What the views tell of a user's own runs, and what they leave to the runtime. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSecured, type Rows, type Secured } from "../../../../test/postgres/secured.ts";
import { callerWith, counter, counterWith } from "../../../../test/runtime/machines.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../../index.ts";
import { activityOf, firstCommit, owned } from "../../conformance/sample.ts";
import { postgres } from "../store.ts";

let secured: Secured;
let runtime: Runtime | undefined;

beforeEach(async () => {
  secured = await createSecured();
});

afterEach(async () => {
  await runtime?.close();
  runtime = undefined;
  await secured.drop();
});

const runs = (): Promise<Rows> =>
  secured.as({ sub: "ada" }, "SELECT * FROM holdfast_views.agent_runs ORDER BY id");
const snapshots = (): Promise<Rows> =>
  secured.as({ sub: "ada" }, "SELECT * FROM holdfast_views.agent_snapshots ORDER BY run_id, seq");

async function boot(machines: RuntimeOptions["machines"], options: Partial<RuntimeOptions> = {}) {
  const store = postgres(secured.urlOf(secured.roles.workerLogin));
  runtime = await createRuntime({ store, machines, ...options });
  return runtime;
}

const ofAda = { id: "a", subject: "ada" };

/** Refuses every result of its tool, so that it is parked. */
const picky = callerWith({ onDone: { target: "done", require: { agreed: () => false } } });

test("B6: a run has its machine, version, status, times, duration, attributes and its parent", async () => {
  const run = await (await boot([counter])).start(counter, { ...ofAda, attributes: { team: "red" } });
  await run.send("add", 2);
  const { createdAt, updatedAt } = await run.head();
  const shared = {
    ...{ id: "a", tenant: "default", user_id: "ada", machine: "counter", version: 1, error: null },
    ...{ attributes: { team: "red" }, spent: null, parent_id: null, created_at: new Date(createdAt) },
  };
  expect(await runs()).toEqual([
    {
      ...{ ...shared, status: "active", seq: "2", updated_at: new Date(updatedAt) },
      ...{ completed_at: null, duration_ms: null },
    },
  ]);
  await run.send("end");
  const { completedAt = 0 } = await run.head();
  const ended = new Date(completedAt);
  expect(await runs()).toEqual([
    {
      ...{ ...shared, status: "done", seq: "3", updated_at: ended, completed_at: ended },
      duration_ms: completedAt - createdAt,
    },
  ]);
});

test("B6: a snapshot has its status, its error, how long it was the newest one, and how large it is", async () => {
  const run = await (await boot([counter])).start(counter, ofAda);
  await expect((await run.send("unheard of")).handled()).resolves.toMatchObject({ outcome: "refused" });
  await run.send("nap");
  const rows = await snapshots();
  const times = rows.map(({ created_at }) => (created_at as Date).getTime()) as [number, number, number];
  const shared = { run_id: "a", tenant: "default", user_id: "ada", bytes: expect.any(String), whole: false };
  const error = {
    code: "EVENT_UNKNOWN",
    name: "HoldfastError",
    message: expect.stringContaining("unheard of"),
  };
  expect(rows).toEqual([
    {
      ...shared,
      seq: "1",
      status: "success",
      error: null,
      duration_ms: times[1] - times[0],
      created_at: new Date(times[0]),
    },
    {
      ...shared,
      seq: "2",
      status: "error",
      error,
      duration_ms: times[2] - times[1],
      created_at: new Date(times[1]),
    },
    {
      ...shared,
      seq: "3",
      status: "pending",
      error: null,
      duration_ms: null,
      created_at: new Date(times[2]),
    },
  ]);
  const [{ size }] = (await secured.database.query(
    "SELECT octet_length(bytes) AS size FROM holdfast.entry WHERE seq = 3",
  )) as [{ size: number }];
  expect(rows[2]?.bytes).toBe(String(size));
});

test("B6: the newest snapshot stands as its run does: running, pending, done, cancelled", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const tool = () => promise;
  const caller = callerWith();
  const worker = await boot([{ machine: caller, activities: { tool } }, counter]);
  const call = await worker.start(caller, ofAda);
  const newest = async () => (await snapshots()).at(-1)?.status;
  await expect.poll(newest).toBe("running");
  resolve("here");
  await call.waitFor("done");
  expect(await newest()).toBe("pending");
  await call.cancel();
  expect([await newest(), (await runs())[0]?.status]).toEqual(["cancelled", "cancelled"]);
  const count = await worker.start(counter, { id: "b", subject: "ada" });
  await count.send("end");
  expect(await newest()).toBe("success");
});

test("B6: a run that is parked or failed tells why", async () => {
  const limited = counterWith({ id: "limited", limits: { steps: 2 } });
  const worker = await boot([{ machine: picky, activities: { tool: () => "no" } }, limited]);
  await worker.start(picky, ofAda);
  const count = await worker.start(limited, { id: "b", subject: "ada" });
  await count.send("add", 1);
  await count.finished();
  const found = async () => (await runs()).map(({ status, error }) => ({ status, error }));
  await expect.poll(async () => (await found())[0]?.status).toBe("parked");
  expect(await found()).toEqual([
    {
      status: "parked",
      error: { code: "CONTRACT_VIOLATED", name: "HoldfastError", message: expect.stringContaining("agreed") },
    },
    {
      status: "failed",
      error: { name: "LimitReached", message: "The run has used up its limit of steps: 2 of 2" },
    },
  ]);
  const errors = (await snapshots()).filter(({ run_id }) => run_id === "a").map(({ error }) => error);
  expect(errors).toEqual([null, errors[2], expect.objectContaining({ code: "CONTRACT_VIOLATED" })]);
});

test.each([
  ["that stands beside the entry is put back", "a long text", { message: "a long text" }],
  ["that is kept elsewhere is left out", { content: "digest" }, {}],
])("a message %s", async (_, text, told) => {
  await (await boot([counter])).start(counter, ofAda);
  const body = { error: { name: "E", code: "C", message: "" } };
  const places = [
    [0, "error", "other"],
    [1, "error", "message"],
  ];
  const sql = "UPDATE holdfast.entry SET bytes = '\\x0000000000'::bytea || convert_to($1, 'UTF8')";
  await secured.database.query(sql, [JSON.stringify({ body, texts: ["other", text], places })]);
  expect((await snapshots())[0]?.error).toEqual({ name: "E", code: "C", ...told });
});

test.each([
  ["that is compressed", "'\\x01'::bytea || substring(bytes FROM 2)"],
  ["that is sealed", "sha256(bytes) || sha256(bytes)"],
  ["that is sealed and begins like one that is not", "'\\x00'::bytea || sha256(bytes)"],
  ["with half a character", "'\\x0000000000c3'::bytea"],
  ["with a character that is none", "'\\x0000000000'::bytea || convert_to('{\"body\":\"\\u0000\"}', 'UTF8')"],
  ["of another shape", "'\\x0000000000'::bytea || convert_to('[{\"body\":[1]},2]', 'UTF8')"],
  [
    "with places that are none",
    '\'\\x0000000000\'::bytea || convert_to(\'{"body":{"error":{"name":"E"}},"places":7}\', \'UTF8\')',
  ],
  ["that is cut short", "'\\x00'::bytea"],
  ["that is empty", "''::bytea"],
])("an entry %s tells no error, and keeps nothing else from being told", async (_, bytes) => {
  const run = await (await boot([counter])).start(counter, ofAda);
  await run.send("unheard of");
  await secured.database.query(`UPDATE holdfast.entry SET bytes = ${bytes} WHERE seq = 2`);
  expect((await snapshots())[1]).toMatchObject({ seq: "2", error: null, status: "pending" });
});

test("errors stay with the runtime where they are not to be told", async () => {
  await secured.secure({ errors: false });
  const worker = await boot([{ machine: picky, activities: { tool: () => "no" } }]);
  await worker.start(picky, ofAda);
  await expect.poll(async () => (await runs())[0]?.status).toBe("parked");
  expect((await runs())[0]?.error).toBeNull();
  expect((await snapshots()).map(({ status, error }) => [status, error])).toEqual([
    ["success", null],
    ["success", null],
    ["error", null],
  ]);
});

test("B3: what is in a context, an input, an event or an output is nowhere to be seen", async () => {
  const run = await (await boot([counter])).start(counter, { ...ofAda, input: 4711 });
  await run.send("note", "the-secret");
  await run.send("end");
  const seen = JSON.stringify([await runs(), await snapshots()]);
  expect(seen).toContain('"id":"a"');
  for (const secret of ["the-secret", "4711", "closed"]) expect(seen).not.toContain(secret);
});

test.each(["agent_runs", "agent_snapshots"])(
  "reading %s costs what it shows, whatever else there is",
  async (view) => {
    const store = postgres(secured.urlOf(secured.roles.workerLogin), { clock: "caller" });
    await store.open();
    const epoch = await owned(store);
    const steps = 200;
    const others = Array.from({ length: steps }, (_, index) => `run-${index}`);
    const busy = (run: string) => ({ begun: [activityOf("tool", { run })] });
    await store.commit([
      firstCommit("mine", epoch, { steps, head: { subject: "ada" }, ...busy("mine") }),
      ...others.map((run) =>
        firstCommit(run, epoch, { steps: 20, head: { subject: `user of ${run}` }, ...busy(run) }),
      ),
    ]);
    await store.close();
    await secured.database.query("ANALYZE");
    const query = `EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM holdfast_views.${view}`;
    // So few rows are read as a whole otherwise, whatever the index.
    const rows = await secured.as({ sub: "ada" }, "SET LOCAL enable_seqscan = off", query);
    const [{ Plan: plan }] = (rows[0] as Record<"QUERY PLAN", [{ Plan: Plan }]>)["QUERY PLAN"];
    expect(plan["Actual Rows"]).toBe(view === "agent_runs" ? 1 : steps);
    // Of the 4,200 entries and 201 activities, those of this run, each a few times.
    expect(rowsRead(plan)).toBeLessThan(12 * plan["Actual Rows"] + 20);
  },
);

interface Plan {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

function rowsRead(plan: Plan): number {
  const read = plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0);
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), read * plan["Actual Loops"]);
}

test("what was pruned is not shown, whether its rows are gone or not", async () => {
  const run = await (await boot([counter])).start(counter, ofAda);
  for (let n = 0; n < 4; n++) await run.send("add", 1);
  await secured.database.query("UPDATE holdfast.run SET pruned = 3");
  expect((await snapshots()).map(({ seq }) => seq)).toEqual(["4", "5"]);
});
