/**
 * What a victim does besides sending numbers, each without end: it travels, keeps a diary and prunes it, works in two
 * workshops while they move to other versions, and makes backups.
 */
import { isHoldfastError, type Run, type Runtime } from "holdfast";
import type { Random } from "../../test/generate/random.ts";
import type { Changes } from "./changes.ts";
import { diary, orderType, path, type WorkshopId, workshop, workshopLists } from "./changing.ts";

export interface TaskScene {
  readonly runtime: Runtime;
  readonly changes: Changes;
  readonly random: Random;
  readonly say: (line: string) => void;
  /** A number that no other life has: what is named after it has a name of its own. */
  readonly life: number;
}

/** How many forks are alive at a time. */
const twinsMax = 4;

/** A path is walked, taken back and forked; forks end, are held, and are removed. */
async function travel({ runtime, changes, random, life }: TaskScene): Promise<never> {
  const root = (await runtime.start(path, { id: "path" })) as unknown as Run;
  let [n, twins] = [life * 1_000, 0];
  const alive = async (): Promise<Run[]> => {
    const runs: Run[] = [];
    for await (const { run } of runtime.find({ machine: "path", status: "active" }))
      if (run !== root.id) runs.push(await runtime.run(run));
    return runs;
  };
  const fork = async (run: Run): Promise<Run> => {
    const at = random.between(1, (await run.head()).seq);
    return changes.fork(run, { id: `twin-${life}-${twins++}`, at, edited: random.chance(0.5) });
  };
  const acts: Record<string, (run: Run, others: readonly Run[]) => Promise<void>> = {
    walk: (run) => changes.send(run, "walk", n++),
    rest: (run) => changes.send(run, "rest", n++),
    goBack: async (run) => changes.goBack(run, random.between(1, (await run.head()).seq)),
    fork: async (run, others) => {
      if (others.length < twinsMax) await changes.send(await fork(run), "walk", n++);
    },
    end: async (_, others) => {
      if (others.length === 0) return;
      const run = random.pick(others);
      // Some end while a fork of theirs goes on.
      if (random.chance(0.3)) await fork(run);
      if (random.chance(0.4)) await changes.hold(run.id);
      await changes.end(run);
      if (random.chance(0.2)) await changes.release(run.id);
    },
    retain: () => changes.retain(random.below(3)),
  };
  const names = ["walk", "walk", "walk", "rest", "goBack", "goBack", "fork", "fork", "end", "end", "retain"];
  for (;;) {
    const others = await alive();
    const run = others.length === 0 || random.chance(0.5) ? root : random.pick(others);
    await unlessOver(acts[random.pick(names)]?.(run, others));
  }
}

/** A fork that was sent to its end may come to it while something else is asked of it. */
async function unlessOver(work: Promise<void> | undefined): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isHoldfastError(error) || !["RUN_ENDED", "STATE_INVALID"].includes(error.code)) throw error;
  }
}

/** Long texts, some of which do not compress, and the oldest of them pruned. */
async function keepDiary({ runtime, changes, random, say }: TaskScene): Promise<never> {
  const run = (await runtime.start(diary, { id: "diary" })) as unknown as Run;
  const { numbers } = (await run.state()).context as unknown as { numbers: number[] };
  say(`found diary note ${numbers.length}`);
  for (let n = numbers.length; ; n++) {
    await changes.note(run, n, textOf(random, random.pick([500, 2_000, 3_500])));
    if (random.chance(0.2)) await changes.prune(random.pick([0, 20]));
  }
}

export function textOf(random: Random, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(random.between(32, 126))).join("");
}

/** A workshop at work: a tool under way, a timer pending and events deferred; and then it is moved. */
async function work(
  { runtime, changes, random, say, life }: TaskScene,
  id: WorkshopId,
  move: (run: Run) => Promise<void>,
): Promise<never> {
  const first = workshop(id, 1);
  const run = (await runtime.start(first as never, { id })) as unknown as Run;
  await run.waitFor("idle");
  const { version, context } = await run.state();
  const { begun, orders } = workshopLists(version, context);
  say(`found ${id} begin ${begun.length}`);
  say(`found ${id} order ${orders.length}`);
  let [order, hint] = [orders.length, life * 1_000];
  const sendOrder = async () => {
    const n = order++;
    await run.send(orderType((await run.head()).version), n, { key: `order ${n}` });
    say(`acked ${id} order ${n}`);
  };
  for (let n = begun.length; ; n++) {
    await changes.send(run, "begin", n);
    await sendOrder();
    if (random.chance(0.4)) await changes.send(run, "hint", hint++);
    if (random.chance(0.7)) await move(run);
    if (random.chance(0.5)) await sendOrder();
    await run.waitFor("idle");
  }
}

/** Migrated to the other version, and back. */
const shift = (scene: TaskScene): Promise<never> =>
  work(scene, "shift", async (run) => scene.changes.migrate(run, 3 - (await run.head()).version));

/** Newer and newer versions deployed. */
const swap = (scene: TaskScene): Promise<never> =>
  work(scene, "swap", async (run) => scene.changes.deploy((await run.head()).version + 1));

/** Backups, one after the other, with a few steps in between. */
async function copy({ runtime, changes, random, life }: TaskScene): Promise<never> {
  const root = (await runtime.start(path, { id: "path" })) as unknown as Run;
  for (let n = life * 1_000 + 500, last = 0; ; ) {
    for (let more = random.below(3); more >= 0; more--) await changes.send(root, "walk", n++);
    last = Math.max(Date.now(), last + 1);
    await changes.backup(last);
  }
}

/** Each by its name. */
export const changers = { travel, keepDiary, shift, swap, copy } as const;
export type TaskName = keyof typeof changers;
