/** Workers, told apart. */
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { isGone, workerName } from "./worker.ts";

const here = hostname();

test("B4: a worker of this process is there, and so is what cannot be known", () => {
  expect([isGone(workerName("one")), isGone(workerName("two"))]).toEqual([false, false]);
  expect([isGone("elsewhere 1 id"), isGone(`${here} ${process.ppid} id`)]).toEqual([false, false]);
});

test("B4: a worker whose process is not there is gone", () => {
  expect(isGone(`${here} ${2 ** 22 + 1} id`)).toBe(true);
});

describe.runIf(process.platform === "linux")("where the system tells when a process began", () => {
  test("B4: one that had the id of this process before it is gone, as in a container that was begun again", () => {
    expect(isGone(`${here} ${process.pid} id`)).toBe(true);
    expect(isGone(`${here} ${process.pid} id 1`)).toBe(true);
  });

  test("B4: one whose id another process has now is gone", () => {
    expect(isGone(`${here} ${process.ppid} id 1`)).toBe(true);
  });
});
