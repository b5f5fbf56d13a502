/** LangGraph is not among the project's dependencies: it weighs more than everything else. It is installed on demand. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../peers/", import.meta.url);

export function hasPeers(): boolean {
  return existsSync(new URL("node_modules/@langchain/langgraph-checkpoint-sqlite/package.json", folder));
}

/** Installs what `bench/peers/package-lock.json` says, without running anybody's scripts. */
export function installPeers(): void {
  console.error("installing LangGraph into bench/peers");
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["ci", ...quiet], {
    cwd: fileURLToPath(folder),
    stdio: ["ignore", "ignore", "inherit"],
  });
}
