/** The proof of boards: that its ledger of critical sections sees what is wrong, and that planted bugs are caught. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { read, root } from "../../test/project.ts";
import { change } from "../simulation/plant.ts";
import { bugs, findBug } from "./bugs.ts";
import { Sections } from "./sections.ts";

/** Only ends what hangs. */
const patienceMs = 600_000;

test("a planted bug has its place in the sources, each of them", () => {
  for (const { name, changes } of bugs)
    for (const one of changes) expect(change(read(one.file), one), name).not.toBe(read(one.file));
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(() => findBug("none")).toThrow("There is no bug none");
});

/** A ledger of these sections of one door, each asked for at 0 unless it says otherwise. */
function ledgerOf(...sections: readonly Readonly<Record<string, unknown>>[]): Sections {
  const ledger = new Sections();
  for (const [index, one] of sections.entries()) {
    const section = `s${index}`;
    ledger.hear({ section, client: `c${index}`, names: ["door"], asked: 0, ms: 1_000 });
    ledger.hear({ section, token: index + 1, until: 10_000, ...one } as never);
  }
  return ledger;
}

test("sections one after the other are well, and those that overlap are not", () => {
  const one = { entered: 1_000, left: 2_000 };
  expect(ledgerOf(one, { entered: 2_000, left: 3_000 }).check(9)).toEqual([]);
  expect(ledgerOf(one, { entered: 1_999, left: 3_000 }).check(9)).toEqual([expect.stringMatching(/^S1: s0/)]);
  expect(ledgerOf(one, { entered: 1_500, left: 1_600, names: ["window"] }).check(9)).toEqual([]);
  expect(ledgerOf({ entered: 1_000, left: 9_000, until: 2_000 }, { entered: 2_001 }).check(9)).toEqual([]);
  const dead = ledgerOf({ entered: 1_000 }, { entered: 4_000, left: 5_000 });
  expect(dead.check(9)).toHaveLength(1);
  dead.killed("c0", 3_000);
  expect(dead.check(9)).toEqual([]);
});

test("a token that comes again, a lease that is short, fences that fail and turns without end are found", () => {
  const one = { entered: 1_000, left: 2_000 };
  expect(ledgerOf(one, { entered: 2_000, left: 3_000, token: 1 }).check(9)).toEqual([
    expect.stringMatching(/^S2: s1 .* token is no higher$/),
  ]);
  expect(ledgerOf({ ...one, until: 500 }).check(9)).toEqual([expect.stringMatching(/^S2: .* ended before$/)]);
  expect(ledgerOf({ ...one, fenced: 1_500 }).check(9)).toEqual([
    expect.stringMatching(/^S3: .* in its time$/),
  ]);
  expect(ledgerOf({ ...one, fenced: 10_500, late: "fenced" }).check(9)).toEqual([]);
  expect(ledgerOf({ ...one, late: "written" }).check(9)).toEqual([
    expect.stringMatching(/^S3: a late write/),
  ]);
  const turns = Array.from({ length: 4 }, (_, index) => ({
    entered: index * 10 + 10,
    left: index * 10 + 15,
  }));
  expect(ledgerOf(...turns).check(3)).toEqual([]);
  expect(ledgerOf(...turns).check(2)).toEqual([expect.stringMatching(/^S4: s3 .* waited for 3 turns/)]);
  expect(ledgerOf(...turns).figures).toEqual({ sections: 4, late: 0, turns: 3 });
});

test.each(bugs.map(({ name }) => name))("a planted bug is caught: %s", { timeout: patienceMs }, (name) => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--conditions=holdfast-source", "prove/board.ts", "--bug", name],
    { cwd: root, encoding: "utf8" },
  );
  expect([stdout.startsWith(`caught: ${name}: `), status, stdout]).toEqual([true, 0, stdout]);
});
