/**
 * The JavaScript that is published: every entry, in few files. Two hundred small modules take several times as long to import
 * as the same code in twenty files, and the heap that loading them takes is collected while the first run is being read.
 *
 * Entries are what `package.json` names and files that threads are started from. What several of them use stands once, in
 * `chunks`, so that a class is the same class whichever entry it comes from.
 */
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");

interface Package {
  readonly exports: Readonly<Record<string, string | { readonly "holdfast-source": string }>>;
}

/** Commands, and files that a thread is started from: those must stay files of their own. */
const unnamed = ["src/cli/main.ts", "src/store/sqlite/integrity.ts"];

/** The sources of all entries, by where they are built to. */
function entries(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Package;
  const named = Object.values(exports).flatMap((to) => (typeof to === "string" ? [] : to["holdfast-source"]));
  const sources = [...named, ...unnamed].map((source) => resolve(root, source));
  return Object.fromEntries(
    sources.map((source) => [relative(join(root, "src"), source).replace(/\.ts$/, ""), source]),
  );
}

/** Writes the files of all entries into a folder. */
export async function bundle(folder: string): Promise<void> {
  const built = await rolldown({
    input: entries(),
    cwd: root,
    platform: "node",
    // Packages are the user's to install, and the platform's modules are there.
    external: (id) => !id.startsWith(".") && !id.startsWith(root),
  });
  await built.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    comments: false,
  });
  await built.close();
}
