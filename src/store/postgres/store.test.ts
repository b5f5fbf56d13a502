import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database, openStore } from "../../../test/postgres/database.ts";
import { conformance } from "../conformance/index.ts";

let database: Database;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database?.drop());

const kit = { describe, test, expect };
conformance({ name: "the PostgreSQL store", test: kit, open: () => openStore(database) });
