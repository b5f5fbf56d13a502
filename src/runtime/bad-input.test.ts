/** Bad input: each kind has a code and a message that says what to do, and leaves everything as it was. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore, type World } from "../../test/runtime/world.ts";
import type { Json } from "../index.ts";
import { limits } from "../limits.ts";
import { sqlite } from "../store/sqlite/store.ts";
import { systemClock } from "./clock.ts";
import { createRuntime, type Run } from "./runtime.ts";

/** An error of this code, whose message names all of these. */
const error = (code: string, ...named: string[]) =>
  expect.toSatisfy(
    (thrown: { code?: string; message?: string }) =>
      thrown.code === code && named.every((one) => thrown.message?.includes(one)),
    `${code} that names ${named.join(", ")}`,
  );

const nested = (levels: number): Json => {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};

const badData: readonly [string, unknown, string][] = [
  ["a function", { f: () => 1 }, "event.data.f"],
  ["a BigInt", [1n], "event.data[0]"],
  ["a date", { at: new Date(0) }, "event.data.at"],
  ["no number", Number.NaN, "event.data"],
  ["a hole", Array(3), "event.data[0]"],
  ["too deep", nested(limits.jsonDepthMax + 1), "deeper"],
];

onEveryStore((world, kind) => {
  /** A run in a runtime, and a way to show that nothing changed. */
  const begin = async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a", input: 1 });
    await run.send("note", "before");
    return { ...here, runtime, run, unchanged: await keeping(here, run) };
  };

  /** Compares what is stored and in memory of a run with what was. */
  const keeping = async ({ stored, look, rest }: World, run: Pick<Run<unknown>, "state">) => {
    const see = async () => ({
      ...(await stored("a")),
      letters: await (await look()).readDeadLetters("default", 0, 9),
      state: await run.state(),
    });
    const before = await see();
    return async () => {
      await rest();
      expect(await see()).toEqual(before);
    };
  };

  describe("bad input", () => {
    test("F5: an unknown run", async () => {
      const { runtime, unchanged } = await begin();
      await expect(runtime.run("nobody")).rejects.toEqual(error("RUN_UNKNOWN", '"nobody"', '"default"'));
      await expect(runtime.run("a", { tenant: "other" })).rejects.toEqual(error("RUN_UNKNOWN", '"other"'));
      await unchanged();
    });

    test("F5: an unknown machine", async () => {
      const { runtime, unchanged, stored } = await begin();
      const other = counterWith({ id: "other", version: 3 });
      const unknown = error("MACHINE_UNKNOWN", "other@3", "this runtime has counter@1");
      await expect(runtime.start(other, { id: "b" })).rejects.toEqual(unknown);
      await expect(
        runtime.start(other, { id: "b" }),
        "the platform's own are nobody's choice",
      ).rejects.toThrow(/counter@1$/);
      expect((await stored("b")).head).toBeUndefined();
      await unchanged();
    });

    test("F5: an unknown event is refused with what would be possible, and changes no state", async () => {
      const { run, stored } = await begin();
      const before = await run.state();
      const { outcome, error: refusal } = await (await run.send("fly", { to: "the moon" })).handled();
      expect([outcome, refusal]).toEqual(["refused", error("EVENT_UNKNOWN", '"fly"', "add")]);
      expect(await run.state()).toEqual(before);
      expect((await stored("a")).inbox).toEqual([]);
    });

    test("F5: an event for a run that has ended", async () => {
      const { run, ...here } = await begin();
      await run.send("end");
      const unchanged = await keeping(here as unknown as World, run);
      const ended = error("RUN_ENDED", '"a"', "done", '"add"');
      await expect(run.send("add", 1)).rejects.toEqual(ended);
      await expect(run.sendAll([{ type: "add", data: 1 }])).rejects.toEqual(ended);
      await expect(run.ask("add", 1)).rejects.toEqual(ended);
      await run.cancel();
      await run.retry();
      await run.checkpoint();
      await unchanged();
    });

    test.each(badData)("F5: a payload that is %s", async (_, data, named) => {
      const { run, runtime, unchanged, stored } = await begin();
      const notJson = error("NOT_JSON", named);
      await expect(run.send("note", data as Json)).rejects.toEqual(notJson);
      await expect(run.ask("note", data as Json)).rejects.toEqual(notJson);
      const batch = [
        { type: "note", data: 1 },
        { type: "note", data: data as Json },
      ];
      await expect(run.sendAll(batch)).rejects.toEqual(notJson);
      const input = data as Json;
      await expect(runtime.start(counter, { id: "b", input })).rejects.toEqual(error("NOT_JSON", "input"));
      await expect(runtime.start(counter, { id: "a", input })).rejects.toEqual(error("NOT_JSON", "input"));
      expect((await stored("b")).head).toBeUndefined();
      await unchanged();
    });

    test("F5: a payload as deep as may be is taken, and comes back after a crash", async () => {
      const { run, runtime, crash, boot } = await begin();
      // Two levels are the context's own; what is refused stands in the journal by itself.
      const [kept, refused] = [nested(limits.jsonDepthMax - 2), nested(limits.jsonDepthMax)];
      expect(await (await run.send("note", kept)).handled()).toMatchObject({ outcome: "taken" });
      expect(await (await run.send("other", refused)).handled()).toMatchObject({ outcome: "refused" });
      const before = await run.state();
      await crash(runtime);
      expect(await (await (await boot([counter])).run("a")).state()).toEqual(before);
    });

    test("F5: a payload that is too large", async () => {
      const { run, runtime, unchanged, stored } = await begin();
      const tooLarge = error("VALUE_TOO_LARGE", `${limits.valueBytesMax}`, "refer to them");
      const huge = "x".repeat(limits.valueBytesMax);
      await expect(run.send("note", huge)).rejects.toEqual(tooLarge);
      await expect(runtime.start(counter, { id: "b", input: huge })).rejects.toEqual(tooLarge);
      expect((await stored("b")).head).toBeUndefined();
      await unchanged();
    });

    test("F5: what is no event", async () => {
      const { run, unchanged } = await begin();
      for (const type of ["", 5, null, undefined, {}] as never[]) {
        await expect(run.send(type)).rejects.toEqual(error("EVENT_INVALID", "{ type, data }"));
        await expect(run.sendAll([{ type }])).rejects.toEqual(error("EVENT_INVALID"));
        await expect(run.ask(type)).rejects.toEqual(error("EVENT_INVALID"));
      }
      await unchanged();
    });

    test("F5: an event that poses as one of the platform is an ordinary one", async () => {
      const { run } = await begin();
      for (const type of ["start", "cancel", "limit", "park", "retry", "resume", "done.invoke.call"])
        expect(await (await run.send(type, {})).handled()).toMatchObject({ outcome: "refused" });
      expect(await run.head()).toMatchObject({ status: "active", seq: 9 });
    });

    test("F5: names that stores cannot keep", async () => {
      const { run, runtime, unchanged } = await begin();
      const longest = "x".repeat(limits.nameLengthMax);
      expect((await runtime.start(counter, { id: longest, subject: longest })).id).toBe(longest);
      for (const name of ["", "a\0b", "\ud800", `${longest}x`, 5 as never, null as never]) {
        const invalid = (what: string) => error("NAME_INVALID", what, "cannot be used");
        await expect(runtime.start(counter, { id: name })).rejects.toEqual(invalid("run"));
        await expect(runtime.start(counter, { id: "b", tenant: name })).rejects.toEqual(invalid("tenant"));
        await expect(runtime.start(counter, { id: "b", subject: name })).rejects.toEqual(invalid("subject"));
        await expect(runtime.run(name)).rejects.toEqual(invalid("run"));
        await expect(run.send("add", 1, { key: name })).rejects.toEqual(invalid("key"));
        await expect(run.sendAll([{ type: "add", data: 1, key: name }])).rejects.toEqual(invalid("key"));
        await expect(run.ask("add", 1, { key: name })).rejects.toEqual(invalid("key"));
      }
      await unchanged();
    });

    test("F5: a machine that sends to such a name hears of it", async () => {
      const { boot, rest } = await world();
      const machine = counterWith({
        on: {
          "error.communication": { update: (draft, { event }) => void draft.log.push(event.data as Json) },
        },
      });
      const runtime = await boot([machine]);
      const run = await runtime.start(machine, { id: "a" });
      for (const name of ["", "a\0b", "\ud800"]) await run.send("tell", { run: name, data: 1 });
      await rest();
      expect((await run.state()).context.log).toMatchObject(Array(3).fill({ code: "NAME_INVALID" }));
      expect(await listOf(runtime.deadLetters.list())).toEqual([]);
    });

    test("F5: a state that the machine does not have", async () => {
      const { run, unchanged } = await begin();
      await expect(run.waitFor("nowhere")).rejects.toEqual(error("STATE_UNKNOWN", "counter", '"nowhere"'));
      await unchanged();
    });

    test("F5: a time to wait that is none", async () => {
      const { run, unchanged } = await begin();
      for (const timeout of ["soon", -1, Number.NaN])
        await expect(run.ask("note", 1, { timeout })).rejects.toEqual(error("DURATION_INVALID"));
      await unchanged();
    });

    test("F5: options and batches that are none", async () => {
      const { run, runtime, unchanged, stored } = await begin();
      const none = (usage: string, given = "null") => error("OPTIONS_INVALID", usage, given);
      await expect(run.send("add", 1, null as never)).rejects.toEqual(none("send(type, data, { key, by })"));
      await expect(run.ask("add", 1, null as never)).rejects.toEqual(none("ask(type, data"));
      await expect(run.sendAll("x" as never)).rejects.toEqual(error("EVENT_INVALID", "a list of events"));
      const batch = [{ type: "add", data: 1 }, null as never];
      await expect(run.sendAll(batch)).rejects.toEqual(error("EVENT_INVALID", "{ type, data }"));
      await expect(run.rollback(9999 as never)).rejects.toEqual(
        none("rollback({ to: checkpoint, edit })", "9999"),
      );
      await expect(run.rollback(null as never)).rejects.toEqual(none("rollback("));
      await expect(run.rollback({} as never)).rejects.toEqual(none("rollback(", "undefined"));
      await expect(run.fork(null as never)).rejects.toEqual(none("fork("));
      await expect(listOf(run.journal(Number.NaN))).rejects.toEqual(none("journal(from)"));
      await expect(listOf(run.follow(Number.NaN))).rejects.toEqual(none("follow(from"));
      await expect(runtime.run("a", null as never)).rejects.toEqual(none("run(id, { tenant })"));
      await expect(listOf(runtime.find(null as never))).rejects.toEqual(none("find("));
      await expect(runtime.debounce("k", null as never)).rejects.toEqual(none("debounce("));
      await expect(runtime.start(counter, "x" as never)).rejects.toEqual(none("start(machine", '"x"'));
      const attributes = ["red"] as never;
      const unnamed = error("ATTRIBUTE_INVALID", '["red"]');
      await expect(runtime.start(counter, { id: "b", attributes })).rejects.toEqual(unnamed);
      await expect(listOf(runtime.find({ attributes }))).rejects.toEqual(unnamed);
      expect((await stored("b")).head).toBeUndefined();
      await unchanged();
    });

    test("F5: what is no machine", async () => {
      const { runtime, unchanged, boot } = await begin();
      for (const machine of [null, undefined, "counter", { id: "counter" }] as never[]) {
        const none = error("MACHINE_INVALID", "is not a machine", "defineMachine");
        await expect(runtime.start(machine, { id: "b" } as never)).rejects.toEqual(none);
        expect(() => runtime.register(machine)).toThrow(none);
        await expect(boot([machine])).rejects.toEqual(none);
      }
      expect((await listOf(runtime.find())).map(({ run }) => run)).toEqual(["a"]);
      await unchanged();
    });

    test("F5: a runtime without a store or machines, or in a role that there is not", async () => {
      const { place } = await world();
      const none = (given: object) => expect(createRuntime(given as never)).rejects;
      await none({}).toEqual(error("OPTIONS_INVALID", "createRuntime({ store, machines", "the store"));
      await none(undefined as never).toEqual(error("OPTIONS_INVALID", "createRuntime("));
      const store = place.connect();
      await none({ store }).toEqual(error("OPTIONS_INVALID", "machines is undefined"));
      await none({ store, machines: [counter], role: "boss" }).toEqual(error("OPTIONS_INVALID", '"boss"'));
    });

    test("F5: a machine that is given twice", async () => {
      const { boot } = await world();
      await expect(boot([counter, counterWith()])).rejects.toEqual(error("MACHINE_INVALID", "counter@1"));
    });

    test("F5: another runtime on the same store, in this process", async () => {
      const { boot, run, unchanged } = await begin();
      await expect(boot([counter])).rejects.toEqual(error("STORE_OWNED", "stop it first"));
      await unchanged();
      await run.send("add", 1);
    });
  });

  describe.runIf(kind === "SQLite")("a file", () => {
    test("F5: of a newer version is refused, and left as it is", async () => {
      const { boot, crash, place } = await world();
      await crash(await boot([counter]));
      const database = new DatabaseSync(place.path as string);
      database.exec("PRAGMA user_version = 99");
      await expect(boot([counter])).rejects.toEqual(error("STORE_NEWER", "99", "newer Holdfast"));
      expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 });
      database.close();
    });

    test("F5: of a version that none has is refused, and left as it is", async () => {
      const { boot, crash, place } = await world();
      await crash(await boot([counter]));
      const database = new DatabaseSync(place.path as string);
      database.exec("PRAGMA user_version = -5");
      await expect(boot([counter])).rejects.toEqual(error("STORE_CORRUPT", "-5", "restore it from a backup"));
      expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: -5 });
      database.close();
    });

    test("F5: whose path no system can open is refused", async () => {
      const opened = createRuntime({ store: sqlite("a\0b"), machines: [counter] });
      await expect(opened).rejects.toEqual(error("OPTIONS_INVALID", "sqlite(path)"));
    });

    test("whose durability is asked for in words that it does not know is refused, and not weaker", async () => {
      const { place } = await world();
      for (const options of [{ synchronous: "FULL" }, { synchronous: "off" }, null, 5, "full"] as never[]) {
        const opened = createRuntime({ store: sqlite(place.path as string, options), machines: [counter] });
        await expect(opened).rejects.toEqual(error("OPTIONS_INVALID", '"full" or "normal"'));
      }
      expect(existsSync(place.path as string)).toBe(false);
    });

    test("F5: that is damaged or another's is refused, and left as it is", async () => {
      const { boot, place } = await world();
      writeFileSync(
        place.path as string,
        "not a database at all, but long enough to be taken for one".repeat(99),
      );
      await expect(boot([counter])).rejects.toEqual(error("STORE_FOREIGN", "not a database"));
      const other = await world();
      const database = new DatabaseSync(other.place.path as string);
      database.exec("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)");
      await expect(other.boot([counter])).rejects.toEqual(error("STORE_FOREIGN", "another program"));
      expect(database.prepare("SELECT a FROM mine").all()).toEqual([{ a: 1 }]);
      database.close();
    });

    test("F5: with a damaged journal tells which run, and the others go on", async () => {
      const { boot, crash, place } = await world();
      const first = await boot([counter]);
      for (const id of ["a", "b"]) await (await first.start(counter, { id })).send("note", "something");
      await crash(first);
      const database = new DatabaseSync(place.path as string);
      const damage = "UPDATE entry SET bytes = CAST(replace(bytes, 'something', 'anything!') AS BLOB)";
      database.exec(`${damage} WHERE rowid = (SELECT max(rowid) FROM entry)`);
      database.close();
      const second = await boot([counter]);
      await expect(second.run("b")).rejects.toEqual(error("STORE_CORRUPT", '"b"', "2"));
      expect((await (await second.run("a")).state()).context).toMatchObject({ log: ["something"] });
    });

    test("F5: that another process has open is refused, until that one is gone, be it killed", async () => {
      const { boot, place } = await world();
      const script = fileURLToPath(new URL("../../test/runtime/second-process.ts", import.meta.url));
      const other = spawn(process.execPath, ["--conditions=holdfast-source", script, place.path as string], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await once(other.stdout, "data");
        // Its lease is of the real time.
        const clock = { clock: systemClock };
        await expect(boot([counter], clock)).rejects.toEqual(error("STORE_OWNED", `${other.pid}`, "stop it"));
        other.kill("SIGKILL");
        await once(other, "exit");
        const run = await (await boot([counter], clock)).start(counter, { id: "a" });
        expect((await run.head()).seq).toBe(1);
      } finally {
        other.kill("SIGKILL");
      }
    });
  });
});
