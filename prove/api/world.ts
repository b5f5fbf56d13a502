/** The world of the proof: a real runtime on SQLite, a server over it, two tenants with their runs, and keys of all kinds. */
import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client/index.ts";
import { createRuntime } from "../../src/index.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { type Role, roles } from "../../src/security/policy.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { furnish } from "../../test/server/exemplars.ts";
import { agent, board, caller, counter, expense, planner } from "../../test/server/machines.ts";
import type { Names } from "./draw.ts";
import { canary, type Plant } from "./plants.ts";

/** A key and whose it is; `role` is undefined for one that is not good. */
export interface Holder {
  readonly key: string | undefined;
  readonly role: Role | undefined;
}

export interface ApiWorld {
  readonly server: Server;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly holders: readonly Holder[];
  readonly names: Names;
  /** How often the store was changed so far. */
  changes(): number;
  /** A sum of all there is. */
  digest(): Promise<string>;
  /** What went wrong inside, of which answers say nothing. */
  readonly mistakes: unknown[];
  close(): Promise<void>;
}

/** Verbs that change a store, and when they have. */
const changing: Readonly<Record<string, (answer: unknown) => boolean>> = {
  commit: (answer) => (answer as { outcome: string }[]).some(({ outcome }) => outcome === "committed"),
  enqueue: (answer) => (answer as string[]).includes("accepted"),
  writeDocument: (answer) => answer === true,
  removeDocument: (answer) => answer === true,
  removeDeadLetter: (answer) => answer === true,
  removeRuns: (answer) => (answer as boolean[]).includes(true),
  pruneJournal: (answer) => answer === true,
  mend: (answer) => answer === true,
};

/** The same store, with its changes counted. */
function countChanges(store: Store, changed: () => void): Store {
  return new Proxy(store, {
    get(_, name) {
      const verb: unknown = Reflect.get(store, name, store);
      if (typeof verb !== "function") return verb;
      const isChange = changing[String(name)];
      return async (...given: unknown[]) => {
        const answer: unknown = await Reflect.apply(verb, store, given);
        if (isChange?.(answer)) changed();
        return answer;
      };
    },
  });
}

export async function openApiWorld(plant: Plant | undefined): Promise<ApiWorld> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-api-"));
  let changes = 0;
  const plain = sqlite(join(folder, "runs.db"), { synchronous: "normal" });
  const store = countChanges(plant?.store?.(plain) ?? plain, () => changes++);
  const entry = { machine: caller, activities: { tool: () => "yes" } };
  const runtime = await createRuntime({
    store,
    machines: [counter, expense, entry, agent, board.machine, planner],
  });
  const mistakes: unknown[] = [];
  // It stands still, so that no key is used for longer than is written down once.
  const base = Date.now();
  let late = 0;
  const clock: Clock = {
    now: () => base + late,
    after: (ms, run) => {
      // Nobody waits here for what does not come.
      const timer = setTimeout(run, Math.min(ms, 20));
      return () => clearTimeout(timer);
    },
    soon: (run) => void setImmediate(run),
  };
  const endless = { perSecond: 1e9, burst: 1e9 };
  const server = await createServer({
    ...{ runtime: plant?.runtime?.(runtime) ?? runtime, store, clock, rate: endless, refusals: endless },
    onError: (error) => mistakes.push(error),
  });
  plant?.keys?.(server.keys);
  const { own, other, bad } = await makeKeys(server, clock.now());
  const fetch = async (request: Request) =>
    plant?.answer === undefined ? server.fetch(request) : plant.answer(request, server);
  const names = await furnishBoth(server, own.at(-1)?.key as string, other);
  late = 120_000;
  // Each key has been used by now, so that using one is no change.
  for (const { key } of own)
    await server.fetch(
      new Request("http://127.0.0.1/v1/me", { headers: { authorization: `Bearer ${key}` } }),
    );
  await new Promise((rest) => setTimeout(rest, 200));
  return {
    ...{ server, fetch, names, mistakes, changes: () => changes, digest: () => digestOf(plain) },
    holders: [...own, ...bad.map((key) => ({ key, role: undefined }))],
    close: async () => {
      server.close();
      await runtime.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A key of each role, one of the other tenant, and such as are not good. */
async function makeKeys(
  { keys }: Server,
  now: number,
): Promise<{ own: readonly Holder[]; other: string; bad: readonly (string | undefined)[] }> {
  const make = (role: Role, tenant: string, expiry: { expiresAt?: number } = {}) =>
    keys.create({
      ...{ name: tenant === "default" ? role : canary, role, tenant, createdBy: "proof", ...expiry },
    });
  const own: Holder[] = [];
  for (const role of roles) own.push({ role, key: (await make(role, "default")).key });
  const expired = await make("admin", "default", { expiresAt: now + 60_000 });
  const revoked = await make("admin", "default");
  await keys.revoke("default", revoked.id);
  const bad = [undefined, "nonsense", "hf_x_y", expired.key, revoked.key, `${own[0]?.key}x`];
  return { own, other: (await make("admin", "other")).key, bad };
}

async function furnishBoth(server: Server, ownKey: string, otherKey: string): Promise<Names> {
  const clientOf = (key: string): Client =>
    createClient({ url: "http://127.0.0.1:4400", key, fetch: async (request) => server.fetch(request) });
  const own = clientOf(ownKey);
  const other = clientOf(otherKey);
  const mine = await furnish(own, "mine");
  const theirs = await furnish(other, "theirs");
  await other.runs.start({
    machine: "expense",
    run: "secret-theirs",
    subject: canary,
    attributes: { secret: canary },
  });
  await other.runs.say({ run: theirs.idle, text: canary });
  const runsOf = ({
    counter: one,
    parked,
    expense: two,
    agent: three,
    idle,
    planner: four,
    board: five,
  }: typeof mine) => [...[one, parked, two, three, idle, four, five]];
  return {
    runs: runsOf(mine),
    foreignRuns: [...runsOf(theirs), "secret-theirs"],
    machines: ["counter", "expense", "helper", "planner", "board", "caller", "nothing"],
    decisions: ["call-2", "asking@1", "asking@3", "nothing@1"],
    keys: [mine.key, theirs.key],
  };
}

/** A sum of all rows; read from the store itself. */
async function digestOf(store: Store): Promise<string> {
  const kinds = [
    "run",
    "entry",
    "snapshot",
    "inbox",
    "key",
    "activity",
    "attribute",
    "chunk",
    "content",
    "document",
    "letter",
  ] as const;
  const parts: string[] = [];
  for (const kind of kinds)
    for (let after: string | undefined; ; ) {
      const rows = await store.scan(kind, { limit: 500, ...(after === undefined ? {} : { after }) });
      for (const { place, row } of rows) parts.push(`${kind} ${place} ${JSON.stringify(row, bytesAsText)}`);
      after = rows.at(-1)?.place;
      if (rows.length < 500) break;
    }
  return hash("sha256", parts.join("\n"), "hex");
}

const bytesAsText = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
