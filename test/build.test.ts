/** What is published: the bundle has all that the sources export, and the code in it is there once. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../scripts/bundle.ts";
import { compileAsRead } from "../scripts/compile-as-read.ts";
import { compileEagerly } from "../scripts/eager.ts";
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

/** What is published, and the same before any function of it is compiled as it is read. */
let folder: string;
let bundled: string;
const store = mkdtempSync(join(tmpdir(), "holdfast-"));

const load = (path: string): Promise<Module> => import(/* @vite-ignore */ pathToFileURL(path).href);
const loadBuilt = (built: string): Promise<Module> => load(join(folder, built.replace("./dist/", "")));

beforeAll(async () => {
  // In the project, so that what is built finds its packages.
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  [folder, bundled] = [1, 2].map(() => mkdtempSync(join(root, "node_modules/.cache/holdfast-build-"))) as [
    string,
    string,
  ];
  await bundle(folder);
  cpSync(folder, bundled, { recursive: true });
  compileEagerly(folder);
});

afterAll(() => {
  for (const made of [folder, bundled, store]) rmSync(made, { recursive: true });
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
  expect(chunk).toContain("send: (async function (");
  expect(chunk).toContain("StepLoop_takeTurns.call(this");
  const all = readFileSync(join(folder, "index.js"), "utf8");
  expect(all).toMatch(/^function \w+\(/m);
});

describe("what is compiled as it is read", () => {
  const everywhere = (text: string) => new Set(Array.from({ length: text.length }, (_, at) => at));
  /** A module as it is, and with every function of it compiled as it is read. */
  const both = async <Exports>(text: string): Promise<readonly [Exports, Exports]> => {
    const load = (code: string) =>
      import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
    return [await load(text), await load(compileAsRead(text, everywhere(text)))];
  };

  test("nothing changes where nothing was called", () => {
    const text = "const add = (a, b) => a + b;\nclass Sum { of() {} }\n";
    expect(compileAsRead(text, new Set())).toBe(`\n${text}`);
  });

  test("a declaration stands above where it stood, under its own name", () => {
    const text = `import { sep } from "node:path";
export const early = twice(sep);
function twice(n) { return n + n; }
export { twice };`;
    expect(compileAsRead(text, everywhere(text))).toBe(`import { sep } from "node:path";
const twice = (function twice(n) { return n + n; });

export const early = twice(sep);

export { twice };`);
  });

  test("methods are called as before, with their names, with private names, and above functions of theirs", async () => {
    const [before, after] = await both<{ trial: () => unknown }>(`
const twice = (n) => n * 2;
var Base = class { greet() { return "base"; } whole() { return [this.greet(), this.constructor.name]; } };
var Sum = class extends Base {
  static made = new this().of(1, 2);
  #total = 0;
  of(...list) { for (const n of list) this.#add(twice(n), (k) => this.#keep(k)); return this.#total; }
  twice(n) { return twice(n); }
  #add(n, keep) { keep(n); }
  #keep(n) { this.#total += n; }
  #self() { return this; }
  chain(n) { return this.#self().#self().of(n); }
  async #later(n) { return n; }
  async later(n) { return await this.#later(this.#plus(n)); }
  #plus(n) { return n + this.#total; }
  *each() { yield* this.#all(); }
  *#all() { yield 1; yield 2; }
  #loose() { return "loose" + this.#total; }
  get loose() { return this.#loose; }
  greet() { return super.greet() + "!"; }
  fails() { return this.#throws(); }
  #throws() { throw new Error("here"); }
};
const plain = { of(n) { return [n, this.of.name]; }, async later() { return 1; }, *each() { yield 3; }, get four() { return 4; } };
const frames = () => { try { new Sum().fails(); } catch (error) { return error.stack.split("\\n").slice(1, 3).map((line) => line.trim().split(" ")[1]); } };
export const trial = async () => {
  const sum = new Sum();
  return [Sum.made, sum.of(1, 2, 3), sum.twice(4), sum.chain(5), await sum.later(6), [...sum.each()], sum.loose.call(sum), sum.whole(),
    sum.of.name, Object.keys(sum), Object.keys(Sum.prototype), frames(), plain.of(7), await plain.later(), [...plain.each()], plain.four];
};`);
    expect(await after.trial()).toEqual(await before.trial());
    expect(await before.trial()).toContainEqual(["#throws", "Sum.fails"]);
  });

  test("a private method whose name outside its class is taken stays where it is", async () => {
    const [before, after] = await both<{ given: () => string }>(`var Sum_of = "taken";
var Sum = class { of() { return this.#of(); } #of() { return Sum_of; } };
export const given = () => new Sum().of();`);
    expect([before.given(), after.given()]).toEqual(["taken", "taken"]);
  });

  test("a run takes its first steps where every function of every file is", () => {
    for (const file of readdirSync(bundled, { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".js")) continue;
      const text = readFileSync(join(bundled, file), "utf8");
      writeFileSync(join(bundled, file), compileAsRead(text, everywhere(text)));
    }
    execFileSync(process.execPath, [join(root, "scripts/first-steps.ts"), bundled], { stdio: "pipe" });
  });
});
