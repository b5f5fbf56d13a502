/** Every bug that proofs plant fits the sources as they are: told in a second, before any hunt for it begins. */
import { expect, test } from "vitest";
import { read } from "../test/project.ts";
import { bugs as inAgents } from "./agent/bugs.ts";
import { bugs as inBoards } from "./board/bugs.ts";
import { bugs as inEvolution } from "./evolution/bugs.ts";
import { bugs as inKills } from "./kill/bugs.ts";
import { bugs as inHistories } from "./linearizable/bugs.ts";
import { bugs as inWorlds } from "./simulation/bugs.ts";
import { type Change, change } from "./simulation/plant.ts";
import { bugs as inStores } from "./stores/bugs.ts";

interface Planted extends Partial<Change> {
  readonly name: string;
  readonly changes?: readonly Change[];
  readonly also?: readonly Change[];
}

const changesOf = (bug: Planted): readonly Change[] => [
  ...(bug.changes ?? [bug as Change]),
  ...(bug.also ?? []),
];

test.each(Object.entries({ inAgents, inBoards, inEvolution, inKills, inHistories, inWorlds, inStores }))(
  "every planted bug fits: %s",
  (_, bugs) => {
    const unfit = (bugs as readonly Planted[]).flatMap((bug) => {
      const texts = new Map<string, string>();
      try {
        for (const one of changesOf(bug))
          texts.set(one.file, change(texts.get(one.file) ?? read(one.file), one));
        return [];
      } catch (error) {
        return [`${bug.name}: ${(error as Error).message}`];
      }
    });
    expect(unfit).toEqual([]);
  },
);
