/**
 * Strace, which sees every system call a process makes on the files of a store, and can make any of them fail or be the
 * last one. Only calls on those files are touched: what Node does for itself goes on as ever.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Nothing if strace can be used, else one line that says why not and what to do. On Debian, root gets it installed. */
export function whyNoStrace(): string | undefined {
  if (isThere()) return undefined;
  if (process.getuid?.() === 0 && existsSync("/etc/debian_version"))
    spawnSync("apt-get", ["install", "-y", "strace"], { stdio: "ignore" });
  if (isThere()) return undefined;
  return "strace is not here, or may not trace; install it (on Debian: apt-get install strace) on a Linux that allows ptrace";
}

function isThere(): boolean {
  return spawnSync("strace", ["-qq", "-o", "/dev/null", "true"], { stdio: "ignore" }).status === 0;
}

/** The files SQLite makes of a store. */
export function filesOf(path: string): string[] {
  return ["", "-wal", "-shm", "-journal"].map((end) => path + end);
}

/** When a short life begins, and its backup is made. */
export const shortNoon = 1_700_000_000_000;

/** The files of a backup of that time in a folder, while it is made and once it has its name. */
export function filesOfBackup(directory: string, at: number): string[] {
  const name = join(directory, `${new Date(at).toISOString().replaceAll(":", "-")}.backup`);
  return [...filesOf(name), ...filesOf(`${name}.partial`)];
}

/** Arguments that have a command traced on these paths only, and what is seen written to `output`. */
export function traceArguments(paths: readonly string[], output: string, ...more: string[]): string[] {
  return ["-f", "-qq", "-y", "-o", output, ...paths.flatMap((path) => ["-P", path]), ...more];
}
