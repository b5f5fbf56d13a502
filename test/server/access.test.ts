/** Who may what: every route for every role, for nobody, and for another tenant; and every answer against its schema. */
import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { type Role, roles } from "../../src/security/policy.ts";
import { paths, type Route, type RouteName, routes } from "../../src/server/index.ts";
import { exemplars, type Facts, furnish } from "./exemplars.ts";
import { type House, openHouse } from "./house.ts";

const names = Object.keys(paths) as RouteName[];

/** Asks a route as its client would, and gives the answer itself. */
async function ask(house: House, key: string | undefined, name: RouteName, input: object): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const client = createClient({
    ...{ url: "http://127.0.0.1:4400", ...(key === undefined ? {} : { key }) },
    fetch: async (request) => {
      const response = await house.server.fetch(request);
      resolve(response.clone());
      return response;
    },
  });
  const [group, verb] = name.split(".") as [keyof typeof client, string];
  const stop = new AbortController();
  const call = (client[group] as Record<string, (input: object, options: object) => unknown>)[verb];
  const called = call?.(input, { signal: stop.signal });
  if (called instanceof Promise) called.catch(() => {});
  else void (called as AsyncGenerator).next().catch(() => {});
  const response = await promise;
  setImmediate(() => stop.abort());
  return response;
}

async function readStream(response: Response): Promise<unknown[]> {
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  const { value = "" } = await reader.read();
  await reader.cancel();
  return [...value.matchAll(/^event: (step|chunk)\ndata: (.*)$/gm)].map(([, , data]) =>
    JSON.parse(data as string),
  );
}

const rank = (role: Role | "nobody"): number => ["nobody", ...roles].indexOf(role);

describe("every route", () => {
  test.each(roles)(
    "F2: answers a %s what the role may, as its schema says, and refuses the rest",
    async (role) => {
      const house = await openHouse({ dev: false });
      const facts = await furnish(await house.as("admin"), role);
      const key = await house.keyOf(role);
      for (const name of names) {
        const [least, make] = exemplars[name];
        const response = await ask(house, key, name, make(facts));
        const isAllowed = rank(role) >= rank(least);
        if (!isAllowed) {
          expect({ name, status: response.status }).toEqual({ name, status: 403 });
          expect(await response.json()).toMatchObject({ code: "NOT_ALLOWED", status: 403 });
          continue;
        }
        expect({ name, status: response.status }).toEqual({ name, status: routes[name].status });
        await expectFit(name, response);
      }
    },
  );

  test("F1: refuses who has no key, a wrong one, one of another secret, one that expired and one that was revoked", async () => {
    let now = 1_000_000;
    const clock = {
      now: () => now,
      after: () => () => {},
      soon: (run: () => void) => void setImmediate(run),
    };
    const house = await openHouse({ dev: false, clock, refusals: { perSecond: 1, burst: 1_000 } });
    const good = await house.keyOf("admin");
    const { key: expired } = await house.server.keys.create({
      ...{ name: "short", role: "admin", tenant: "default", createdBy: "test", expiresAt: now + 1_000 },
    });
    const { key: revoked, id } = await house.server.keys.create({
      ...{ name: "gone", role: "admin", tenant: "default", createdBy: "test" },
    });
    expect((await ask(house, expired, "me.show", {})).status).toBe(200);
    expect((await ask(house, revoked, "me.show", {})).status).toBe(200);
    now += 1_000;
    await house.server.keys.revoke("default", id);
    const bad = [
      undefined,
      "nonsense",
      `${good}x`,
      good.replace(/_[^_]*$/, "_aaaa"),
      "hf_nobody_secret",
      expired,
      revoked,
    ];
    for (const name of names) {
      const isPublic = exemplars[name][0] === "nobody";
      for (const key of bad) {
        const response = await ask(house, key, name, exemplars[name][1](nowhere));
        expect({ name, key, status: response.status }).toEqual({ name, key, status: isPublic ? 200 : 401 });
        if (!isPublic) expect(await response.json()).toMatchObject({ code: "KEY_REFUSED" });
      }
    }
  });

  test("F2: shows nothing of another tenant, and says of its runs that there are none", async () => {
    const house = await openHouse({ dev: false });
    const facts = await furnish(await house.as("admin"), "canary");
    const key = await house.keyOf("admin", "other");
    for (const name of names) {
      const input = exemplars[name][1]({ ...facts, suffix: "own" });
      const response = await ask(house, key, name, input);
      const text = paths[name][2] === "stream" && response.ok ? "" : await response.text();
      const about = JSON.stringify(input).includes("canary");
      if (about)
        expect({ name, status: response.status, is404: text.includes("_UNKNOWN") }).toMatchObject({
          is404: true,
        });
      if (about) continue;
      expect({ name, leaks: text.includes("canary") }).toEqual({ name, leaks: false });
    }
    const own = await house.as("admin");
    expect((await own.runs.show({ run: facts.counter })).status).toBe("active");
  });
});

const nowhere: Facts = {
  ...{
    counter: "x",
    parked: "x",
    expense: "x",
    agent: "x",
    idle: "x",
    planner: "x",
    board: "x",
    key: "x",
    suffix: "x",
  },
  ...{ letter: 1, otherLetter: 2 },
};

/** That an answer is what the contract says, and has nothing that it does not say. */
async function expectFit(name: RouteName, response: Response): Promise<void> {
  const { answer }: Route = routes[name];
  const form = paths[name][2];
  if (form === "stream") {
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    if (name === "runs.follow")
      for (const data of await readStream(response)) expect(answer.parse(data)).toEqual(data);
    return;
  }
  const body: unknown = form === "text" ? await response.text() : await response.json();
  const parsed = answer.safeParse(body);
  expect({ name, problems: parsed.error?.issues ?? [] }).toEqual({ name, problems: [] });
  expect({ name, body: parsed.data }).toEqual({ name, body });
}
