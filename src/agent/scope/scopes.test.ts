/** Scopes: what is written where, who sees it, and how long it stays. */
import { expect, test } from "vitest";
import { z } from "zod";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { harness } from "../../testing/index.ts";
import { openScopes } from "./open-scopes.ts";
import { defineScopes } from "./scopes.ts";

const scopes = defineScopes({
  id: "state",
  scopes: {
    app: { theme: z.enum(["light", "dark"]), limit: z.number() },
    user: { theme: z.enum(["light", "dark"]), name: z.string() },
    session: { theme: z.enum(["light", "dark"]), cart: z.array(z.string()) },
    temporary: { theme: z.enum(["light", "dark"]), draft: z.string() },
  },
  retention: { session: "30 min" },
});

onEveryStore((world) => {
  test("C7: a key is read from the nearest scope that has it, and written to the one that is named", async () => {
    const here = await world();
    const runtime = await here.boot([scopes]);
    const state = openScopes(runtime, scopes, { user: "ada", session: "s1" });
    expect(await state.read("theme")).toBeUndefined();
    for (const [scope, value] of [
      ["app", "dark"],
      ["user", "light"],
      ["session", "dark"],
      ["temporary", "light"],
    ] as const) {
      await state.write(scope, "theme", value);
      expect([await state.read("theme"), await state.where("theme")]).toEqual([value, scope]);
    }
    await state.remove("temporary", "theme");
    await state.remove("session", "theme");
    expect([await state.read("theme"), await state.where("theme")]).toEqual(["light", "user"]);
    await state.write("app", "limit", 5);
    expect(await state.readAll()).toEqual({ theme: "light", limit: 5 });
  });

  test("C7: each sees the app's, its own, and nothing of others; what is temporary is gone with the process", async () => {
    const here = await world();
    const first = await here.boot([scopes]);
    const ada = openScopes(first, scopes, { user: "ada", session: "s1" });
    await ada.write("app", "limit", 3);
    await ada.write("user", "name", "Ada");
    await ada.write("session", "cart", ["tea"]);
    await ada.write("temporary", "draft", "Dear …");
    expect(await openScopes(first, scopes, { user: "ada", session: "s1" }).read("draft")).toBeUndefined();
    await here.crash(first);
    const runtime = await here.boot([scopes]);
    const open = (user: string, session: string, tenant?: string) =>
      openScopes(runtime, scopes, { user, session, ...(tenant === undefined ? {} : { tenant }) }).readAll();
    expect(await open("ada", "s1")).toEqual({ limit: 3, name: "Ada", cart: ["tea"] });
    expect(await open("ada", "s2")).toEqual({ limit: 3, name: "Ada" });
    expect(await open("bob", "s3")).toEqual({ limit: 3 });
    expect(await open("ada", "s1", "other")).toEqual({});
    expect(await openScopes(runtime, scopes).readAll()).toEqual({ limit: 3 });
    const heads = await listOf(runtime.find({ machine: "state", subject: "ada" }));
    expect(heads).toHaveLength(3);
    for (const { run } of heads) {
      const entries = await listOf((await runtime.run(run)).journal());
      expect(JSON.stringify(entries)).not.toContain("Dear");
    }
  });

  test("F5: what does not fit is refused and changes nothing", async () => {
    const here = await world();
    const runtime = await here.boot([scopes]);
    const state = openScopes(runtime, scopes, { user: "ada" });
    const code = (work: Promise<unknown>) =>
      work.then(
        () => "done",
        (error: { code: string }) => error.code,
      );
    // @ts-expect-error A name is text.
    expect(await code(state.write("user", "name", 3))).toBe("EVENT_INVALID");
    expect(await code(state.write("temporary", "draft", 3 as never))).toBe("EVENT_INVALID");
    // @ts-expect-error A user has no cart; a session has.
    expect(await code(state.write("user", "cart", []))).toBe("SCOPE_INVALID");
    expect(await code(state.write("session", "cart", ["tea"]))).toBe("SCOPE_INVALID");
    expect(await code(state.read("nmae" as never))).toBe("SCOPE_INVALID");
    expect(await code(state.remove("user", "nmae" as never))).toBe("SCOPE_INVALID");
    expect(await state.readAll()).toEqual({});
    expect(() => defineScopes({ id: "bad", scopes: { app: { "a.b": z.string() } } })).toThrow("is no name");
    expect(() => openScopes(runtime, scopes, { user: "" })).toThrow("is empty");
  });
});

test("C7: a session is forgotten when nothing was written for a while; a user is not", async () => {
  const test = await harness(scopes.machine);
  await test.start("session");
  await test.send("write.session.cart", ["tea"]);
  await test.advance("29 min");
  await test.send("write.session.theme", "dark");
  await test.send("write.user.name", "Ada");
  await test.advance("29 min");
  test.expect({ state: "expiring", context: { scope: "session", values: { cart: ["tea"], theme: "dark" } } });
  await test.advance("1 min");
  test.expect({ state: "forgotten", status: "done", context: { scope: "session", values: {} } });
  await test.start("user", { id: "u" });
  await test.send("write.user.name", "Ada");
  await test.send("remove", "theme");
  await test.advance("1000 days");
  test.expect({ state: "kept", context: { scope: "user", values: { name: "Ada" } } });
  await test.crashEverywhere({ points: 60 });
  await test.close();
});

test("C7: whoever comes back after a session was forgotten begins a new one", async () => {
  const quick = defineScopes({
    id: "quick",
    scopes: { session: { n: z.number() } },
    retention: { session: "1s" },
  });
  const test = await harness(quick.machine);
  await test.start("session", { id: "other" });
  const write = (value: number) =>
    test.perform((runtime) => openScopes(runtime, quick, { session: "s" }).write("session", "n", value));
  const read = () => test.perform((runtime) => openScopes(runtime, quick, { session: "s" }).read("n"));
  await write(1);
  expect(await read()).toBe(1);
  await test.advance("2s");
  expect(await read()).toBeUndefined();
  await write(2);
  expect(await read()).toBe(2);
  await test.close();
});
