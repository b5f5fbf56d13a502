/**
 * Others who do what Holdfast does are not among the project's dependencies: they weigh more than everything else. They
 * are installed on demand.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("./peers/", import.meta.url);

/** Whether all of them are installed. */
export function hasPeers(): boolean {
  const { dependencies } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(dependencies).every((name) =>
    existsSync(new URL(`node_modules/${name}/package.json`, folder)),
  );
}

/** Installs what `bench/peers/package-lock.json` says, without running anybody's scripts. */
export function installPeers(): void {
  console.error("installing peers into bench/peers (344 MB)");
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["ci", ...quiet], {
    cwd: fileURLToPath(folder),
    stdio: ["ignore", "ignore", "inherit"],
  });
}
