/** Asking where runs stand. */
import { expect, test } from "vitest";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Checkpoints } from "./checkpoints.ts";

const nameOf = (run: string) => ({ tenant: "default", run });

test("what is asked in one moment is one question, and what is asked later another", async () => {
  const asked: string[][] = [];
  const readSeqs = async (names: readonly { readonly run: string }[]) => {
    asked.push(names.map(({ run }) => run));
    return names.map(({ run }) => run.length);
  };
  const checkpoints = new Checkpoints({ readSeqs }, new VirtualClock());
  expect(await Promise.all(["a", "bb", "a"].map((run) => checkpoints.read(nameOf(run))))).toEqual([1, 2, 1]);
  expect(await checkpoints.read(nameOf("ccc"))).toBe(3);
  expect(asked).toEqual([["a", "bb", "a"], ["ccc"]]);
});

test("a store that cannot be reached is an error for all who asked, and is asked again", async () => {
  let isUp = false;
  const readSeqs = async () => {
    if (isUp) return [7];
    throw new Error("down");
  };
  const checkpoints = new Checkpoints({ readSeqs }, new VirtualClock());
  const both = [nameOf("a"), nameOf("b")].map((name) => checkpoints.read(name));
  for (const one of both) await expect(one).rejects.toThrow("down");
  isUp = true;
  expect(await checkpoints.read(nameOf("a"))).toBe(7);
});
