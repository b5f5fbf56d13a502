/** `npm run bench -- <question> [--rounds N] [--ms N]`: one file per question; data on stdout, progress on stderr. */
import { benchCore } from "./core.ts";
import { benchDrafts } from "./drafts.ts";
import { benchDurable } from "./durable.ts";
import type { BenchOptions } from "./process.ts";

const questions: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  core: benchCore,
  drafts: benchDrafts,
  durable: benchDurable,
};

const [question = "", ...flags] = process.argv.slice(2);
const ask = questions[question];
if (ask === undefined) {
  console.error(`Which bench? One of: ${Object.keys(questions).join(", ")}`);
  process.exit(2);
}
await ask({ rounds: flag("--rounds", 3), ms: flag("--ms", 600) });

function flag(name: string, otherwise: number): number {
  const at = flags.indexOf(name);
  const value = at < 0 ? otherwise : Number(flags[at + 1]);
  if (!(value > 0)) {
    console.error(`${name} needs a number above zero`);
    process.exit(2);
  }
  return value;
}
