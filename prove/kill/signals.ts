/**
 * Part one of the proof: real processes, killed with SIGKILL at random moments, over and over on the same store, then
 * judged. Several stores are worked on at a time, since most of a life is the start of its process.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { type Bug, plantArguments } from "./bugs.ts";
import { bundle } from "./bundle.ts";
import { backupsOf, type Judgement, judgeAny } from "./judge.ts";
import { byLine, Ledger } from "./ledger.ts";

export interface SignalOptions {
  readonly seed: number;
  readonly kills: number;
  /** Where the stores may be. */
  readonly folder: string;
  readonly progress: (text: string) => void;
  /** Told of every problem at once. */
  readonly report: (problem: string) => void;
  /** A bug to plant in the victims, who then only do what it shows in. */
  readonly bug?: Bug | undefined;
  /** Asked before every store: whether enough was found. */
  readonly isEnough?: () => boolean;
}

/** How many processes a store sees before it is judged. */
const livesPerStore = 25;
/** How many, where a bug is hunted: it shows soon, or in another store. */
const livesPerHunt = 5;
/** Only ends what hangs. Counted second by second: what a proof that is stopped for a while sleeps through is no time. */
const startSecondsMax = 60;
/** One life in so many ends at any moment after its start, be it before it has opened the store; the others at work. */
const anytimeChance = 0.2;
const anytimeMsMax = 250;
const workMsMax = 600;

const source = fileURLToPath(new URL("./victim.ts", import.meta.url));

/** Kills as often as asked for; says what was found, and how much there was to lose. */
export async function proveSignals(options: SignalOptions): Promise<Pick<Judgement, "figures">> {
  const { seed, kills, folder, progress, report, bug, isEnough = () => false } = options;
  const env = { NODE_COMPILE_CACHE: join(folder, "compiled"), ...process.env };
  const script = bug === undefined ? await bundle(source, folder) : source;
  const task = bug?.task === undefined ? [] : [bug.task];
  const start = (...args: string[]) =>
    startVictim([...plantArguments(bug?.name), script, ...args, ...task], env);
  const livesEach = bug === undefined ? livesPerStore : livesPerHunt;
  await ended(startVictim([script], env));
  const total: Record<string, number> = { kills: 0, stores: 0, acked: 0 };
  const jobs = Array.from({ length: Math.ceil(kills / livesEach) }, (_, index) => ({
    storeSeed: seed + index,
    lives: Math.min(livesEach, kills - index * livesEach),
  }));
  const lane = async () => {
    for (let job = jobs.shift(); job !== undefined && !isEnough(); job = jobs.shift()) {
      const { storeSeed, lives } = job;
      const path = join(folder, `victim-${storeSeed}.db`);
      const ledger = new Ledger();
      const random = createRandom(storeSeed);
      for (let life = 1; life <= lives; life++) {
        await liveOnce(start(path, String(storeSeed * 1_000 + life)), ledger, random);
        total.kills = (total.kills as number) + 1;
        progress(`${total.kills} of ${kills} kills`);
      }
      const judgement = await judgeAny(path, ledger);
      add(total, { ...judgement.figures, ...ledgerFigures(ledger), stores: 1 });
      for (const problem of judgement.problems) report(`seed ${storeSeed}, ${lives} kills: ${problem}`);
      for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
      rmSync(backupsOf(path), { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return { figures: total };
}

function ledgerFigures(ledger: Ledger): Record<string, number> {
  const { ackedCount, tools, posts } = ledger;
  return { acked: ackedCount, tools: tools.size, posts: posts.size };
}

export function add(total: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(more)) total[name] = (total[name] ?? 0) + value;
}

type Victim = ChildProcessByStdio<null, Readable, Readable>;

function startVictim(args: readonly string[], env: NodeJS.ProcessEnv): Victim {
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return spawn(process.execPath, ["--conditions=holdfast-source", ...args], {
    stdio: [...stdio],
    env,
  }) as Victim;
}

/** One life, from its start to its end by SIGKILL. One that ends by itself, or never gets to work, is a problem. */
async function liveOnce(child: Victim, ledger: Ledger, random: Random): Promise<void> {
  const kill = () => void child.kill("SIGKILL");
  const anytime = random.chance(anytimeChance);
  const delayMs = random.next() ** 2 * (anytime ? anytimeMsMax : workMsMax);
  let ready = anytime;
  if (anytime) setTimeout(kill, delayMs);
  let seconds = 0;
  const hung = setInterval(() => ++seconds === startSecondsMax && kill(), 1_000);
  const hear = byLine((line) => {
    if (ledger.read(line, Date.now()) !== "ready" || anytime) return;
    ready = true;
    setTimeout(kill, delayMs);
  });
  child.stdout.setEncoding("utf8").on("data", hear);
  const { code, signal, errors } = await ended(child);
  clearInterval(hung);
  if (signal !== "SIGKILL") ledger.problems.push(`a life ended by itself with ${code ?? signal}: ${errors}`);
  else if (!ready) ledger.problems.push(`a life was not at work after ${startSecondsMax} s: ${errors}`);
}

function ended(child: Victim): Promise<{ code: number | null; signal: string | null; errors: string }> {
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, errors: errors.trim() }));
  });
}
