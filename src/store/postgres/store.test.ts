import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database, openStore } from "../../../test/postgres/database.ts";
import { conformance } from "../conformance/index.ts";

let database: Database;
let divided: Database;

beforeAll(async () => {
  database = await createDatabase();
  divided = await createDatabase();
});

afterAll(async () => {
  await database?.drop();
  await divided?.drop();
});

const kit = { describe, test, expect };
conformance({
  name: "the PostgreSQL store",
  test: kit,
  shared: true,
  searching: true,
  open: () => openStore(database),
});
conformance({
  name: "the PostgreSQL store with its journal in partitions",
  test: kit,
  searching: true,
  open: () => openStore(divided, { partitions: 16 }),
  random: { seeds: 10, length: 250 },
});
