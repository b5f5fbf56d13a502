/** What stores are told when they are made: what cannot be meant is refused at once, by a sentence that says what to write. */
import { expect, test } from "vitest";
import { memory } from "./memory/store.ts";
import { secure } from "./postgres/secured/index.ts";
import { postgres } from "./postgres/store.ts";
import { redisSignals, withRedis } from "./redis/index.ts";

const server = "postgres://app:secret@127.0.0.1:1/agents";
const url = "redis://:secret@127.0.0.1:1";

/** The sentence, once it is seen to be the right kind of error, without anything in it that must not be shown. */
async function refusal(make: () => unknown): Promise<string> {
  const error = await Promise.resolve()
    .then(make)
    .then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
  expect(error).toMatchObject({ code: "OPTIONS_INVALID", retry: "after-fix" });
  expect(error?.message).not.toContain("secret@");
  return error?.message as string;
}

test.each([undefined, null, 5, {}, "", "app:secret@host", "mysql://app:secret@host/x"])(
  "a PostgreSQL store is made of an address or a pool, and not of %j",
  async (given) => {
    expect(await refusal(() => postgres(given as string))).toContain("postgres://user:password@host:port");
    expect(await refusal(() => secure(given as string))).toContain("postgres://user:password@host:port");
  },
);

test.each([
  [null, "what was given is null"],
  [{ schema: "" }, "1 to 63 bytes"],
  [{ schema: 5 }, "not 5"],
  [{ schema: "ü".repeat(32) }, "1 to 63 bytes"],
  [{ schema: "pg_agents" }, "does not begin with pg_"],
  [{ schema: "a$$b" }, "no $$ in it"],
  [{ schema: "a\0b" }, "1 to 63 bytes"],
  [{ clock: "server" }, '"database" or "caller", not "server"'],
  [{ synchronous: "Full" }, '"full" or "server", not "Full"'],
  [{ listen: "app:secret@host" }, "or false"],
  [{ shared: "no" }, 'true or false, not "no"'],
  [{ partitions: 0 }, "from 1 to"],
  [{ partitions: 1.5 }, "not 1.5"],
  [{ partitions: 1e9 }, "from 1 to"],
])("a PostgreSQL store is refused %j", async (given, told) => {
  expect(await refusal(() => postgres(server, given as object))).toContain(told);
});

test.each([
  [{ identity: "Login" }, '"claim" or "login"'],
  [{ tenantClaim: [] }, '["app_metadata", "tenant"]'],
  [{ userRole: "" }, "1 to 63 bytes"],
  [{ events: "no" }, "true or false"],
  [{ synchronous: "none" }, '"full" or "server"'],
])("row-level security is refused %j", async (given, told) => {
  expect(await refusal(() => secure(server, given as object))).toContain(told);
});

test.each([
  [undefined, "what was given is undefined"],
  [{}, "either url or client"],
  [{ url, client: { sendCommand: () => {} } }, "either url or client"],
  [{ url: "" }, "redis://user:password@host:6379"],
  [{ url: "http://secret@host" }, "redis://user:password@host:6379"],
  [{ url: "redis://secret@host:x" }, "redis://user:password@host:6379"],
  [{ client: {} }, "createClient"],
  [{ url, prefix: "" }, "prefix is a text"],
  [{ url, ttl: 0 }, "from 1 to"],
  [{ url, ttl: "1h" }, 'not "1h"'],
  [{ url, deadline: -5 }, "not -5"],
  [{ url, bytesMin: Number.NaN }, "a whole number of bytes"],
  [{ url, secret: "" }, "secret is a text"],
  [{ url, signals: "no" }, "true or false"],
])("a warm tier is refused %j", async (given, told) => {
  expect(await refusal(() => withRedis(memory(), given as never))).toContain(told);
});

test("signals are refused where no Redis is named", async () => {
  expect(await refusal(() => redisSignals({ channel: "runs" } as never))).toContain("either url or client");
});
