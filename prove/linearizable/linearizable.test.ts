/** The proof of linearizability: that bugs planted in production sources show in the histories of clients. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { read, root } from "../../test/project.ts";
import { change } from "../simulation/plant.ts";
import { bugs, findBug } from "./bugs.ts";
import { History } from "./history.ts";

/** Only ends what hangs. */
const patienceMs = 600_000;

test("a planted bug has its place in the sources, each of them", () => {
  for (const { name, changes } of bugs)
    for (const one of changes) expect(change(read(one.file), one), name).not.toBe(read(one.file));
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(() => findBug("none")).toThrow("There is no bug none");
});

test("a history is made of what clients said, cell by cell, and what was not answered is not known", () => {
  const history = new History();
  const look = { client: "c0", operation: { kind: "look" }, insists: true };
  const say = (...lines: object[]) => {
    for (const line of lines) history.hear(JSON.stringify(line));
  };
  say({
    id: "1",
    run: "register 0",
    client: "c0",
    operation: { kind: "write", value: 1 },
    from: 1,
    insists: false,
  });
  say({ id: "2", run: "register 1", ...look, from: 2 }, { id: "2", until: 3, answer: 0 });
  say({ id: "1", until: 4, answer: null }, { id: "3", run: "register 0", ...look, from: 5 });
  expect(history.figures).toEqual({ operations: 3, lost: 1 });
  expect([...history.cells.keys()]).toEqual(["register 0", "register 1"]);
  expect(history.check()).toEqual([]);
  expect(history.unanswered(new Set(["c0"]))).toEqual([
    { id: "3", run: "register 0", operation: { kind: "look" } },
  ]);
  expect(history.unanswered(new Set(["c1"]))).toEqual([]);
  say({ id: "3", until: 6, answer: 0 });
  expect(history.check()).toEqual([expect.stringMatching(/^register 0 is not linearizable: /)]);
  expect(() => say({ id: "9", until: 6, answer: 0 })).toThrow("9 was answered and never called");
});

test.each(bugs.map(({ name }) => name))("a planted bug is caught: %s", { timeout: patienceMs }, (name) => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--conditions=holdfast-source", "prove/linearizable.ts", "--bug", name],
    { cwd: root, encoding: "utf8" },
  );
  expect([stdout.startsWith(`caught: ${name}: `), status, stdout]).toEqual([true, 0, stdout]);
});
