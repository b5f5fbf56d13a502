/** Events that users send by SQL: they are as the runtime writes them, reach only one's own runs, and can harm nothing. */
import { hash } from "node:crypto";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createSecured, type Secured } from "../../../../test/postgres/secured.ts";
import { counter } from "../../../../test/runtime/machines.ts";
import { createRuntime, type Json, type Runtime } from "../../../index.ts";
import { limits } from "../../../limits.ts";
import { decode, plainBytes } from "../../codec.ts";
import { postgres } from "../store.ts";

let secured: Secured;
let runtime: Runtime | undefined;

beforeAll(async () => {
  secured = await createSecured({ events: true });
});

afterEach(async () => {
  await runtime?.close();
  runtime = undefined;
});

afterAll(() => secured?.drop());

async function boot(): Promise<Runtime> {
  runtime = await createRuntime({
    store: postgres(secured.urlOf(secured.roles.workerLogin)),
    machines: [counter],
  });
  return runtime;
}

/** What users write. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const send = async (run: string, type: string, data?: string, key?: string): Promise<unknown> => {
  const given = [literal(run), literal(type), data ?? "NULL", key === undefined ? "NULL" : literal(key)];
  const [row] = await secured.as(
    { sub: "ada" },
    `SELECT holdfast_views.send_event(${given.join(", ")}) AS outcome`,
  );
  return row?.outcome;
};
const stored = async (): Promise<Uint8Array> =>
  (await secured.database.query("SELECT bytes FROM holdfast.inbox ORDER BY id DESC LIMIT 1"))[0]
    ?.bytes as Uint8Array;

test("B3: an event that a user sends is taken by the next worker, once for its key", async () => {
  const first = await boot();
  await first.start(counter, { id: "a", subject: "ada" });
  await first.close();
  expect(await send("a", "add", "'5'", "k1")).toBe("accepted");
  expect(await send("a", "add", "'5'", "k1")).toBe("duplicate");
  expect(await send("a", "note", '\'{"of":"ada"}\'')).toBe("accepted");
  const run = await (await boot()).run("a");
  await expect.poll(async () => (await run.state()).context).toEqual({ n: 5, log: [{ of: "ada" }] });
  expect(await send("a", "add", "'5'", "k1")).toBe("duplicate");
  await run.send("end");
  expect(await send("a", "add", "'5'")).toBe("ended");
});

test("B3: a run of somebody else is as one that is not there", async () => {
  await (await boot()).start(counter, { id: "of-bob", subject: "bob" });
  expect([await send("of-bob", "add", "'1'"), await send("nowhere", "add", "'1'")]).toEqual([
    "missing",
    "missing",
  ]);
  // Nor does a mistake tell them apart.
  expect([await send("of-bob", ""), await send("nowhere", "")]).toEqual(["missing", "missing"]);
});

test("events are as the runtime writes them, whatever is in them", async () => {
  const first = await boot();
  await first.start(counter, { id: "forms", subject: "ada" });
  await first.close();
  runtime = undefined;
  const text = fc.string({ unit: "binary" }).map((some) => some.toWellFormed().replaceAll("\0", ""));
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      ...[
        fc.constant(null),
        fc.boolean(),
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      ],
      ...[
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(text, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
      ],
    ),
  }));
  await fc.assert(
    fc.asyncProperty(tree, async (data) => {
      await secured.database.query("DELETE FROM holdfast.inbox");
      expect(await send("forms", "note", `${literal(JSON.stringify(data))}::jsonb`)).toBe("accepted");
      const bytes = await stored();
      expect(decode(bytes, "the event")).toEqual({ type: "note", data: JSON.parse(JSON.stringify(data)) });
      // The sum is the runtime's own.
      expect(Buffer.from(plainBytes(Buffer.from(bytes).toString("utf8", 5)))).toEqual(Buffer.from(bytes));
    }),
    { numRuns: 60 },
  );
  const [row] = await secured.database.query("SELECT id FROM holdfast.inbox");
  expect(row?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("the envelope is not a user's to write: neither a type nor data makes an event of the platform's", async () => {
  const first = await boot();
  await first.start(counter, { id: "held", subject: "ada" });
  await first.close();
  for (const type of ["cancel", "park", "retry", "rollback", "done.invoke.call"])
    expect(await send("held", type, `'{"kind":"platform","error":{"name":"x"},"to":1}'`)).toBe("accepted");
  expect(await send("held", "add", "'1'")).toBe("accepted");
  const run = await (await boot()).run("held");
  await expect.poll(async () => (await run.state()).context.n).toBe(1);
  expect((await run.head()).status).toBe("active");
});

test("what a store could not keep or a runtime not read is refused", async () => {
  const first = await boot();
  await first.start(counter, { id: "bounds", subject: "ada" });
  await first.close();
  runtime = undefined;
  const nested = (levels: number): string => literal("[".repeat(levels) + "]".repeat(levels));
  const long = (bytes: number): string =>
    `to_jsonb(repeat('x', ${bytes - '{"data": "", "type": "note"}'.length}))`;
  for (const good of [
    nested(limits.jsonDepthMax),
    "'1.7976931348623157e308'",
    "'1e-400'",
    long(limits.sentBytesMax),
  ]) {
    expect(await send("bounds", "note", good)).toBe("accepted");
    expect(decode(await stored(), "the event")).toMatchObject({ type: "note" });
  }
  expect(await send("bounds", "note", "NULL", "k".repeat(limits.nameLengthMax))).toBe("accepted");
  const bad = ["'1e309'", "'[-1e309]'", nested(limits.jsonDepthMax + 1), long(limits.sentBytesMax + 1)];
  for (const data of bad) await expect(send("bounds", "note", data)).rejects.toMatchObject({ code: "22023" });
  for (const data of [`'"\\u0000"'`, `'"\\ud800"'`, "'{'"])
    await expect(send("bounds", "note", data)).rejects.toMatchObject({ code: /^22/ as never });
  await expect(send("bounds", "")).rejects.toMatchObject({ code: "22023" });
  for (const key of ["", "k".repeat(limits.nameLengthMax + 1)])
    await expect(send("bounds", "note", "NULL", key)).rejects.toMatchObject({ code: "22023" });
});

test("sums are those of the runtime, on servers with a function for them and without", async () => {
  for (const text of ["", "a", "hold fast", hash("sha256", "x").repeat(9)]) {
    const [row] = await secured.database.query("SELECT holdfast_views.checksum($1) AS sum", [
      Buffer.from(text),
    ]);
    expect(row?.sum).toEqual(Buffer.from(plainBytes(text).subarray(1, 5)));
  }
});

test("where it was not asked for there is no such function, also where there was one before", async () => {
  await secured.secure({ events: false });
  await expect(send("a", "add", "'1'")).rejects.toMatchObject({ code: "42883" });
  await secured.secure();
});
