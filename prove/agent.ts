/** `npm run prove:agent`: an agent that is killed at every moment of a conversation. */
import { bugs } from "./agent/bugs.ts";
import { proveAgent } from "./agent/proof.ts";
import { number, oneBug, readFlags, text } from "./flags.ts";
import { conclude, countsOf, inFolder, progress } from "./verdict.ts";

const { kills, every, only, bug } = readFlags(
  "agent",
  `An agent on SQLite is killed with SIGKILL at every moment of a conversation: while it recalls, plans, thinks, speaks, calls
tools, waits for a person, sums up, looks back, and rests. Each time the next process goes on, and whoever listens goes on
listening: nothing is repeated without its key, no thread is wedged, every word is heard once, and what it remembers and
sums up is what it would have been.`,
  {
    kills: number("kills that many processes in a row at the same moment", 1, { least: 1 }),
    every: number("takes only every so many moments", 1, { least: 1 }),
    only: text("takes those whose names begin so", "NAME"),
    bug: oneBug("plants a bug of prove/agent/bugs.ts", bugs),
  },
);
let problems = 0;
/** A problem is told as soon as it is found: a long run may be ended early. */
const report = (problem: string) => {
  problems++;
  console.log(problem);
};
const figures = await inFolder("agent", (folder) =>
  proveAgent({ folder, kills, every, only, bug: bug?.name, progress, report }),
);
process.stderr.write("\n");
conclude("agent", problems === 0, `${countsOf(figures)}; ${problems} problems`);
