/** Commands on a store, without a server or beside one: what makes a store, what only looks, and who owns it meanwhile. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute } from "../../src/cli/command.ts";
import { limits } from "../../src/limits.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { root } from "../project.ts";
import { holdfast } from "./process.ts";
import { stillWorld } from "./read-command.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-store-"));
const module = join(folder, "slow.ts");
const store = join(folder, "s.db");
beforeAll(async () => {
  writeFileSync(
    module,
    `import { defineMachine } from ${JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)};
     const machine = defineMachine({
       id: "slow", initial: "on",
       states: { on: { after: [{ delay: "1 ms", target: "off" }], invoke: { activity: "work" } }, off: {} },
     });
     export default [{ machine, activities: { work: () => new Promise(() => {}) } }];`,
  );
  await told(`db migrate --store ${store}`);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function told(line: string) {
  const { world, said } = stillWorld();
  const stop = new AbortController().signal;
  const code = await execute(line.split(" "), { ...world, cwd: folder, stop });
  return { code, ...said };
}

describe("a path that leads to no store", () => {
  const typo = join(folder, "typo.db");
  test.each([
    `db verify --store ${typo}`,
    `db backup ${join(folder, "copies")} --store ${typo}`,
    `runs list --store ${typo}`,
    `runs start slow --store ${typo} --module ${module}`,
    `keys create ci --store ${typo}`,
  ])("F5: %s makes none, and says what to do", async (line) => {
    const { code, out, err } = await told(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(`There is no store ${typo}`);
    expect(err).toContain(`holdfast db migrate --store ${typo}`);
    expect(existsSync(typo)).toBe(false);
  });
});

test("B8: who does it is the user of the system unless it is said, and who is nobody does nothing", async () => {
  const place = `--store ${store} --module ${module}`;
  const last = async () =>
    (JSON.parse((await told(`runs show w-1 --json ${place}`)).out) as { last: object }).last;
  await told(`runs start slow --id w-1 ${place}`);
  expect(await last()).toMatchObject({ type: "start", by: userInfo().username });
  const nobody = await told(`runs cancel w-1 --as ${"x".repeat(limits.nameLengthMax + 1)} ${place}`);
  expect([nobody.code, nobody.out]).toEqual([1, expect.stringContaining("has more than 512 characters")]);
  expect(await last()).not.toMatchObject({ type: "cancel" });
  await told(`runs cancel w-1 --as ada ${place}`);
  expect(await last()).toMatchObject({ type: "cancel", by: "ada" });
  expect((await told(`runs show w-1 ${place}`)).out).toMatch(/^last +cancel by ada$/m);
});

test("G4: whoever looks at a store takes up nothing that is overdue in it, with the machines' code or without", async () => {
  await told(`runs start slow --id s-1 --store ${store} --module ${module}`);
  const seq = async () =>
    (JSON.parse((await told(`runs show s-1 --json --store ${store}`)).out) as { seq: number }).seq;
  const before = await seq();
  for (const line of [
    "runs list",
    "runs show s-1",
    "inbox list",
    "machines list",
    "runs rollback s-1 --to 1 --dry-run",
  ])
    for (const more of ["", ` --module ${module}`]) {
      const { code, out, err } = await told(`${line} --store ${store}${more}`);
      // Taking a run back needs its code, also on trial.
      if (line.startsWith("runs rollback") && more === "") continue;
      expect([line, code, err]).toEqual([line, 0, ""]);
      expect(out).not.toBe("");
    }
  expect(await seq()).toBe(before);
});

test("G4: whoever looks at a run leaves it in its version, where runs go over to a newer one by themselves", async () => {
  const code = (newest: number) => `
    import { defineMachine, defineMigration } from ${JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)};
    const [one, two] = [1, 2].map((version) => defineMachine({ id: "old", version, initial: "on", states: { on: {} } }));
    const migrations = [defineMigration(one, two, {})];
    export default [{ machine: one }, { machine: two, evolution: "upgrade", migrations }].slice(0, ${newest});`;
  for (const newest of [1, 2]) writeFileSync(join(folder, `old-${newest}.ts`), code(newest));
  await told(`runs start old --id o-1 --store ${store} --module ${join(folder, "old-1.ts")}`);
  const shown = await told(`runs show o-1 --json --store ${store} --module ${join(folder, "old-2.ts")}`);
  expect([shown.err, JSON.parse(shown.out)]).toMatchObject(["", { version: 1, seq: 1 }]);
});

test("F1: the first key of a server on SQLite is made as it says, and runs are looked at while it has them", async () => {
  const server = holdfast(
    ["start", module, "--store", store, "--listen", "127.0.0.1:0", "--drain", "100ms"],
    {},
    folder,
  );
  try {
    const [, url] = await server.says(/^up: (http:\S+),/m);
    const [, line] = await server.says(
      /make the first one with holdfast (keys create NAME --role admin --store \S+)$/m,
    );
    const made = await told(line as string);
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^hf_/)]);
    const listed = await told(`runs list --store ${store}`);
    expect([listed.code, listed.err]).toEqual([0, ""]);
    expect(listed.out).toContain("s-1");
    // A server hears of keys that others make within seconds.
    const key = made.out.trim();
    await expect
      .poll(async () => (await told(`runs list --url ${url} --api-key ${key}`)).code, { timeout: 30_000 })
      .toBe(0);
    const owned = await told(`runs send s-1 go --store ${store} --module ${module}`);
    expect([owned.code, owned.err]).toEqual([2, expect.stringContaining("with --url")]);
  } finally {
    server.signal("SIGTERM");
    await server.ended;
  }
});

describe("on PostgreSQL", () => {
  let database: Database;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database?.drop());

  test("F1: keys are made in the schema that is given", async () => {
    const place = `--store ${database.url} --schema other --signals off`;
    await told(`db migrate ${place}`);
    expect((await told(`keys create ci ${place}`)).out).toMatch(/^hf_/);
    expect((await told(`keys list ${place}`)).out).toContain("ci");
    const [{ count } = {}] = await database.query(
      "SELECT count(*)::int AS count FROM other.document WHERE name = 'keys'",
    );
    expect(count).toBe(1);
  });
});
