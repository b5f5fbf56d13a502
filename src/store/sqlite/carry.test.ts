/** Bytes of earlier formats: carried over where they can be read, and left as they are where not. */
import { hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { decode, encode } from "../codec.ts";
import { chain, genesis, openEntry } from "../journal.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";

const textOf = (value: Json) => Buffer.from(JSON.stringify(value));
/** As the first format wrote JSON: how it is written, and then the rest. */
const bare = (value: Json) => Buffer.concat([Buffer.from([0]), textOf(value)]);
const bareCompressed = (value: Json) => Buffer.concat([Buffer.from([1]), zstdCompressSync(textOf(value))]);

/** The chain of the few hours when entries had no seq. */
const chainWithSeq = (previous: string, seq: number, bytes: Uint8Array) =>
  hash("sha256", `${previous}${hash("sha256", bytes, "base64url")}${seq}`, "base64url");

interface Written {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

function chained(
  list: readonly Uint8Array[],
  link: (previous: string, seq: number, bytes: Uint8Array) => string,
): Written[] {
  let digest = genesis;
  return list.map((bytes, index) => {
    digest = link(digest, index + 1, bytes);
    return { bytes, digest };
  });
}

/** A store of a version with these journals, and a snapshot at the first checkpoint of each. */
function storeOf(version: number, journals: readonly (readonly Written[])[]): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  migrate(database, "", migrations.slice(0, version));
  journals.forEach((entries, index) => {
    const about = JSON.stringify({ version: 1, hash: "h", attributes: {} });
    database
      .prepare("INSERT INTO run VALUES (?, 'acme', ?, 'ada', 'm', 'active', 0, NULL, 1, ?)")
      .run(index + 1, `run-${index + 1}`, about);
    database.prepare("INSERT INTO snapshot VALUES (?, 1, x'00')").run(index + 1);
    entries.forEach(({ bytes, digest }, at) => {
      database
        .prepare("INSERT INTO entry VALUES (?, ?, 0, ?, ?)")
        .run(index + 1, at + 1, digest, bytes as Buffer);
    });
  });
  return database;
}

const entriesOf = (database: DatabaseSync, run: number) =>
  database
    .prepare("SELECT seq, at, digest, bytes FROM entry WHERE run_id = ? ORDER BY seq")
    .all(run) as unknown as {
    seq: number;
    at: number;
    digest: string;
    bytes: Uint8Array;
  }[];

/** The entries of a run by today's reading, which follows the chain. */
function readAll(database: DatabaseSync, run: number): Json[] {
  let previous = genesis;
  return entriesOf(database, run).map((row) => {
    const opened = openEntry(row, previous, { open: (bytes) => bytes }, "the run");
    previous = row.digest;
    return opened;
  });
}

const snapshotsOf = (database: DatabaseSync, run: number) =>
  database
    .prepare(
      "SELECT snapshot_seq AS seq, (SELECT count(*) FROM snapshot s WHERE s.run_id = r.id) AS kept FROM run r WHERE id = ?",
    )
    .get(run);

describe("bytes of version 1", () => {
  const values: Json[] = [{ body: { seq: 1, note: "one" } }, { body: { seq: 2, note: "two".repeat(400) } }];
  const [first, second] = values as [Json, Json];
  const good = chained([bare(first), bareCompressed(second)], (previous, _, bytes) => chain(previous, bytes));

  test("get checksums, and their journals are chained anew without their snapshots", () => {
    const database = storeOf(1, [good]);
    migrate(database, "");
    expect(readAll(database, 1)).toEqual(values);
    expect(snapshotsOf(database, 1)).toEqual({ seq: 0, kept: 0 });
  });

  test("that are no JSON are left as they are, as are those after an entry that does not follow", () => {
    const sealed = chained([Buffer.from("sealed"), Buffer.from("too")], (previous, _, bytes) =>
      chain(previous, bytes),
    );
    const broken = [good[0] as Written, { bytes: bare(second), digest: "of another" }];
    const database = storeOf(1, [sealed, broken, good]);
    migrate(database, "");
    const bytesOf = (run: number) => entriesOf(database, run).map(({ bytes }) => Buffer.from(bytes));
    expect(bytesOf(1)).toEqual(sealed.map(({ bytes }) => bytes));
    expect(snapshotsOf(database, 1)).toEqual({ seq: 1, kept: 1 });
    expect(bytesOf(2)[1]).toEqual(broken[1]?.bytes);
    expect(() => readAll(database, 2)).toThrow(expect.objectContaining({ details: { seq: 2 } }));
    expect(readAll(database, 3)).toEqual(values);
  });

  test("of events, activities and their reports are carried over too, and activities are packed", () => {
    const database = storeOf(1, [good]);
    const event = { type: "note" };
    const effect = { type: "activity", key: "1.0" };
    database.prepare("INSERT INTO inbox VALUES (1, 'e', NULL, 0, 0, 1, ?)").run(bare(event));
    const insert = database.prepare("INSERT INTO activity VALUES (1, ?, 'a', 0, 'waiting', 0, 1, 1, ?, ?)");
    insert.run("1.0", bare(effect), bare({ progress: 3 }));
    insert.run("1.1", Buffer.from("sealed"), null);
    migrate(database, "");
    const read = (sql: string) => decode(database.prepare(sql).get()?.bytes as Uint8Array, "it");
    expect(read("SELECT bytes FROM inbox")).toEqual(event);
    expect(read("SELECT bytes FROM activity WHERE key = '1.0'")).toEqual({ body: effect });
    expect(read("SELECT report AS bytes FROM activity WHERE key = '1.0'")).toEqual({ progress: 3 });
    expect(database.prepare("SELECT bytes FROM activity WHERE key = '1.1'").get()?.bytes).toEqual(
      new Uint8Array(Buffer.from("sealed")),
    );
  });
});

describe("entries of version 2", () => {
  const lean: Json[] = [{ body: { note: "one" } }, { body: { note: "" }, texts: ["two"] }];

  test("that have no seq get one, and are chained anew, however many there are", () => {
    const many = Array.from({ length: 2_500 }, (_, index) => ({ body: { note: index } }));
    const database = storeOf(2, [
      chained(lean.map(encode), chainWithSeq),
      chained(many.map(encode), chainWithSeq),
    ]);
    migrate(database, "");
    expect(readAll(database, 1)).toEqual([
      { body: { seq: 1, note: "one" } },
      { body: { seq: 2, note: "" }, texts: ["two"] },
    ]);
    expect(readAll(database, 2)).toHaveLength(2_500);
    expect(snapshotsOf(database, 1)).toEqual({ seq: 0, kept: 0 });
  });

  test("that have one stay as they are, with their snapshots", () => {
    const whole = chained(
      lean.map((one, index) => encode({ body: { seq: index + 1, ...(one as { body: object }).body } })),
      (previous, _, bytes) => chain(previous, bytes),
    );
    const database = storeOf(2, [whole]);
    migrate(database, "");
    expect(entriesOf(database, 1).map(({ digest }) => digest)).toEqual(whole.map(({ digest }) => digest));
    expect(snapshotsOf(database, 1)).toEqual({ seq: 1, kept: 1 });
  });

  test("whose bytes were changed are left, and told as damaged when they are read", () => {
    const [one, two] = chained(lean.map(encode), chainWithSeq) as [Written, Written];
    const changed = Uint8Array.from(two.bytes);
    changed[7] = (changed[7] as number) ^ 1;
    const database = storeOf(2, [[one, { ...two, bytes: changed }]]);
    migrate(database, "");
    expect(() => readAll(database, 1)).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT", details: { seq: 2 } }),
    );
  });
});
