/** The borders of a server: limits at the bound and one past it, idempotency, dev mode, problems, and draining. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { limits } from "../../src/limits.ts";
import { openApiDocument } from "../../src/server/index.ts";
import { type House, openHouse, token } from "./house.ts";

const base = "http://127.0.0.1:4400";
const bearer = { authorization: `Bearer ${token}`, "content-type": "application/json" };

async function ask(house: House, path: string, init: RequestInit = {}): Promise<Response> {
  return house.server.fetch(new Request(base + path, { headers: bearer, ...init }));
}
const post = (house: House, path: string, body: string, headers: object = {}) =>
  ask(house, path, { method: "POST", body, headers: { ...bearer, ...headers } });
const nested = (depth: number) =>
  `{"machine":"counter","input":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

describe("the contract", () => {
  test("D1: is an OpenAPI 3.1 document by a validator that is not ours", async () => {
    const document = JSON.parse(JSON.stringify(openApiDocument("1.2.3"))) as Record<string, unknown>;
    const { valid, errors } = await new Validator().validate(document);
    expect({ valid, errors }).toMatchObject({ valid: true });
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.3" } });
  });
});

describe("a request", () => {
  test("F5: has as many bytes as it may, and not one more, with its length told or not", async () => {
    const house = await openHouse();
    const body = (bytes: number) => `{"source":"${"x".repeat(bytes - 13)}"}`;
    const statusOf = async (bytes: number, headers: object) =>
      (await post(house, "/v1/machines", body(bytes), headers)).status;
    const length = (bytes: number) => ({ "content-length": String(bytes) });
    expect(await statusOf(limits.requestBytesMax, length(limits.requestBytesMax))).not.toBe(413);
    expect(await statusOf(limits.requestBytesMax + 1, length(limits.requestBytesMax + 1))).toBe(413);
    expect(await statusOf(limits.requestBytesMax, {})).not.toBe(413);
    expect(await statusOf(limits.requestBytesMax + 1, {})).toBe(413);
  });

  test("F5: is nested as deep as it may be, and no deeper; brackets in texts do not count", async () => {
    const house = await openHouse();
    expect((await post(house, "/v1/runs", nested(limits.requestDepthMax))).status).not.toBe(413);
    expect((await post(house, "/v1/runs", nested(limits.requestDepthMax + 1))).status).toBe(413);
    const text = JSON.stringify({ machine: "counter", run: "a", subject: `\\"${"[".repeat(400)}` });
    expect((await post(house, "/v1/runs", text)).status).toBe(201);
  });

  test("F5: sends as many events at once as it may, all or none", async () => {
    const house = await openHouse();
    await house.client.runs.start({ machine: "counter", run: "a" });
    const events = (count: number) => Array.from({ length: count }, () => ({ type: "add", data: 1 }));
    await house.client.runs.send({ run: "a", events: events(limits.sentEventsMax), wait: "handled" });
    expect((await house.client.runs.state({ run: "a" })).state.context).toEqual({ n: limits.sentEventsMax });
    await expect(
      house.client.runs.send({ run: "a", events: events(limits.sentEventsMax + 1) }),
    ).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    await expect(
      house.client.runs.send({ run: "a", events: [{ type: "add", data: 1 }, { type: "" }] }),
    ).rejects.toMatchObject({
      code: "REQUEST_INVALID",
      details: { status: 400, problems: [{ path: "body.events[1].type" }] },
    });
    expect((await house.client.runs.state({ run: "a" })).state.context).toEqual({ n: limits.sentEventsMax });
  });

  test("F5: is made as often as the rate lets it, and told when to come back", async () => {
    let now = 0;
    const clock = {
      now: () => now,
      after: () => () => {},
      soon: (run: () => void) => void setImmediate(run),
    };
    const house = await openHouse({ clock, rate: { perSecond: 2, burst: 3 } });
    const status = async () => (await ask(house, "/v1/me")).status;
    expect([await status(), await status(), await status(), await status()]).toEqual([200, 200, 200, 429]);
    expect((await ask(house, "/v1/me")).headers.get("retry-after")).toBe("1");
    now += 500;
    expect([await status(), await status()]).toEqual([200, 429]);
    // Those who look after the process are not counted.
    expect((await ask(house, "/healthz")).status).toBe(200);
  });

  test("D1: whose Idempotency-Key would not make it the same is refused, and nothing is done", async () => {
    const { client } = await openHouse();
    await client.runs.start({ machine: "counter", run: "a" });
    await client.runs.send({ run: "a", events: [{ type: "add", data: 1 }], wait: "handled" });
    const keyed = { idempotencyKey: "once" };
    const refused = { code: "REQUEST_INVALID", details: { problems: [{ path: "header.Idempotency-Key" }] } };
    const add = { type: "add", data: 1 };
    for (const asked of [
      () => client.runs.rollback({ run: "a", to: 1 }, keyed),
      () => client.keys.create({ name: "k", role: "viewer" }, keyed),
      () => client.runs.cancel({ run: "a" }, keyed),
      () => client.runs.send({ run: "a", events: [add, add] }, keyed),
      () => client.runs.start({ machine: "counter", singleton: { key: "s" } }, keyed),
    ])
      await expect(asked()).rejects.toMatchObject(refused);
    expect(await client.runs.show({ run: "a" }, keyed)).toMatchObject({ seq: 2, status: "active" });
    expect((await client.keys.list()).keys).toEqual([]);
  });

  test("D1: that is repeated with its Idempotency-Key is the same start and the same event", async () => {
    const { client } = await openHouse();
    const start = () => client.runs.start({ machine: "counter" }, { idempotencyKey: "order-17" });
    expect([(await start()).run, (await start()).run]).toEqual(["order-17", "order-17"]);
    const send = () =>
      client.runs.send(
        { run: "order-17", events: [{ type: "add", data: 5 }], wait: "handled" },
        { idempotencyKey: "payment-1" },
      );
    expect(await send()).toEqual(await send());
    expect((await client.runs.state({ run: "order-17" })).state.context).toEqual({ n: 5 });
    await expect(
      client.runs.start({ machine: "counter", input: { from: 9 } }, { idempotencyKey: "order-17" }),
    ).rejects.toMatchObject({ code: "RUN_DIFFERS", details: { status: 409 } });
  });

  test("F5: that goes wrong is told as a problem, with its code, its status and every place", async () => {
    const house = await openHouse();
    const wrong = await post(house, "/v1/runs", '{"machine":5,"extra":1}');
    expect(wrong.headers.get("content-type")).toBe("application/problem+json");
    expect(await wrong.json()).toMatchObject({ status: 400, code: "REQUEST_INVALID", retry: "after-fix" });
    const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;
    expect(await codeOf(await ask(house, "/v1/runs/nobody"))).toBe("RUN_UNKNOWN");
    expect(await codeOf(await ask(house, "/v1/nothing"))).toBe("ROUTE_UNKNOWN");
    expect(await codeOf(await ask(house, "/v1/me", { method: "POST" }))).toBe("METHOD_UNSUPPORTED");
    expect(await codeOf(await post(house, "/v1/runs", "{}", { "content-type": "text/plain" }))).toBe(
      "MEDIA_UNSUPPORTED",
    );
    expect(await codeOf(await ask(house, "/v1/runs?limit=5&limit=6"))).toBe("REQUEST_INVALID");
    expect(await codeOf(await ask(house, `/v1/runs?limit=${limits.pageMax + 1}`))).toBe("REQUEST_INVALID");
    expect(await codeOf(await ask(house, "/v1/runs?cursor=zzz"))).toBe("REQUEST_INVALID");
  });
});

describe("dev mode", () => {
  test("F1: answers this machine by its own names, and no other page", async () => {
    const house = await openHouse();
    const statusOf = async (url: string, headers: Record<string, string> = {}) =>
      (await house.server.fetch(new Request(`${url}/v1/me`, { headers: { ...bearer, ...headers } }))).status;
    expect(await statusOf(base)).toBe(200);
    expect(await statusOf("http://localhost:4400")).toBe(200);
    expect(await statusOf("http://[::1]:4400", { origin: "http://[::1]:4400" })).toBe(200);
    expect(await statusOf("http://evil.example:4400")).toBe(403);
    expect(await statusOf(base, { origin: "http://evil.example" })).toBe(403);
    expect(await statusOf(base, { origin: "http://127.0.0.1:3000" })).toBe(403);
    expect(await statusOf(base, { origin: "null" })).toBe(403);
    expect(await statusOf(base, { "sec-fetch-site": "same-site" })).toBe(403);
    expect(await statusOf(base, { "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await statusOf(base, { authorization: "Bearer wrong" })).toBe(401);
  });

  test("F1: gives the opened page its token as a cookie, and takes it out of the address", async () => {
    const house = await openHouse();
    const opened = await house.server.fetch(new Request(`${base}/runs?token=${token}`));
    expect(opened.status).toBe(303);
    expect(opened.headers.get("location")).toBe("/runs");
    expect(opened.headers.get("set-cookie")).toMatch(/^holdfast_dev_4400=.*; HttpOnly; SameSite=Strict$/);
    const cookie = (opened.headers.get("set-cookie") as string).split(";")[0] as string;
    const asked = (headers: Record<string, string>) =>
      house.server.fetch(new Request(`${base}/v1/me`, { headers }));
    expect((await asked({ cookie })).status).toBe(200);
    expect((await asked({ cookie, origin: "http://127.0.0.1:3000" })).status).toBe(403);
    expect(
      (await house.server.fetch(new Request(`${base}/?token=wrong`))).headers.get("set-cookie"),
    ).toBeNull();
  });

  test("F1: takes the token and nothing else out of the address", async () => {
    const house = await openHouse();
    const locationOf = async (path: string) =>
      (await house.server.fetch(new Request(base + path))).headers.get("location");
    expect(await locationOf(`/runs?status=failed&token=${token}&since=1d`)).toBe(
      "/runs?status=failed&since=1d",
    );
    expect(await locationOf(`//evil.example/?token=${token}`)).toBe("/evil.example/");
  });

  test("F1: has a cookie of its own for each port, so that two servers do not throw each other out", async () => {
    const [one, other] = [await openHouse(), await openHouse()];
    const cookieFrom = async (house: House, at: string) => {
      const opened = await house.server.fetch(new Request(`${at}/?token=${token}`));
      return (opened.headers.get("set-cookie") as string).split(";")[0] as string;
    };
    const there = "http://127.0.0.1:4401";
    const cookies = [await cookieFrom(one, base), await cookieFrom(other, there)];
    expect(new Set(cookies.map((cookie) => cookie.split("=")[0])).size).toBe(2);
    const cookie = cookies.join("; ");
    const statusOf = async (house: House, at: string) =>
      (await house.server.fetch(new Request(`${at}/v1/me`, { headers: { cookie } }))).status;
    expect([await statusOf(one, base), await statusOf(other, there)]).toEqual([200, 200]);
  });

  test("F1: lets a link of another page lead to Studio, and answers nothing else to that page", async () => {
    const studio = mkdtempSync(join(tmpdir(), "holdfast-studio-"));
    writeFileSync(join(studio, "index.html"), "<!doctype html>");
    const house = await openHouse({ studio });
    const link = {
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    };
    const statusOf = async (path: string, headers: Record<string, string>, method = "GET") =>
      (await house.server.fetch(new Request(base + path, { method, headers }))).status;
    expect(await statusOf("/runs/a", link)).toBe(200);
    expect(await statusOf("/runs/a", { ...link, "sec-fetch-dest": "iframe" })).toBe(403);
    expect(await statusOf("/runs/a", { ...link, "sec-fetch-mode": "no-cors" })).toBe(403);
    expect(await statusOf("/runs/a", { ...link, origin: "http://evil.example" }, "POST")).toBe(403);
    expect(await statusOf("/runs/a", link, "POST")).toBe(403);
    for (const path of ["/v1/me", "/v1/runs", "/openapi.json", "/metrics", "/healthz"])
      expect(await statusOf(path, { ...bearer, ...link })).toBe(403);
    rmSync(studio, { recursive: true });
  });
});

describe("Studio's files", () => {
  test("E4: every page is the page, whatever its run or machine is called, and only files are files", async () => {
    const studio = mkdtempSync(join(tmpdir(), "holdfast-studio-"));
    writeFileSync(join(studio, "index.html"), "<!doctype html>");
    writeFileSync(join(studio, "manifest.json"), "{}");
    mkdirSync(join(studio, "assets"));
    writeFileSync(join(studio, "assets/index-12345678.js"), "1");
    const house = await openHouse({ studio });
    const told = async (path: string) => {
      const { status, headers } = await house.server.fetch(new Request(base + path));
      return [status, headers.get("content-type")?.split(";")[0]];
    };
    for (const page of ["/", "/runs/order.v1", "/machines/holdfast.schedule", "/runs/a.js", "/runs/a%2Fb.c"])
      expect(await told(page)).toEqual([200, "text/html"]);
    expect(await told("/assets/index-12345678.js")).toEqual([200, "text/javascript"]);
    expect(await told("/manifest.json")).toEqual([200, "application/json"]);
    for (const none of ["/assets/gone.js", "/assets/", "/favicon.ico", "/..%2Fgone.json"])
      expect(await told(none)).toEqual([404, "application/problem+json"]);
    rmSync(studio, { recursive: true });
  });
});

describe("draining", () => {
  test("G4: fails readiness, ends streams with a hint, and lets what is under way end", async () => {
    const house = await openHouse();
    await house.client.runs.start({ machine: "counter", run: "a" });
    const stream = await ask(house, "/v1/runs/a/steps");
    const slow = ask(house, "/v1/runs/a/ask", {
      method: "POST",
      body: '{"type":"add","data":1,"timeoutMs":150}',
    });
    const { runs } = house.client;
    await expect.poll(async () => (await runs.state({ run: "a" })).state.context).toEqual({ n: 1 });
    const drained = house.server.drain(5_000);
    expect((await ask(house, "/readyz")).status).toBe(503);
    expect((await ask(house, "/healthz")).status).toBe(200);
    expect(await stream.text()).toContain("retry: ");
    expect((await ask(house, "/v1/me")).status).toBe(503);
    expect(await drained).toBe(true);
    expect((await slow).status).toBe(422);
  });
});
