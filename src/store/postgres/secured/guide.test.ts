/** The SQL of the guide's page, run as it stands there by those it is for. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createPool } from "../../../../test/postgres/database.ts";
import { createSecured } from "../../../../test/postgres/secured.ts";
import { createRuntime, defineMachine } from "../../../index.ts";
import { postgres } from "../store.ts";

const page = readFileSync(new URL("../../../../docs/guide/supabase.md", import.meta.url), "utf8");

const trip = defineMachine({ id: "trip", version: 1, initial: "planning", states: { planning: {} } });

test("the guide's SQL runs, and shows users what it says", async () => {
  const secured = await createSecured({ events: true });
  const { database, roles, as, urlOf } = secured;
  // Roles belong to the whole server, so they have names of their own here.
  const named = page
    .replaceAll("holdfast_worker", roles.worker)
    .replaceAll(/\bauthenticated\b/g, roles.user)
    .replaceAll(/agents_(worker|gateway)/g, `agents_$1_${roles.user}`);
  const blocks = [...named.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = ""]) => sql);
  expect(blocks).toHaveLength(5);
  const [worker, read, send, gateway, claim] = blocks as [string, string, string, string, string];
  await database.query(worker);
  await database.query(gateway);

  const store = postgres(urlOf(`agents_worker_${roles.user}`));
  const runtime = await createRuntime({ store, machines: [trip] });
  await runtime.start(trip, { id: "trip-42", subject: "ada" });
  await runtime.start(trip, { id: "trip-43", subject: "bob" });
  await runtime.start(trip, { id: "ada-without-subject" });

  const [runs, snapshots] = read.split("\n\n") as [string, string];
  expect(await as({ sub: "ada" }, runs)).toMatchObject([
    { id: "trip-42", machine: "trip", status: "active" },
  ]);
  expect(await as({ sub: "ada" }, snapshots)).toMatchObject([{ seq: "1", status: "pending", error: null }]);
  expect(await as({ sub: "bob" }, snapshots)).toEqual([]);
  expect(await as({ sub: "bob" }, send)).toEqual([{ send_event: "missing" }]);
  expect(await as({ sub: "ada" }, send)).toEqual([{ send_event: "accepted" }]);
  expect(await as({ sub: "ada" }, send)).toEqual([{ send_event: "duplicate" }]);

  const pool = createPool(urlOf(`agents_gateway_${roles.user}`), 1);
  const answers = (await pool.query(claim)) as unknown as { rows: unknown[] }[];
  expect(answers.at(-2)?.rows).toEqual([{ id: "trip-42", status: "active" }]);
  await pool.end();
  await runtime.close();
  await database.query(`DROP ROLE agents_worker_${roles.user}, agents_gateway_${roles.user}`);
  await secured.drop();
});
