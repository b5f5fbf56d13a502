/** An agent is killed at one moment of its work, then at the next, and so on; what it leaves is held against what it said. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { byLine } from "../kill/ledger.ts";
import { plantArguments } from "./bugs.ts";
import { judge, type Life, type Part } from "./judge.ts";

const script = fileURLToPath(new URL("./victim.ts", import.meta.url));
/** Only ends what hangs. */
const patienceMs = 180_000;

/** What an agent does: it must be killed in each of these. */
const phases = [
  ...["understanding", "recalling", "planning", "thinking", "saying", "calling", "waiting"],
  ...["summing up", "reflecting", "resting"],
];

export interface AgentProofOptions {
  readonly folder: string;
  /** How many moments in a row each victim is killed at. */
  readonly kills: number;
  /** Only every so many moments. */
  readonly every: number;
  /** Only moments that are called so. */
  readonly only?: string | undefined;
  readonly bug?: string | undefined;
  readonly progress: (text: string) => void;
  /** Told of every problem as it is found. */
  readonly report: (problem: string) => void;
}

/** Kills an agent at every moment it says that it can be killed at; gives how many there were. */
export async function proveAgent(options: AgentProofOptions): Promise<Readonly<Record<string, number>>> {
  const figures = { moments: 0, kills: 0, lives: 0, parts: 0 };
  const whole = await live(options, "whole", Number.POSITIVE_INFINITY);
  const tell = (what: string, lives: readonly Life[]) => {
    for (const problem of judge(lives, whole)) options.report(`${what}: ${problem}`);
    figures.kills += lives.length - 1;
    figures.lives += lives.length;
    figures.parts += lives.reduce((sum, { parts }) => sum + parts.length, 0);
  };
  tell("nobody was killed", whole);
  const moments = whole.at(-1)?.marks ?? [];
  figures.moments = moments.length;
  for (const phase of phases)
    if (!moments.some((moment) => moment.startsWith(phase))) options.report(`A1: it never came to ${phase}`);
  for (let moment = 1; moment <= moments.length; moment += options.every) {
    if (!(moments[moment - 1] as string).startsWith(options.only ?? "")) continue;
    const lives = await live(options, `moment-${moment}`, moment);
    tell(`killed at ${moment}, ${moments[moment - 1]}`, lives);
    options.progress(`${moment} of ${moments.length} moments`);
  }
  return figures;
}

/** One conversation from its beginning to its end, by as many processes as it takes. */
async function live(
  { folder, kills, bug }: AgentProofOptions,
  name: string,
  moment: number,
): Promise<Life[]> {
  const place = join(folder, name);
  mkdirSync(place);
  const lives: Life[] = [];
  let cursor: Part["cursor"] | undefined;
  for (;;) {
    const killAt = lives.length < kills ? moment : Number.POSITIVE_INFINITY;
    const life = await once(join(place, "store.db"), cursor, killAt, bug);
    lives.push(life);
    cursor = life.parts.at(-1)?.cursor ?? cursor;
    if (!life.wasKilled) break;
  }
  rmSync(place, { recursive: true });
  return lives;
}

function once(
  file: string,
  cursor: object | undefined,
  killAt: number,
  bug: string | undefined,
): Promise<Life> {
  const args = [file, ...(cursor === undefined ? [] : [JSON.stringify(cursor)])];
  const child = spawn(
    process.execPath,
    ["--conditions=holdfast-source", ...plantArguments(bug), script, ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const life: Life = {
    marks: [],
    parts: [],
    tools: [],
    thoughts: 0,
    thread: undefined,
    kept: "",
    wasKilled: false,
    wasLate: false,
    errors: "",
  };
  const late = setTimeout(() => {
    life.wasLate = true;
    child.kill("SIGKILL");
  }, patienceMs);
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    life.errors += text;
  });
  child.stdout.setEncoding("utf8").on(
    "data",
    byLine((line) => {
      if (life.wasKilled) return;
      const [word = "", rest = ""] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
      if (line === "model") life.thoughts++;
      else if (word === "part") life.parts.push(JSON.parse(rest));
      else if (word === "tool") life.tools.push(rest);
      else if (word === "kept") life.kept = rest;
      else if (word === "thread") life.thread = JSON.parse(rest);
      else if (word === "mark" && life.marks.push(rest) === killAt) {
        life.wasKilled = true;
        child.kill("SIGKILL");
      }
    }),
  );
  return new Promise((resolve) => {
    child.on("close", () => {
      clearTimeout(late);
      resolve(life);
    });
  });
}
