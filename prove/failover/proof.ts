/**
 * Failover after failover: two real servers in step, workers under load, the primary killed with all its processes, the
 * standby promoted, and the one that was killed made anew to follow; then the other way round.
 *
 * Before half of the kills the standby hears nothing for a while. In step, nothing is acknowledged meanwhile, and what is
 * under way has an outcome that only the new primary knows. Out of step, it is acknowledged and lost.
 */
import { createRandom } from "../../test/generate/random.ts";
import { pause } from "../../test/postgres/cluster.ts";
import { Pair } from "../../test/postgres/pair.ts";
import { Crew } from "./crew.ts";
import { judge } from "./judge.ts";

export interface FailoverOptions {
  readonly seed: number;
  readonly failovers: number;
  /** How many worker processes there are. */
  readonly workers: number;
  /** Where the servers may be. */
  readonly folder: string;
  /** Commits do not wait for the standby: what was acknowledged is lost, which must be found. */
  readonly isAsynchronous?: boolean;
  readonly progress: (text: string) => void;
}

export interface FailoverResult {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  /** How long it took from the order to promote until the first event was acknowledged, and until one of every kind was. */
  readonly firstMs: readonly number[];
  readonly allMs: readonly number[];
}

/** How long after the order to promote there must be service of every kind. */
export const backMsMax = 5_000;
/** Only end what hangs. */
const [patienceMs, endMs] = [60_000, 30_000];
/** How much is acknowledged before a kill, how long the standby hears nothing, and how long nobody sees to it. */
const ackedBefore = { least: 40, most: 200 };
const deafMs = { least: 50, most: 300 };
const unseenMs = { least: 100, most: 2_000 };

/** Does as many failovers as asked for, and judges what is left. */
export async function proveFailover(options: FailoverOptions): Promise<FailoverResult> {
  const { seed, failovers, workers, folder, isAsynchronous = false, progress } = options;
  const random = createRandom(seed);
  const pair = await Pair.start({ folder, isSynchronous: !isAsynchronous });
  const crew = new Crew(pair.url);
  const problems: string[] = [];
  const [firstMs, allMs]: [number[], number[]] = [[], []];
  try {
    for (let worker = 0; worker < workers; worker++) crew.start(String.fromCharCode(97 + worker));
    for (let count = 1; count <= failovers && problems.length === 0; count++) {
      const wanted = crew.ledger.ackedCount + random.between(ackedBefore.least, ackedBefore.most);
      if (!(await crew.hasAcked(wanted, patienceMs))) {
        problems.push(`there was no service before failover ${count}`);
        break;
      }
      const isDeaf = isAsynchronous || random.chance(0.5);
      const back = await failOver(pair, crew, {
        deafMs: isDeaf ? random.between(deafMs.least, deafMs.most) : 0,
        unseenMs: random.chance(0.5) ? random.between(unseenMs.least, unseenMs.most) : 0,
      });
      if (back === undefined) problems.push(`failover ${count}: no service ${patienceMs} ms after it`);
      else {
        firstMs.push(back.firstMs);
        allMs.push(back.allMs);
        if (back.allMs > backMsMax) problems.push(`failover ${count}: served after ${back.allMs} ms`);
      }
      await pair.attach();
      progress(`${count} of ${failovers} failovers, ${crew.ledger.ackedCount} acknowledged`);
    }
    await crew.end(endMs);
    const verdict = await judge(pair.url, crew.ledger);
    problems.push(...verdict.problems);
    const figures = { failovers: allMs.length, acked: crew.ledger.ackedCount, ...verdict.figures };
    return { problems, figures, firstMs, allMs };
  } finally {
    await crew.end(0);
    await pair.stop();
  }
}

/** One failover; undefined if there was no service of every kind again. */
async function failOver(
  pair: Pair,
  crew: Crew,
  waits: { readonly deafMs: number; readonly unseenMs: number },
): Promise<{ readonly firstMs: number; readonly allMs: number } | undefined> {
  await pair.killPrimary(waits.deafMs);
  await pause(waits.unseenMs);
  const ordered = Date.now();
  await pair.promote();
  const promoted = Date.now();
  // Before it was promoted nobody could write; whatever is acknowledged from here on was taken by the new primary.
  if (!(await crew.isBack(promoted, patienceMs))) return undefined;
  const times = [...crew.told.values()].flatMap(({ ackedAt = 0 }) => (ackedAt > promoted ? [ackedAt] : []));
  return { firstMs: Math.min(...times) - ordered, allMs: Date.now() - ordered };
}
