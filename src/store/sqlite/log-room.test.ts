import { copyFileSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { begun, commitOn, committed } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { LogRoom } from "./log-room.ts";
import { sqlite } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  path = join(folder, "runs.db");
});

afterEach(() => rmSync(folder, { recursive: true }));

type Begun = Awaited<ReturnType<typeof begun>>;

const logBytes = (): number => statSync(`${path}-wal`).size;

/** Takes so many steps of a run, each in a commit of its own. */
async function takeSteps(store: Store, { epoch, head }: Begun, steps: number): Promise<Begun> {
  let newest = head;
  for (let step = 0; step < steps; step++) newest = await committed(store, commitOn(newest, epoch));
  return { epoch, head: newest };
}

test("after some commits the log has room for the rest, and does not grow with them", async () => {
  const store = sqlite(path);
  await store.open();
  const first = await takeSteps(store, await begun(store), limits.logRoomAfterCommits - 2);
  expect(logBytes()).toBeLessThan(limits.logRoomBytes / 2);
  const newest = await takeSteps(store, first, 50);
  expect(logBytes()).toBe(limits.logRoomBytes);

  // Whoever finds the files as a crash leaves them reads the log itself, room included.
  const copy = join(folder, "copy.db");
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
  const found = sqlite(copy);
  await found.open();
  expect(await found.readHead(newest.head)).toEqual(newest.head);
  await found.close();

  await takeSteps(store, newest, 1_000);
  expect(logBytes()).toBe(limits.logRoomBytes);
  await store.close();
});

test("a log whose commits are not synced is left to grow", async () => {
  const store = sqlite(path, { synchronous: "normal" });
  await store.open();
  await takeSteps(store, await begun(store), limits.logRoomAfterCommits + 5);
  expect(logBytes()).toBeLessThan(limits.logRoomBytes / 2);
  await store.close();
});

test("a log that cannot be lengthened, or is not there, stays as it is", () => {
  new LogRoom(join(folder, "nowhere"), true).make();
  symlinkSync("/dev/full", join(folder, "full-wal"));
  new LogRoom(join(folder, "full"), true).make();
});
