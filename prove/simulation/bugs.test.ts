/** Each bug that can be planted is caught: a simulation that catches nothing would prove nothing. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bugs, findBug } from "./bugs.ts";
import { change } from "./plant.ts";

const root = join(import.meta.dirname, "../..");
/** How many bugs are hunted at a time, each in a process of its own. */
const hunters = 2;
const worldsMax = 500;
/** A hunt that takes more worlds than this had better begin elsewhere. */
const worldsSoon = 20;
/** Only ends what hangs. */
const patienceMs = 900_000;

/** Compiled sources are kept between the processes: most of what a short hunt costs is reading them. */
const cache = mkdtempSync(join(tmpdir(), "holdfast-hunt-"));
const caught = new Map<string, { readonly found: Promise<string>; tell(text: string): void }>(
  bugs
    .map(({ name }) => [name, Promise.withResolvers<string>()] as const)
    .map(([name, { promise, resolve }]) => [name, { found: promise, tell: resolve }]),
);

function hunt(name: string): Promise<string> {
  const { from = 1 } = findBug(name);
  return new Promise((resolve, reject) => {
    const hunter = spawn(
      process.execPath,
      [
        "--conditions=holdfast-source",
        "prove/simulation.ts",
        "--bug",
        name,
        "--from",
        String(from),
        "--seeds",
        String(worldsMax),
      ],
      { cwd: root, env: { NODE_COMPILE_CACHE: cache, ...process.env } },
    );
    const said: Buffer[] = [];
    hunter.stdout.on("data", (text: Buffer) => said.push(text));
    hunter.stderr.on("data", (text: Buffer) => said.push(text));
    hunter.on("error", reject);
    hunter.on("close", () => resolve(Buffer.concat(said).toString()));
  });
}

async function huntAll(names: string[]): Promise<void> {
  for (let name = names.shift(); name !== undefined; name = names.shift())
    caught.get(name)?.tell(await hunt(name));
}

describe("planted bugs", () => {
  beforeAll(() => {
    const names = bugs.map(({ name }) => name);
    for (let hunter = 0; hunter < hunters; hunter++) void huntAll(names);
  });
  afterAll(() => rmSync(cache, { recursive: true, force: true }));

  test("there are at least 30, and each has its own name", () => {
    expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
    expect(bugs.length).toBeGreaterThanOrEqual(30);
  });

  test("each one fits its source exactly once", () => {
    for (const bug of bugs) {
      for (const each of [bug, ...(bug.also ?? [])]) {
        const text = readFileSync(join(root, each.file), "utf8");
        expect(change(text, each), bug.name).not.toBe(text);
      }
    }
  });

  test("a bug that no longer fits is an error, and so is one nobody knows", () => {
    expect(() => change("a b a", { file: "f", find: "a", replace: "c" })).toThrow("2 times");
    expect(() => change("a b a", { file: "f", find: "d", replace: "c" })).toThrow("0 times");
    expect(() => findBug("none")).toThrow("There is no bug none");
  });

  test.each(bugs.map(({ name }) => name))(
    "the bug '%s' is caught",
    async (name) => {
      const found = await caught.get(name)?.found;
      expect(found).toContain(`${name}: caught in world`);
      const world = Number(/ in world (\d+)/.exec(found ?? "")?.[1]);
      if (world > (findBug(name).from ?? 1) + worldsSoon)
        console.warn(`The bug "${name}" is caught late: \`from: ${world}\` would make its hunt short`);
    },
    patienceMs,
  );
});
