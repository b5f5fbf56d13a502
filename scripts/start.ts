/** `npm start`: builds Studio if it is missing or older than its sources, then `holdfast dev` with the examples. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** Whether something that Studio is built from is newer than what was built. */
export function isStale(folder: string): boolean {
  const built = join(folder, "studio/dist/index.html");
  if (!existsSync(built)) return true;
  const { mtimeMs } = statSync(built);
  const sources = globSync(["studio/{src/**/*,index.html,package.json,vite.config.ts}", "src/client/*.ts"], {
    cwd: folder,
  });
  return sources.some((path) => statSync(join(folder, path)).mtimeMs > mtimeMs);
}

function run(...command: readonly string[]): number {
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" });
  return status ?? 1;
}

if (import.meta.main) {
  if (isStale(root)) {
    console.error("Studio is being built, once …");
    const built = run("node_modules/vite/bin/vite.js", "build", "studio", "--logLevel", "warn");
    if (built !== 0) process.exit(built);
  }
  const command = ["--conditions=holdfast-source", "src/cli/main.ts", "dev", "examples/dev.ts"];
  process.exitCode = run(...command, ...process.argv.slice(2));
}
