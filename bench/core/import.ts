/** How long importing a module takes in a fresh process, and how much JavaScript that loads: prints both as JSON. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) loaded.push(fileURLToPath(url));
    return next(url, context);
  },
});

const target = process.argv[2] as string;
const begun = performance.now();
await import(target);
const ms = performance.now() - begun;
const sources = loaded.map((file) => readFileSync(file));
const bytes = sources.reduce((sum, source) => sum + source.length, 0);
console.log(JSON.stringify({ ms, bytes, gzipped: gzipSync(Buffer.concat(sources)).length }));
