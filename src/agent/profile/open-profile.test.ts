/** Profiles in a runtime: one for each user, kept, told apart, forgotten and erased. */
import { expect, test } from "vitest";
import { listOf, onEveryStore, type World } from "../../../test/runtime/world.ts";
import { harness } from "../../testing/index.ts";
import { defineProfile, openProfile } from "./open-profile.ts";
import { emptyProfile } from "./profile.ts";

const taste = defineProfile({
  id: "taste",
  retention: "100 days",
  preferences: {
    brief: { type: "flag", purpose: "style" },
    tone: { type: "category", values: ["warm", "dry"], purpose: "style" },
  },
});

onEveryStore((world) => {
  const opened = async (here: World) => {
    const runtime = await here.boot([taste]);
    const open = (user: string, tenant?: string) =>
      openProfile(runtime, taste, { user, clock: here.clock, ...(tenant === undefined ? {} : { tenant }) });
    return { runtime, open };
  };

  test("C6: what one user does is learned of that user, in that tenant, and is there in the next process", async () => {
    const here = await world();
    const { runtime, open } = await opened(here);
    const ada = open("ada");
    await ada.consent("style");
    for (let turn = 0; turn < 4; turn++)
      expect(await ada.observe("tone", "dry", { id: `turn-${turn}` })).toBe(true);
    await ada.observe("tone", "dry", { id: "turn-3" });
    await here.crash(runtime);
    const next = await opened(here);
    const told = await next.open("ada").preference("tone");
    expect(told).toMatchObject({ value: "dry", applies: true, basis: "evidence" });
    expect(told.why).toHaveLength(4);
    expect(await next.open("bob").preference("tone")).toMatchObject({ basis: "withheld" });
    expect(await next.open("ada", "other").preference("tone")).toMatchObject({ basis: "withheld" });
    expect((await next.open("ada").drift())[0]).toMatchObject({ key: "tone", drifted: false });
  });

  test("C6: without consent an observation is not even written down", async () => {
    const here = await world();
    const { runtime, open } = await opened(here);
    expect(await open("ada").observe("brief", true)).toBe(false);
    const [head] = await listOf(runtime.find({ machine: "taste" }));
    const run = await runtime.run(head!.run);
    expect((await listOf(run.journal())).map(({ event }) => event.type)).toEqual(["start"]);
    expect(head?.subject).toBe("ada");
  });

  test("C6: settings win, are taken back, and consent can be withdrawn", async () => {
    const here = await world();
    const { open } = await opened(here);
    const ada = open("ada");
    await ada.consent("style");
    await ada.observe("brief", true, { weight: 5 });
    await ada.set("brief", false);
    const rules = {
      short: { from: "brief", to: (brief: boolean) => (brief ? "yes" : "no"), otherwise: "?" },
    } as const;
    expect((await ada.adapt(rules)).settings.short).toBe("no");
    await ada.unset("brief");
    expect((await ada.adapt(rules)).settings.short).toBe("yes");
    await ada.withdraw("style");
    expect((await ada.read()).state.learned).toEqual({});
    expect((await ada.export()).consents).toEqual({ style: { given: false, at: here.clock.now() } });
    const invalid = { code: "PREFERENCE_INVALID" };
    // @ts-expect-error There is no such preference.
    await expect(ada.set("brif", true)).rejects.toMatchObject(invalid);
    // @ts-expect-error It has no such value.
    await expect(ada.set("tone", "loud")).rejects.toMatchObject(invalid);
    // @ts-expect-error It is yes or no.
    await expect(ada.observe("brief", "yes")).rejects.toMatchObject(invalid);
  });

  test("C6: values with the names of what every object has are counted as others are", async () => {
    const here = await world();
    const values = ["constructor", "__proto__", "toString", "plain"] as const;
    const odd = defineProfile({
      id: "odd",
      preferences: { c: { type: "category", values, purpose: "style" } },
    });
    const ada = openProfile(await here.boot([odd]), odd, { user: "ada", clock: here.clock });
    await ada.consent("style");
    for (const value of [...values, "__proto__", "__proto__"] as const)
      expect(await ada.observe("c", value)).toBe(true);
    const { value, shares = {} } = await ada.preference("c");
    expect([value, Object.entries(shares)]).toEqual([
      "__proto__",
      [
        ["constructor", 1.5 / 8],
        ["__proto__", 3.5 / 8],
        ["toString", 1.5 / 8],
        ["plain", 1.5 / 8],
      ],
    ]);
  });

  test("C6: numbers of any size are learned, and make nothing sure that is far apart", async () => {
    const here = await world();
    const kind = defineProfile({
      ...{ id: "sizes", preferences: { n: { type: "number", tolerance: 1, purpose: "style" } } },
    });
    const ada = openProfile(await here.boot([kind]), kind, { user: "ada", clock: here.clock });
    await ada.consent("style");
    expect(await ada.observe("n", 1e200)).toBe(true);
    expect(await ada.preference("n")).toMatchObject({ value: 1e200, basis: "evidence" });
    for (const value of [1e308, -1e308, 1, Number.MAX_VALUE, 5e-324])
      expect(await ada.observe("n", value)).toBe(true);
    const { value, confidence, why } = await ada.preference("n");
    expect([Number.isFinite(value), confidence, why.length]).toEqual([true, 0, 6]);
    for (const weight of [Number.MAX_VALUE, Number.MAX_VALUE])
      expect(await ada.observe("n", 1e300, { weight })).toBe(true);
    expect((await ada.preference("n")).why).toHaveLength(8);
    expect(await ada.drift()).toMatchObject([{ key: "n" }]);
  });

  test("C6: an observation that comes just after the consent to it was withdrawn is said not to be learned", async () => {
    const here = await world();
    const { runtime, open } = await opened(here);
    await open("ada").consent("style");
    // Somebody else's word comes between the look at the consent and the observation.
    const late = openProfile(
      {
        start: async (...given: Parameters<typeof runtime.start>) => {
          const run = await runtime.start(...given);
          const sendAll: typeof run.sendAll = async (events) => {
            await open("ada").withdraw("style");
            return run.sendAll(events);
          };
          return { id: run.id, tenant: run.tenant, state: () => run.state(), sendAll };
        },
      } as never,
      taste,
      { user: "ada", clock: here.clock },
    );
    expect(await late.observe("brief", true)).toBe(false);
    expect((await open("ada").read()).state.learned).toEqual({});
  });

  test("C6: who is erased is unknown, and may begin anew", async () => {
    const here = await world();
    const { open } = await opened(here);
    const ada = open("ada");
    await ada.consent("style");
    await ada.observe("brief", true);
    await ada.erase();
    expect((await ada.read()).state).toEqual(emptyProfile);
    await ada.consent("style");
    expect(await ada.observe("brief", false)).toBe(true);
    expect((await open("ada").preference("brief")).why).toHaveLength(1);
  });
});

test("C6: a profile without news for as long as it is kept is erased by itself", async () => {
  const test = await harness(taste.machine);
  await test.start();
  await test.send("consent", { purpose: "style" });
  await test.advance("60 days");
  await test.send("observe", { key: "brief", value: true });
  await test.advance("99 days");
  test.expect("open");
  await test.advance("1 day");
  test.expect({ state: "erased", status: "done", context: emptyProfile as never });
  await test.close();
});

test("C6: killed anywhere, each observation counts once", async () => {
  const test = await harness(taste.machine);
  await test.start();
  await test.send("consent", { purpose: "style" });
  await test.send("observe", { key: "brief", value: true });
  await test.advance("10 days");
  await test.send("observe", { key: "brief", value: true });
  await test.send("observe", { key: "brief", value: "much" });
  expect(test.context.learned.brief?.rows).toHaveLength(2);
  await test.crashEverywhere();
  await test.close();
});
