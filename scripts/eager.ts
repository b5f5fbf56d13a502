/**
 * Functions that every process needs are compiled as their file is read. V8 only skims a function when it reads a file, and reads
 * it again when it is first called: between opening a store and its first durable step a process calls some hundreds for the
 * first time. `compile-as-read.ts` writes those so that they are compiled at once, and the second reading falls away.
 *
 * Which functions these are is observed: what was built takes the first steps of a run, and V8 tells what it called.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compileAsRead } from "./compile-as-read.ts";

/** Where the functions begin that were called, by file. */
type Called = ReadonlyMap<string, ReadonlySet<number>>;

/** Rewrites the files of a built folder. What they do and export stays as it is. */
export function compileEagerly(folder: string): void {
  for (const [path, starts] of watchFirstSteps(folder))
    writeFileSync(path, compileAsRead(readFileSync(path, "utf8"), starts));
}

/** The part of what V8 writes down with `NODE_V8_COVERAGE` that is read. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

function watchFirstSteps(folder: string): Called {
  const notes = mkdtempSync(join(tmpdir(), "holdfast-called-"));
  execFileSync(process.execPath, [join(import.meta.dirname, "first-steps.ts"), folder], {
    // What comes out of a compile cache is not told.
    env: { ...process.env, NODE_V8_COVERAGE: notes, NODE_DISABLE_COMPILE_CACHE: "1" },
  });
  const { result } = JSON.parse(readFileSync(join(notes, readdirSync(notes)[0]!), "utf8")) as Coverage;
  rmSync(notes, { recursive: true });
  const built = pathToFileURL(`${folder}/`).href;
  return new Map(
    result
      .filter(({ url }) => url.startsWith(built))
      .map(({ url, functions }) => {
        const wholes = functions.map(({ ranges: [whole] }) => whole!);
        return [
          fileURLToPath(url),
          new Set(wholes.filter(({ count }) => count > 0).map(({ startOffset }) => startOffset)),
        ];
      }),
  );
}
