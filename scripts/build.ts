/** Builds what is published into `dist`: a declaration beside each source's place, the JavaScript in few files, and Studio. */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundle } from "./bundle.ts";
import { compileEagerly } from "./eager.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "dist");

rmSync(folder, { recursive: true, force: true });
execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
await bundle(folder);
compileEagerly(folder);
execFileSync(process.execPath, ["node_modules/vite/bin/vite.js", "build", "studio", "--logLevel", "warn"], {
  cwd: root,
  stdio: "inherit",
});
cpSync(join(root, "studio", "dist"), join(folder, "studio"), { recursive: true });
