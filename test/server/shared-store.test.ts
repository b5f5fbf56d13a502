/** Two servers on one PostgreSQL database: what is uploaded to one is not lost by what is uploaded to the other. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createRuntime } from "../../src/index.ts";
import { createServer } from "../../src/server/index.ts";
import { readUploads } from "../../src/server/uploads.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { token } from "./house.ts";
import { counter } from "./machines.ts";

let database: Database;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  for (const close of closing) await close();
  await database?.drop();
});

async function openServer() {
  const store = postgres(database.url);
  const runtime = await createRuntime({ store, machines: [counter] });
  const server = await createServer({ runtime, store, dev: { token } });
  closing.push(() => runtime.close());
  const fetch = async (request: Request) => server.fetch(request);
  return { store, client: createClient({ url: "http://127.0.0.1", key: token, fetch }) };
}

test("F5: a version that was uploaded to one server is not replaced by another at the other", async () => {
  const [one, other] = [await openServer(), await openServer()];
  const source = (event: string) => `id: bell\ninitial: quiet\nstates:\n  quiet:\n    on: { ${event}: {} }\n`;
  const first = await one.client.machines.upload({ source: source("push") });
  await expect(other.client.machines.upload({ source: source("pull") })).rejects.toMatchObject({
    code: "MACHINE_INVALID",
  });
  expect(await other.client.machines.upload({ source: source("push") })).toMatchObject({ hash: first.hash });
  const [kept] = await readUploads(one.store, {}, () => {});
  expect(JSON.stringify(kept?.machine.definition)).toContain("push");
});

test("F5: names that PostgreSQL cannot keep are refused before it is asked", async () => {
  const { client } = await openServer();
  await expect(client.runs.list({ machine: "a\0" })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
});
