/** What a worker takes from a user's module. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadMachines } from "../../src/cli/load-machines.ts";
import { root } from "../project.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-module-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
/** Loads a module in which `a` and `b` are machines. */
function load(code: string) {
  const path = join(folder, `machines-${++count}.ts`);
  const define = `import { defineMachine } from ${JSON.stringify(join(root, "src/index.ts"))};
    const [a, b] = ["a", "b"].map((id) => defineMachine({ id, initial: "on", states: { on: {} } }));\n`;
  writeFileSync(path, define + code);
  return loadMachines(path);
}

const names = async (code: string): Promise<string[]> =>
  (await load(code)).map((given) => ("machine" in given ? `entry of ${given.machine.id}` : given.id));

test("every export that is a machine or an entry, each once, and nothing else", async () => {
  expect(await names("export { a, b }; export const again = a, other = 1, none = null;")).toEqual(["a", "b"]);
  expect(await names("export default a; export const entry = { machine: b, activities: {} };")).toEqual([
    "a",
    "entry of b",
  ]);
});

test("a list that is the default, or is called machines, is all there is", async () => {
  expect(await names("export { a }; export default [{ machine: b }];")).toEqual(["entry of b"]);
  expect(await names("export { b }; export const machines = [a];")).toEqual(["a"]);
});

test.each([
  ["export const one = 1;", "exports no machine"],
  ["export default [];", "exports no machine"],
  ["export default [a, 1];", "neither a machine nor an entry"],
  ["throw new Error('broken inside');", "broken inside"],
])("%s is refused", async (code, problem) => {
  await expect(load(code)).rejects.toMatchObject({
    code: "COMMAND_INVALID",
    message: expect.stringContaining(problem),
  });
});

test("a path that leads nowhere is refused", async () => {
  await expect(loadMachines(join(folder, "none.js"))).rejects.toThrow("There is no module");
});
