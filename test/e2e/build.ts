/** Studio, built if it is missing or older than its sources. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

function newestIn(folder: string): number {
  return Math.max(
    0,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );
}

export function buildStudio(): void {
  const page = join(root, "studio/dist/index.html");
  const sources = ["studio/src", "src/client"].map((folder) => newestIn(join(root, folder)));
  if (existsSync(page) && statSync(page).mtimeMs > Math.max(...sources)) return;
  const vite = join(root, "node_modules/vite/bin/vite.js");
  execFileSync(process.execPath, [vite, "build", "studio", "--config", "studio/vite.config.ts"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
