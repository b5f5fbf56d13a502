/** Requests without a good key: as many as an address may make, and nobody else is hurt by them. */
import { describe, expect, test } from "vitest";
import { limits } from "../../src/limits.ts";
import { type House, openHouse } from "./house.ts";

/** Asks from an address, with a key or without. */
async function ask(house: House, address: string | undefined, key?: string, path = "/v1/me") {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return house.server.fetch(new Request(`http://127.0.0.1:4400${path}`, { headers }), { address });
}

/** A clock that stands still until it is told otherwise. */
function stillClock() {
  const clock = {
    at: 1_000_000,
    now: () => clock.at,
    after: () => () => {},
    soon: (run: () => void) => void setImmediate(run),
  };
  return clock;
}

const burst = limits.refusalsBurstMax;

describe("requests without a good key", () => {
  test("F5: are refused as often as an address may be, and one more is told when to come back", async () => {
    const clock = stillClock();
    const house = await openHouse({ dev: false, clock });
    const statusOf = async (address: string | undefined, key?: string) =>
      (await ask(house, address, key)).status;
    for (let count = 0; count < burst; count++)
      expect(await statusOf("192.0.2.7", count % 2 === 0 ? undefined : "hf_nobody_secret")).toBe(401);
    const refused = await ask(house, "192.0.2.7");
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ code: "RATE_EXCEEDED", retry: "later" });
    // Another address has done nothing yet, and neither have those that nobody knows.
    expect([await statusOf("192.0.2.8"), await statusOf(undefined)]).toEqual([401, 401]);
    clock.at += 1_000 / limits.refusalsPerSecond;
    expect([await statusOf("192.0.2.7"), await statusOf("192.0.2.7")]).toEqual([401, 429]);
  });

  test("F5: take nothing from who has a good key there, nor from those who look after the process", async () => {
    const house = await openHouse({ dev: false, clock: stillClock() });
    const key = await house.keyOf("viewer");
    for (let count = 0; count <= burst; count++) await ask(house, "192.0.2.7", "hf_nobody_secret");
    expect((await ask(house, "192.0.2.7")).status).toBe(429);
    expect((await ask(house, "192.0.2.7", key)).status).toBe(200);
    for (const path of ["/healthz", "/readyz", "/openapi.json"])
      expect((await ask(house, "192.0.2.7", undefined, path)).status).toBe(200);
  });

  test("F5: are counted by a rate that a server is given, and by the address of their connection", async () => {
    const house = await openHouse({ dev: false, refusals: { perSecond: 0.001, burst: 2 } });
    const { url } = await house.listen();
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${url}/v1/me`, { headers })).status;
    // What a header says of its sender changes nothing.
    expect([
      await statusOf({ "x-forwarded-for": "192.0.2.1" }),
      await statusOf({ "x-forwarded-for": "192.0.2.2" }),
      await statusOf({ "x-forwarded-for": "192.0.2.3" }),
    ]).toEqual([401, 401, 429]);
    expect((await ask(house, "192.0.2.7")).status).toBe(401);
  });
});
