import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, createPool, type Database } from "../../../../test/postgres/database.ts";
import type { Json } from "../../../core/json.ts";
import { readRow } from "./columns.ts";
import { installRules } from "./install.ts";
import { Outbox } from "./outbox.ts";

let database: Database;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(`CREATE DOMAIN cents AS bigint; CREATE DOMAIN purse AS cents[];
    CREATE TYPE pair AS (small int, large bigint); CREATE TYPE mood AS ENUM ('good', 'bad')`);
});

afterAll(() => database.drop());

/** A value of a type as a change brings it, written by a session whose settings are all unusual. */
async function through(type: string, value: string): Promise<Json | undefined> {
  await database.query(`DROP TABLE IF EXISTS public.value; CREATE TABLE public.value (it ${type})`);
  const rule = { name: "value", table: "public.value", on: ["insert"], notify: true } as const;
  const tables = await installRules(database.pool, "holdfast", [rule]);
  const pool = createPool(database.url, 1);
  await pool.query(`SET timezone = 'Asia/Kolkata'; SET datestyle = 'German'; SET intervalstyle = 'sql_standard';
    SET bytea_output = 'escape'; SET extra_float_digits = -15; SET search_path = public`);
  await pool.query(`INSERT INTO public.value VALUES (${value})`);
  await pool.end();
  const outbox = new Outbox({ pool: database.pool, schema: "holdfast", tables });
  const taken = await outbox.take("me", 1_000, 10);
  if (taken.outcome !== "ours") throw new Error(taken.outcome);
  await outbox.settle(
    taken.changes.map(({ number }) => number),
    [],
  );
  expect(taken.changes).toHaveLength(1);
  return taken.changes[0]?.new?.it;
}

describe("a value of every type arrives as JSON without loss", () => {
  test.each([
    ["integer", "2147483647", 2147483647],
    ["smallint", "-5", -5],
    ["bigint", "9007199254740993", "9007199254740993"],
    ["bigint", "1", "1"],
    ["cents", "9223372036854775807", "9223372036854775807"],
    ["numeric", "12345678901234567890.123456789012345678900", "12345678901234567890.123456789012345678900"],
    ["numeric", "'NaN'", "NaN"],
    ["numeric(10,2)", "1.1", "1.10"],
    ["double precision", "0.1::float8 + 0.2::float8", 0.1 + 0.2],
    ["double precision", "1e300", 1e300],
    ["double precision", "'-Infinity'", "-Infinity"],
    ["real", "0.1", 0.1],
    ["boolean", "true", true],
    ["text", "E'line\\n\"quote\" \\\\ 😀'", 'line\n"quote" \\ 😀'],
    ["timestamptz", "'2024-03-01 12:00:00.123456+01'", "2024-03-01T11:00:00.123456+00:00"],
    ["timestamptz", "'infinity'", "infinity"],
    ["timestamp", "'2024-03-01 12:00:00'", "2024-03-01T12:00:00"],
    ["date", "'2024-03-01'", "2024-03-01"],
    ["tstzrange", "'[2024-03-01 12:00+00,)'", '["2024-03-01 12:00:00+00",)'],
    ["interval", "'1 day 02:00'", "P1DT2H"],
    ["bytea", "'\\x00ff27'", "\\x00ff27"],
    ["uuid", "'6f1c1f3e-7a2b-4c55-9d3e-0a1b2c3d4e5f'", "6f1c1f3e-7a2b-4c55-9d3e-0a1b2c3d4e5f"],
    ["mood", "'good'", "good"],
    ["text", "NULL", null],
    [
      "jsonb",
      `'{"a": [1, 1.5, null, "x"], "b": {"__proto__": 1}}'`,
      JSON.parse('{"a":[1,1.5,null,"x"],"b":{"__proto__":1}}'),
    ],
    [
      "jsonb",
      "'[9007199254740993, 1e400, 0.1, 1.10]'",
      ["9007199254740993", expect.stringMatching(/^10{400}$/), 0.1, 1.1],
    ],
    [
      "json",
      "'[1e400, 1.00000000000000000001, 1E2, -0.5e-3]'",
      ["1e400", "1.00000000000000000001", 100, -0.0005],
    ],
    [
      "json",
      String.raw`'{ "a" : "\u0000 \ud800 \\", "}\",": [1, {"b" : "]"}], "__proto__": 1 } '`,
      JSON.parse(String.raw`{"a":"\u0000 \ud800 \\","}\",":[1,{"b":"]"}],"__proto__":1}`),
    ],
    ["json", "'{} '", {}],
    [
      "integer[]",
      "'{{1,2},{3,NULL}}'",
      [
        [1, 2],
        [3, null],
      ],
    ],
    ["bigint[]", "'{1,9007199254740993}'", ["1", "9007199254740993"]],
    ["purse", "'{1,2}'", ["1", "2"]],
    ["text[]", `'{"a,b",NULL}'`, ["a,b", null]],
    ["pair", "ROW(1, 9007199254740993)", { small: 1, large: "9007199254740993" }],
    ["pair", "ROW(1, 2)", { small: 1, large: 2 }],
  ] as [string, string, Json][])("%s %s", async (type, value, expected) => {
    expect(await through(type, value)).toEqual(expected);
  });
});

test("a row of any names, values and depths is taken apart", () => {
  const names = ["__proto__", "a,b", 'it"s', "{", "\\", ""];
  const row = Object.fromEntries(names.map((name, index) => [name, [index, name, { [name]: null }]]));
  expect(readRow(JSON.stringify(row), new Set())).toEqual(row);
  expect(readRow("{}", new Set())).toEqual({});
  const deep = `${"[".repeat(10_000)}1${"]".repeat(10_000)}`;
  const { id, deepest } = readRow(`{"id":9007199254740993,"deepest":${deep}}`, new Set(["id"]));
  let value = deepest;
  while (Array.isArray(value)) value = value[0];
  expect([id, value]).toEqual(["9007199254740993", 1]);
});

test("a number stays one only where it is exactly that number", () => {
  const read = (text: string) => readRow(`{"it":${text}}`, new Set()).it;
  expect(read("[0, 0.0, 10, 1e3, 123456789012345, 0.1, 5e-324]")).toEqual([
    0, 0, 10, 1000, 123456789012345, 0.1, 5e-324,
  ]);
  expect(read("[1e-400, 1234567890123456789, 0.12345678901234567890123]")).toEqual([
    "1e-400",
    "1234567890123456789",
    "0.12345678901234567890123",
  ]);
});
