/** What is of another kind than a call takes: it is refused with what to write instead, and nothing has changed. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import { openReader } from "./reader.ts";
import { createRuntime, type Run, type Runtime } from "./runtime.ts";

type Call = (given: never, run: Run, runtime: Runtime) => unknown;

/** What each call is given in its place, and the code of the error. */
const calls: readonly (readonly [string, readonly unknown[], string, Call])[] = [
  ["replay", [null, 5, "x"], "OPTIONS_INVALID", (given, run) => run.replay(given)],
  ["replay of a machine", [null, 5, "x", {}], "MACHINE_INVALID", (machine, run) => run.replay({ machine })],
  ["migrate", [null, 5], "OPTIONS_INVALID", (given, run) => run.migrate(given)],
  ["waitFor", [null, 5, "", {}, 1n], "STATE_UNKNOWN", (given, run) => run.waitFor(given)],
  ["at", [null, "1", 1n, 1.5], "CHECKPOINT_UNKNOWN", (given, run) => run.at(given)],
  ["lastChange", [null, 5, {}, ""], "PATH_INVALID", (given, run) => run.lastChange(given)],
  ["rollback", [5, "x", {}, null], "OPTIONS_INVALID", (edit, run) => run.rollback({ to: 1, edit })],
  ["fork", [5, "x", {}, null], "OPTIONS_INVALID", (edit, run) => run.fork({ id: "f", edit })],
  ["advance", [null, 1n, "1"], "LIMIT_INVALID", (given, run) => run.advance(given)],
  [
    "breakpoints",
    [null, 5, "x", [null], [{}], ["x"]],
    "OPTIONS_INVALID",
    (given, run) => run.breakpoints(given),
  ],
  [
    "a breakpoint at an event",
    [null, 5, ""],
    "OPTIONS_INVALID",
    (event, run) => run.breakpoints([{ event }]),
  ],
  ["a breakpoint in a state", [null, 5, ""], "STATE_UNKNOWN", (state, run) => run.breakpoints([{ state }])],
  ["stream", [null, 5, {}], "ACTIVITY_UNKNOWN", (given, run) => listOf(run.stream(given))],
  [
    "the offset of a stream",
    [null, "0", {}],
    "OPTIONS_INVALID",
    (from, run) => listOf(run.stream("1.0", from)),
  ],
  [
    "the options of a stream",
    [null, 5],
    "OPTIONS_INVALID",
    (given, run) => listOf(run.stream("1.0", 0, given)),
  ],
  ["a signal", [null, 5, {}], "OPTIONS_INVALID", (signal, run) => listOf(run.stream("1.0", 0, { signal }))],
  [
    "a signal to follow by",
    [null, 5, {}],
    "OPTIONS_INVALID",
    (signal, run) => listOf(run.follow(1, { signal })),
  ],
  ["diff", [null, 5, "a", undefined], "OPTIONS_INVALID", (given, run, runtime) => runtime.diff(given, run)],
  [
    "diff with a run without a name",
    [{}, { id: "a" }],
    "NAME_INVALID",
    (given, run, runtime) => runtime.diff(run, given),
  ],
  ["thread", [null, 5, {}], "OPTIONS_INVALID", (given, _, runtime) => runtime.thread(given)],
  ["observe", [null, 5, {}], "OPTIONS_INVALID", async (given, _, runtime) => runtime.observe(given)],
  ["hear", [null, 5, {}], "OPTIONS_INVALID", async (given, _, runtime) => runtime.hear(given)],
  [
    "a singleton",
    [null, 5],
    "OPTIONS_INVALID",
    (singleton, _, runtime) => runtime.start(counter, { singleton }),
  ],
  ["an id", [1n, Symbol("a"), () => 1], "NAME_INVALID", (id, _, runtime) => runtime.start(counter, { id })],
  [
    "the machine of a schedule",
    [null, 5, {}],
    "SCHEDULE_INVALID",
    (machine, _, runtime) => runtime.schedule("s", { cron: "* * * * *", start: { machine } }),
  ],
  [
    "the limits of a schedule",
    [5, { steps: -1 }],
    "LIMIT_INVALID",
    (given, _, runtime) =>
      runtime.schedule("s", { cron: "* * * * *", start: { machine: counter, limits: given } }),
  ],
  [
    "the subject of a schedule",
    [5, ""],
    "NAME_INVALID",
    (subject, _, runtime) =>
      runtime.schedule("s", { cron: "* * * * *", start: { machine: counter, subject } }),
  ],
  [
    "the attributes of what is put off",
    [5, { a: {} }],
    "ATTRIBUTE_INVALID",
    (attributes, _, runtime) => runtime.debounce("k", { for: "1s", start: { machine: counter, attributes } }),
  ],
  [
    "find",
    [{ user: "ada" }, { status: 5 }, { tenant: {} }, { createdFrom: Number.NaN }],
    "OPTIONS_INVALID",
    (given, _, runtime) => listOf(runtime.find(given)),
  ],
  [
    "dead letters",
    [null, 5, { after: "1" }],
    "OPTIONS_INVALID",
    (given, _, runtime) => listOf(runtime.deadLetters.list(given)),
  ],
  [
    "dead letters of a tenant",
    [null, 5, {}],
    "NAME_INVALID",
    (tenant, _, runtime) => listOf(runtime.deadLetters.list({ tenant })),
  ],
  [
    "a dead letter",
    [null, "1", {}],
    "OPTIONS_INVALID",
    (given, _, runtime) => runtime.deadLetters.redeliver(given),
  ],
  [
    "a dead letter to discard",
    [null, 5],
    "OPTIONS_INVALID",
    (given, _, runtime) => runtime.deadLetters.discard(1, given),
  ],
];

onEveryStore((world) => {
  describe("what is of another kind", () => {
    test.each(calls)("%s", async (_name, given, code, call) => {
      const { boot, stored } = await world();
      const runtime = await boot([counter]);
      const run = (await runtime.start(counter, { id: "a" })) as unknown as Run;
      const before = await stored("a");
      for (const one of given) {
        const outcome = await Promise.resolve()
          .then(() => call(one as never, run, runtime))
          .catch((error: unknown) => error);
        expect(outcome).toMatchObject({ name: "HoldfastError", code });
      }
      expect(await stored("a")).toEqual(before);
      expect((await listOf(runtime.find())).map(({ run: id }) => id)).toEqual(["a"]);
    });

    test("parts of a runtime that would fail with its first step", async () => {
      const { place } = await world();
      const given = { store: place.connect(), machines: [counter] };
      for (const part of ["clock", "ids", "seal", "onLog", "onProblem", "flow", "housekeeping"])
        for (const wrong of [null, 5, "x"])
          await expect(createRuntime({ ...given, [part]: wrong } as never)).rejects.toMatchObject({
            ...{ code: "OPTIONS_INVALID", message: expect.stringContaining(part) },
          });
      for (const parts of [
        { activities: { tool: 5 } },
        { activities: 5 },
        { evolution: "later" },
        { migrations: 5 },
      ]) {
        const machines = [{ machine: callerWith(), ...parts }] as never;
        const message = expect.stringContaining(
          `${Object.keys(parts)[0] === "activities" ? "function" : Object.keys(parts)[0]}`,
        );
        await expect(createRuntime({ ...given, machines })).rejects.toMatchObject({
          code: "MACHINE_INVALID",
          message,
        });
      }
      for (const [slip, meant] of [
        ["activites", "activities"],
        ["attribute", "attributes"],
        ["migration", "migrations"],
      ]) {
        const machines = [{ machine: callerWith(), [slip as string]: {} }] as never;
        await expect(createRuntime({ ...given, machines })).rejects.toMatchObject({
          code: "MACHINE_INVALID",
          message: expect.stringContaining(`has "${slip}" beside it; did you mean "${meant}"?`),
        });
      }
      for (const reader of [null, {}, { store: 5 }] as never[])
        await expect(openReader(reader)).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
    });

    test("an option that there is not, with the nearest of those there are", async () => {
      const { boot, stored, place } = await world();
      const given = { store: place.connect(), machines: [counter] };
      for (const [options, message] of [
        [
          { store: given.store, machine: [counter] },
          'no option "machine"; did you mean "machines"? there are store, ',
        ],
        [{ ...given, sotre: given.store }, 'no option "sotre"; did you mean "store"?'],
        [{ ...given, flow: { slot: 3 } }, 'no option "slot"; did you mean "slots"? there are slots'],
        [{ ...given, housekeeping: { rules: [] } }, 'no option "rules"; there are every, expire,'],
      ] as const)
        await expect(createRuntime(options as never)).rejects.toMatchObject({
          ...{ code: "OPTIONS_INVALID", message: expect.stringContaining(message) },
        });
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a", subject: undefined, typo: undefined } as never);
      const before = await stored("a");
      const wrong = { timezone: "UTC" } as never;
      for (const call of [
        () => runtime.start(counter, wrong),
        () => runtime.start(counter, { singleton: { key: "k", ...(wrong as object) } }),
        () => runtime.run("a", wrong),
        () => run.send("add", 1, wrong),
        () => run.ask("add", 1, wrong),
        () => run.migrate(wrong),
        () => run.fork(wrong),
        () => run.rollback({ to: 1, ...(wrong as object) }),
        () => run.rollback({ to: 1 }, wrong),
        () => run.replay(wrong),
        () => run.breakpoints([{ state: "open", ...(wrong as object) }]),
        () => run.pause(wrong),
        () => run.cancel(wrong),
        () => listOf(run.follow(1, wrong)),
        () => listOf(runtime.deadLetters.list(wrong)),
        () => runtime.deadLetters.redeliver(1, wrong),
        () => openReader({ store: given.store, ...(wrong as object) }),
        () => runtime.machines.deploy(counter, wrong),
        () => listOf(runtime.machines.migrate("counter", wrong)),
        () => runtime.schedule("s", { cron: "* * * * *", start: { machine: counter, ...(wrong as object) } }),
        () => runtime.debounce("k", { for: "1s", start: { machine: counter, ...(wrong as object) } }),
      ] as const)
        await expect(call()).rejects.toMatchObject({
          ...{ code: "OPTIONS_INVALID", message: expect.stringContaining('there is no option "timezone"; ') },
        });
      expect(await stored("a")).toEqual(before);
      expect((await listOf(runtime.find())).map(({ run: id }) => id)).toEqual(["a"]);
    });

    test("is shown as far as one recognises it", async () => {
      const runtime = await (await world()).boot([counter]);
      const long = await runtime.start(counter, { id: "x".repeat(1_000_000) }).catch((error: Error) => error);
      expect((long as Error).message.length).toBeLessThan(1_000);
    });
  });

  test("a state is waited for and stopped at by its id, too", async () => {
    const { boot } = await world();
    const machine = counterWith({
      states: { open: { on: { go: "there" } }, there: { id: "goal", on: { back: "open" } } },
    });
    const run = await (await boot([machine])).start(machine, { id: "a" });
    await run.breakpoints([{ state: "#goal" }]);
    await run.send("go");
    expect((await run.waitFor("#goal")).configuration).toEqual(["there"]);
    expect(await run.parked()).toMatchObject({ name: "Breakpoint" });
    await expect(run.waitFor("#nobody")).rejects.toMatchObject({ code: "STATE_UNKNOWN" });
  });
});
