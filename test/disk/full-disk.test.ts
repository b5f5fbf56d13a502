/**
 * A full disk, for real: a small tmpfs that only its own process sees, full after as many bytes as each case says. Where
 * none can be mounted, a limit on the size of files stands in for it, and a line says so.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "holdfast-full-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = join(import.meta.dirname, "full-disk.ts");
const diskBytes = 3 * 1024 * 1024;
/** A file system of its own for a command: it is gone when the command has ended. */
const unshare = ["--mount", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];
const mount = `mount -t tmpfs -o size=${diskBytes} tmpfs "$0" && exec "$@"`;

function onSmallDisk(...command: string[]): ReturnType<typeof spawnSync> {
  const place = mkdtempSync(join(folder, "disk-"));
  return spawnSync(
    "unshare",
    [...unshare, "sh", "-c", mount, place, ...command.map((word) => word.replace("DISK", place))],
    {
      encoding: "utf8",
    },
  );
}

const canMount = onSmallDisk("true").status === 0;
if (!canMount)
  console.warn(
    "No small disk could be mounted (unshare --mount, mount -t tmpfs): a limit on file sizes stands in for it.",
  );

interface Report {
  readonly work: { readonly code: string; readonly message: string };
  readonly later: { readonly code: string };
  readonly same: "succeeded" | { readonly code: string };
  readonly acked: number;
  readonly lost: number;
  readonly doubled: number;
  readonly last: string;
}

const node = [process.execPath, "--conditions=holdfast-source", script];

describe.runIf(canMount)("a disk that is full", () => {
  test.each([0, 4_096, 20_000, 40_000, 100_000, 170_000, 250_000, 400_000, 1_000_000])(
    "after %i bytes: the error says what to do, nothing acknowledged is lost, and the run goes on when there is room",
    (leave) => {
      const { stdout, stderr, status } = onSmallDisk(...node, "DISK", String(leave));
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      const report = JSON.parse(String(stdout)) as Report;
      expect(report.work).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(report.work.message).toContain("make room");
      expect(report.later).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(report).toMatchObject({ same: "succeeded", lost: 0, doubled: 0, last: "after" });
      expect(report.acked).toBeLessThan(2_000);
    },
  );
});

describe.runIf(!canMount)("a file that may not grow", () => {
  test("gives an error with a code, and another process goes on", () => {
    const place = mkdtempSync(join(folder, "limit-"));
    const limited = spawnSync("sh", ["-c", 'ulimit -f 400 && exec "$@"', "sh", ...node, place, "grow"], {
      encoding: "utf8",
    });
    const first = JSON.parse(limited.stdout) as Report;
    expect(first.work).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(first.acked).toBeGreaterThan(0);
    const second = JSON.parse(
      spawnSync(node[0] as string, [...node.slice(1), place, "grow"], { encoding: "utf8" }).stdout,
    );
    expect(second).toMatchObject({ work: "succeeded", acked: 2_000 });
  });
});
