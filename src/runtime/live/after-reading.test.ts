/** What a run has under way is taken up once it was read, or left to whoever goes on with it. */
import { expect, test } from "vitest";
import type { ActivityRow } from "../../store/records.ts";
import { followReading } from "./after-reading.ts";

test.each([
  ["is wanted", "active", true, "started"],
  ["is not the one in memory any more", "active", false, "left"],
  ["was parked meanwhile", "parked", true, "left"],
])("activities that were taken over for a run which %s", async (_, status, isWanted, expected) => {
  const done: string[] = [];
  const { takeUp } = followReading(
    () =>
      ({
        standing: {
          adopt: async (rows: readonly ActivityRow[]) => rows.map(({ key }) => key !== "another's"),
        },
        activities: {
          read: async (rows: readonly ActivityRow[]) => rows,
          startAll: (rows: readonly ActivityRow[]) => done.push(...rows.map(({ key }) => `${key} started`)),
          leaveAll: (rows: readonly ActivityRow[]) => done.push(...rows.map(({ key }) => `${key} left`)),
        },
        waker: { resume: () => {} },
        evolution: { upgrade: () => {} },
      }) as never,
  );
  const activities = [{ key: "ours" }, { key: "another's" }];
  await takeUp({ head: { status } } as never, { activities } as never, () => isWanted);
  expect(done).toEqual([`ours ${expected}`]);
});
