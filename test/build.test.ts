/** What is published: the bundle has all that the sources export, and the code in it is there once. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../scripts/bundle.ts";
import { parenthesize } from "../scripts/eager.ts";
import { root } from "./project.ts";

type Module = Readonly<Record<string, unknown>>;

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
};
const entries = Object.entries(exports).flatMap(([name, to]) =>
  typeof to === "string"
    ? []
    : [{ name, source: to["holdfast-source"] as string, built: to.default as string }],
);

let folder: string;
const store = mkdtempSync(join(tmpdir(), "holdfast-"));

const load = (path: string): Promise<Module> => import(/* @vite-ignore */ pathToFileURL(path).href);
const loadBuilt = (built: string): Promise<Module> => load(join(folder, built.replace("./dist/", "")));

beforeAll(async () => {
  // In the project, so that what is built finds its packages.
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  folder = mkdtempSync(join(root, "node_modules/.cache/holdfast-build-"));
  await bundle(folder);
});

afterAll(() => {
  for (const made of [folder, store]) rmSync(made, { recursive: true });
});

test.each(entries)("the entry $name exports what its source does", async ({ source, built }) => {
  const [before, after] = await Promise.all([load(join(root, source)), loadBuilt(built)]);
  expect(Object.keys(after).toSorted()).toEqual(Object.keys(before).toSorted());
});

test("an error that one entry throws is of the class that another one exports", async () => {
  const { HoldfastError } = await loadBuilt("index.js");
  const { sqlite } = (await loadBuilt("store/sqlite/store.js")) as {
    readonly sqlite: (path: string) => { open(): Promise<void> };
  };
  await expect(sqlite(join(store, "nowhere", "runs.db")).open()).rejects.toBeInstanceOf(HoldfastError);
});

test("the thread that looks whether a file is sound starts from what was built", async () => {
  const { sqlite } = (await loadBuilt("store/sqlite/store.js")) as {
    readonly sqlite: (path: string) => {
      open(): Promise<void>;
      backup(to: string): Promise<void>;
      close(): Promise<void>;
    };
  };
  const open = sqlite(join(store, "runs.db"));
  await open.open();
  await open.backup(join(store, "copy.db"));
  await open.close();
  expect(readFileSync(join(store, "copy.db")).subarray(0, 15).toString()).toBe("SQLite format 3");
});

test("functions on the way to a first durable step are compiled as they are read, others are not", () => {
  const chunk = readFileSync(join(folder, "chunks/runtime.js"), "utf8");
  expect(chunk).toContain("const createRuntime = (async function createRuntime(");
  const all = readFileSync(join(folder, "index.js"), "utf8");
  expect(all).toMatch(/^function \w+\(/m);
});

test("a function in parentheses does what it did, also above where it stood and under its own name", () => {
  const text = `import { sep } from "node:path";
export const early = twice(2);
function twice(n) { return add(n, n); }
const add = (a, b) => a + b;
class Sum { of(...list) { return list.reduce((sum, n) => sum + n, 0); } get name() { return "sum"; } }
const plain = { of() { return sep; } };
export { twice, add, Sum, plain };`;
  const everywhere = new Set(Array.from(text, (_, at) => at));
  expect(parenthesize(text, new Set())).toContain("function twice(n) { return add(n, n); }\nconst add = (a");
  expect(parenthesize(text, everywhere)).toBe(`import { sep } from "node:path";
const twice = (function twice(n) { return add(n, n); });

export const early = twice(2);

const add = ((a, b) => a + b);
class Sum { of(...list) { return list.reduce(((sum, n) => sum + n), 0); } get name() { return "sum"; } }
const plain = { of() { return sep; } };
export { twice, add, Sum, plain };`);
});
