/** How much is loaded before the first page is there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildStudio } from "./build.ts";

const dist = join(import.meta.dirname, "../../studio/dist");
const bytesMax = 400_000;

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}

/** The scripts that a page needs before it can be drawn: its own, the entry's, and what these import. */
function scriptsOf(manifest: Readonly<Record<string, Chunk>>, page: string): Set<string> {
  const files = new Set<string>();
  const add = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || files.has(chunk.file)) return;
    files.add(chunk.file);
    chunk.imports?.forEach(add);
  };
  for (const [name, { isEntry }] of Object.entries(manifest)) if (isEntry === true) add(name);
  add(page);
  return files;
}

test.each(["src/runs/runs-page.tsx", "src/run/run-page.tsx", "src/dashboard/dashboard-page.tsx"])(
  "the first load of %s is at most 400 KB of compressed scripts",
  (page) => {
    buildStudio();
    const manifest = JSON.parse(readFileSync(join(dist, "manifest.json"), "utf8")) as Record<string, Chunk>;
    expect(Object.keys(manifest)).toContain(page);
    const sizes = [...scriptsOf(manifest, page)].map(
      (file) => gzipSync(readFileSync(join(dist, file))).length,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    console.log(`${page}: ${Math.round(bytes / 1_000)} KB of compressed scripts`);
    expect(bytes).toBeLessThan(bytesMax);
  },
);
