/**
 * One file of a script and of all the sources that it loads, as they are on the disk now: most of a short life is the loading
 * of some four hundred modules, which takes three times as long as that of one. Where a bug is planted sources are
 * loaded one by one, since that is where it is put in.
 */
import { basename, join } from "node:path";
import { rolldown } from "rolldown";

/** Puts it into a folder; its path. */
export async function bundle(script: string, folder: string): Promise<string> {
  const sources = await rolldown({
    input: script,
    platform: "node",
    resolve: { conditionNames: ["holdfast-source", "import", "node", "default"] },
  });
  const name = `${basename(script, ".ts")}.mjs`;
  // What a thread of its own runs loads no more than it did.
  const codeSplitting = { groups: [{ name: "thread", test: /src\/store\/sqlite\/integrity\.ts$/ }] };
  await sources.write({
    dir: folder,
    format: "esm",
    entryFileNames: name,
    chunkFileNames: "[name].mjs",
    codeSplitting,
  });
  await sources.close();
  return join(folder, name);
}
