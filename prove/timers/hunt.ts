/** The hunt: the proof with each bug planted in turn, in a process of its own. It must fail, by the rule that is broken. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { plants } from "./plants.ts";

/** How many worlds a bug may hide in. */
const worldsMax = 200;

/** True if every planted bug was found. */
export function huntPlants(print: (line: string) => void): boolean {
  let found = 0;
  for (const [name, { breaks }] of Object.entries(plants)) {
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        ...["--conditions=holdfast-source", "--import", join(import.meta.dirname, "plant-hook.ts")],
        ...[join(import.meta.dirname, "../timers.ts"), "--seeds", String(worldsMax), "--timers", "1000000"],
      ],
      { encoding: "utf8", env: { ...process.env, HOLDFAST_PLANT: name } },
    );
    const [, first = ""] = stdout.split("\n");
    const isFound = status === 1 && breaks.some((rule) => first.startsWith(`${rule}: `));
    if (isFound) found++;
    const worlds = /: (\d+) worlds/.exec(stdout)?.[1];
    print(`${isFound ? `found in world ${worlds}` : "NOT FOUND"}: ${name} (${first.slice(0, 60)})`);
  }
  const count = Object.keys(plants).length;
  print(`prove:timers ${found === count ? "passed" : "failed"}: ${found} of ${count} planted bugs found`);
  return found === count;
}
