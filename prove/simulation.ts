/** `npm run prove:simulation`. */
import { parseArgs } from "node:util";
import { simulate, traceHash } from "./simulation/world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
  },
});
if (values.seed !== undefined) {
  const fate = await simulate(Number(values.seed));
  console.log(fate.trace.join("\n"));
  console.log(fate.violation, fate.steps, traceHash(fate));
} else {
  const start = performance.now();
  let failed = 0,
    steps = 0,
    lives = 0,
    acked = 0;
  const kinds = new Map<string, number[]>();
  const n = Number(values.seeds);
  for (let seed = Number(values.from); seed < n + Number(values.from); seed++) {
    const fate = await simulate(seed);
    steps += fate.steps;
    lives += fate.lives;
    acked += fate.acked;
    if (fate.violation) {
      failed++;
      const text = `${fate.violation.invariant} ${fate.violation.text.replace(/[0-9]+/g, "#").slice(0, 90)}`;
      kinds.set(text, [...(kinds.get(text) ?? []), seed]);
    }
  }
  for (const [text, seeds] of [...kinds].sort((a, b) => b[1].length - a[1].length))
    console.log(seeds.length, text, seeds.slice(0, 4));
  console.log({ failed, steps, lives, acked, ms: (performance.now() - start) / n });
}
