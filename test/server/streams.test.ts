/** Streams: the steps of all runs with resume and gaps, limits on open ones, and a server that is killed. */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { openHouse, token } from "./house.ts";

test("D1: the steps of all runs of a tenant come live, go on where they were, and gaps are told", async () => {
  const { client, streamed } = await openHouse();
  const seen: string[] = [];
  const stop = new AbortController();
  let last = "";
  const following = (async () => {
    for await (const { id, type, data } of client.steps.follow({}, { signal: stop.signal })) {
      seen.push(type === "gap" ? "gap" : `${data.run}:${data.event}:${data.status}`);
      last = id;
      if (seen.length === 2) return;
    }
  })();
  await streamed;
  await client.runs.start({ machine: "counter", run: "a" });
  await client.runs.start({ machine: "expense", run: "b" });
  await following;
  expect(seen).toEqual(["a:start:active", "b:start:active"]);
  await client.runs.send({ run: "a", events: [{ type: "end" }], wait: "handled" });
  const next = async (lastEventId: string) => {
    for await (const { type, data } of client.steps.follow({}, { lastEventId }))
      return type === "gap" ? "gap" : `${data.run}:${data.event}:${data.status}`;
    return undefined;
  };
  expect(await next(last)).toBe("a:end:done");
  expect(await next("another-process.5")).toBe("gap");
  stop.abort();
});

test("D1: another tenant's steps are not among them", async () => {
  const house = await openHouse({ dev: false });
  const own = await house.as("admin");
  const other = await house.as("admin", "other");
  const first = (async () => {
    for await (const { data } of own.steps.follow()) return data.run;
    return undefined;
  })();
  await house.streamed;
  await other.runs.start({ machine: "counter", run: "theirs" });
  await own.runs.start({ machine: "counter", run: "ours" });
  expect(await first).toBe("ours");
});

test("D1: a stream that cannot go on says why, and nobody connects again in vain", async () => {
  const { client } = await openHouse();
  await client.runs.start({ machine: "counter", run: "a" });
  const listen = async () => {
    for await (const _ of client.runs.chunks({ run: "a", key: "nothing" })) return;
  };
  await expect(listen()).rejects.toMatchObject({ code: "ACTIVITY_UNKNOWN", details: { status: 404 } });
});

test("F5: as many streams are open as may be, and one more is refused until one is closed", async () => {
  const house = await openHouse({ streams: { perPrincipal: 2 } });
  const open = () =>
    house.server.fetch(
      new Request("http://127.0.0.1/v1/steps", { headers: { authorization: `Bearer ${token}` } }),
    );
  const [first, second] = [await open(), await open()];
  expect([first.status, second.status, (await open()).status]).toEqual([200, 200, 429]);
  await first.body?.cancel();
  expect((await open()).status).toBe(200);
});

// Two processes begin here one after the other, which takes long where many others do.
test("D1: a server that is killed in the middle comes back, and a client that follows misses nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-killed-"));
  const begin = async (port: number) => {
    const child = fork(join(import.meta.dirname, "process.ts"), [join(folder, "runs.db"), String(port)], {
      execArgv: ["--conditions=holdfast-source"],
    });
    const told = await new Promise<{ port: number }>((up, down) => {
      child.once("message", up as (told: unknown) => void);
      child.once("exit", (code) => down(new Error(`The server ended with ${code} before it listened`)));
    });
    return { child, port: told.port };
  };
  const first = await begin(0);
  const url = `http://127.0.0.1:${first.port}`;
  const client = createClient({ url, key: token });
  await client.runs.start({ machine: "counter", run: "a" });
  const seen: number[] = [];
  const following = (async () => {
    for await (const { data } of client.runs.follow({ run: "a", from: 1 })) seen.push(data.seq);
  })();
  for (let index = 0; index < 5; index++)
    await client.runs.send({ run: "a", events: [{ type: "add", data: 1 }] });
  // Somebody who has heard of no step yet can miss one as well, and is told so: the stream begins with where it stands.
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const heard = () =>
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, out) => {
        out.enqueue(piece);
        open();
      },
    });
  const late = createClient({
    ...{ url, key: token },
    fetch: async (request) => {
      const response = await fetch(request);
      return new Response(response.body?.pipeThrough(heard()), response);
    },
  });
  const told = (async () => {
    for await (const { type } of late.steps.follow()) return type;
    return undefined;
  })();
  await opened;
  first.child.kill("SIGKILL");
  await new Promise((gone) => first.child.once("exit", gone));
  const second = await begin(first.port);
  expect((await client.runs.state({ run: "a" })).state.context).toEqual({ n: 5 });
  await client.runs.send({ run: "a", events: [{ type: "add", data: 1 }, { type: "end" }] });
  await following;
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await told).toBe("gap");
  second.child.kill("SIGTERM");
  await new Promise((gone) => second.child.once("exit", gone));
  rmSync(folder, { recursive: true });
}, 180_000);
