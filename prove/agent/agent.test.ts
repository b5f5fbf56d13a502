/** The proof of agents: that bugs planted in production sources show in what a killed agent does and says. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { read, root } from "../../test/project.ts";
import { change } from "../simulation/plant.ts";
import { bugs, findBug } from "./bugs.ts";

/** Only ends what hangs. */
const patienceMs = 600_000;

test("a planted bug has its place in the sources, each of them", () => {
  for (const { name, changes } of bugs)
    for (const one of changes) expect(change(read(one.file), one), name).not.toBe(read(one.file));
  expect(() => findBug("none")).toThrow("There is no bug none");
});

test.each(bugs)("a planted bug is caught: $name", { timeout: patienceMs }, ({ name, only }) => {
  const args = ["--conditions=holdfast-source", "prove/agent.ts", "--only", only, "--bug", name];
  const hunt = () => spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  let { status, stdout } = hunt();
  // A signal may come when the moment it was for is over, on a machine that has much to do.
  for (let again = 0; status === 0 && again < 2; again++) ({ status, stdout } = hunt());
  expect([status, stdout]).toEqual([1, expect.stringMatching(/A[1-5]: [\s\S]*prove:agent failed/)]);
});
