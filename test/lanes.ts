/**
 * The programs that some tests need beside Node and PostgreSQL. Before the tests each is installed where that can be done, as
 * root on Debian; where one cannot be had, its tests are not run, and the end says which. With `CI=true` that is an error.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Each is in the package of its name. */
const programs = ["redis-server", "pgbouncer", "strace", "tmux"] as const;
export type Program = (typeof programs)[number] | "chromium" | "podman" | "runc" | "debootstrap";

/** Where a program is; undefined if it is not installed. */
export function findProgram(program: Program): string | undefined {
  return [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"]
    .map((folder) => join(folder, program))
    .find(existsSync);
}

/** What is needed where a program cannot be had. */
export const howToInstall = (program: Program): string =>
  `No ${program} for the tests: put it on PATH (Debian: apt-get install ${program})`;

function install(program: Program): void {
  if (findProgram(program) !== undefined || !existsSync("/usr/bin/apt-get") || process.getuid?.() !== 0)
    return;
  const apt = (...given: string[]) =>
    execFileSync("apt-get", given, {
      stdio: "ignore",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  const tries = [() => {}, () => apt("update")];
  for (const prepare of tries)
    try {
      prepare();
      apt("install", "-y", "--no-install-recommends", program);
      return;
    } catch {
      // The list of packages may be old, or there is no way to them: the end says what was not run.
    }
}

export default function setup(): () => void {
  return haveAll(programs);
}

/** Installs what is not there; gives what says, at the end, which tests were not run for want of it. */
export function haveAll(wanted: readonly Program[]): () => void {
  wanted.forEach(install);
  const missing = wanted.filter((program) => findProgram(program) === undefined);
  if (missing.length > 0 && process.env.CI === "true") throw new Error(missing.map(howToInstall).join("\n"));
  return () => {
    for (const program of missing)
      console.error(`Not run: tests that need ${program}. ${howToInstall(program)}`);
  };
}
