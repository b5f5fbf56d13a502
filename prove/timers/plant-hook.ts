/** Loaded before everything else, it plants the bug that the environment names: see `plants.ts`. */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { plants } from "./plants.ts";

const name = process.env.HOLDFAST_PLANT ?? "";
const plant = plants[name];
if (plant === undefined) throw new Error(`There is no planted bug ${JSON.stringify(name)}`);
const top = pathToFileURL(`${import.meta.dirname}/../../`).href;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const patches = plant.patches.filter(({ file }) => url === top + file);
    if (patches.length === 0) return loaded;
    let source = String(loaded.source);
    for (const { from, to } of patches) {
      if (source.split(from).length !== 2)
        throw new Error(`${url} has not exactly one ${JSON.stringify(from)}`);
      source = source.replace(from, () => to);
    }
    return { ...loaded, source };
  },
});
