/**
 * A fleet under load, and one fault after another: workers killed, stopped for longer than their lease, blocked, asked to
 * leave; connections ended by the server, cut at a commit, slow, or gone for a while; the server restarted in good order and
 * in bad. After each, everybody whose worker is well must be served again soon.
 */
import { createRandom, type Random } from "../../test/generate/random.ts";
import { Node } from "../../test/postgres/cluster.ts";
import { Crew, type Hand } from "../failover/crew.ts";
import { judge } from "../failover/judge.ts";
import { trespasses, watchWrites } from "./audit.ts";
import { Network } from "./network.ts";

export interface FleetOptions {
  readonly seed: number;
  readonly faults: number;
  /** How many worker processes there are. */
  readonly workers: number;
  readonly folder: string;
  /** Just this kind of fault. */
  readonly only?: string | undefined;
  /** How long it may take until others see to what a worker saw to. */
  readonly takeoverMsMax: number;
  readonly progress: (text: string) => void;
}

export interface FleetResult {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  /** How long it took after each fault until all others were served, by its kind. */
  readonly backMs: ReadonlyMap<string, readonly number[]>;
}

/** A worker and its way to the server. */
interface Member {
  hand: Hand;
  readonly network: Network;
}

interface Scene {
  readonly node: Node;
  readonly crew: Crew;
  readonly random: Random;
  readonly members: Member[];
  /** Puts another worker in the place of one that has ended. */
  replace(member: Member): void;
}

interface Fault {
  /** What it does to a member; resolves when nothing of it lasts. Others must be served from when it is told to on. */
  readonly strike: (member: Member, scene: Scene) => Promise<void>;
  /** Whether it strikes everybody, so that nobody is served while it lasts. */
  readonly isOfAll?: boolean;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
/** Only end what hangs. */
const [patienceMs, endMs] = [90_000, 60_000];
/** A lane counts as at work that was acknowledged something within this time. */
const recentMs = 3_000;
/** Longer than others wait for a sign of life. */
const longMs = { least: 3_500, most: 6_000 };
const commits = ["holdfast.commit", '"holdfast".append', '"holdfast".commit'];

export const faults: Readonly<Record<string, Fault>> = {
  kill: {
    strike: async (member, { crew, replace }) => {
      await crew.dismiss(member.hand, "SIGKILL");
      replace(member);
    },
  },
  leave: {
    strike: async (member, { crew, replace }) => {
      await crew.dismiss(member.hand, "SIGTERM");
      replace(member);
    },
  },
  stop: {
    strike: async ({ hand }, { random }) => {
      hand.child.kill("SIGSTOP");
      await pause(random.between(longMs.least, longMs.most));
      hand.child.kill("SIGCONT");
    },
  },
  block: {
    strike: async ({ hand }) => {
      await Promise.race([hand.spoke, hand.ended]);
      hand.child.kill("SIGUSR2");
      await pause(5_000);
    },
  },
  terminate: {
    strike: async ({ hand }, { node }) => {
      await node.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [
        String(hand.child.pid),
      ]);
    },
  },
  "cut at a commit": {
    strike: async ({ network }, { random }) => {
      network.cutAt(random.pick(commits), random.chance(0.5) ? "before" : "after");
      await pause(random.between(200, 800));
      network.mend();
    },
  },
  "slow network": {
    strike: async ({ network }, { random }) => {
      network.slow(random.between(50, 400));
      await pause(random.between(1_000, 3_000));
      network.mend();
    },
  },
  "cut network": {
    strike: async ({ network }, { random }) => {
      network.cut();
      await pause(random.between(500, longMs.most));
      network.mend();
    },
  },
  "fast restart": {
    isOfAll: true,
    strike: async (_, { node }) => {
      await node.stop();
      await node.start();
    },
  },
  "immediate restart": {
    isOfAll: true,
    strike: async (_, { node }) => {
      await node.kill();
      await node.start();
    },
  },
};

/** Does as many faults as asked for, and judges what is left. */
export async function proveFleet(options: FleetOptions): Promise<FleetResult> {
  const { seed, workers, folder, progress } = options;
  const node = await Node.in(folder);
  await node.create();
  node.configure({ max_connections: "200" });
  await node.start();
  const crew = new Crew(node.url);
  const members: Member[] = [];
  let names = 0;
  const employ = (network: Network): Hand => crew.start(`w${++names}-`, network.url);
  const scene: Scene = {
    ...{ node, crew, members, random: createRandom(seed) },
    replace: (member) => {
      member.hand = employ(member.network);
    },
  };
  const backMs = new Map<string, number[]>();
  try {
    for (let count = 0; count < workers; count++) {
      const network = await Network.to(node.port);
      members.push({ network, hand: employ(network) });
    }
    const problems = (await crew.hasAcked(20, patienceMs)) ? [] : ["the fleet never began to work"];
    await watchWrites(node);
    for (let count = 1; count <= options.faults && problems.length === 0; count++) {
      problems.push(...(await strike(scene, options, backMs, count)));
      progress(`${count} of ${options.faults} faults, ${crew.ledger.ackedCount} acknowledged`);
    }
    await crew.end(endMs);
    problems.push(...(await trespasses(node)));
    const verdict = await judge(node.url, crew.ledger);
    problems.push(...verdict.problems, ...lateOnes(backMs, options.takeoverMsMax));
    const struck = [...backMs.values()].flat().length;
    const figures = { faults: struck, acked: crew.ledger.ackedCount, ups: crew.ups, ...verdict.figures };
    return { problems, figures, backMs };
  } finally {
    await crew.end(0);
    await Promise.all(members.map(({ network }) => network.close()));
    await node.stop();
  }
}

async function strike(
  { random, crew, members, ...scene }: Scene,
  { only }: FleetOptions,
  backMs: Map<string, number[]>,
  count: number,
): Promise<string[]> {
  const kind = only ?? random.pick(Object.keys(faults));
  const { strike, isOfAll = false } = faults[kind] as Fault;
  const member = random.pick(members);
  if (!(await crew.hasAcked(crew.ledger.ackedCount + random.between(10, 60), patienceMs)))
    return [`there was no service before fault ${count}`];
  // Lanes of a worker that has ended may have been served a moment ago, and never are again.
  const well = members.filter((one) => isOfAll || one !== member).map(({ hand }) => `-${hand.name}`);
  const others = [...crew.lanes]
    .filter(([lane, at]) => at > Date.now() - recentMs && well.some((name) => lane.includes(name)))
    .map(([lane]) => lane);
  let from = Date.now();
  const over = strike(member, { random, crew, members, ...scene });
  if (isOfAll) {
    await over;
    from = Date.now();
  }
  if (!(await crew.areServed(others, from, patienceMs))) {
    const left = others.filter((lane) => (crew.lanes.get(lane) as number) <= from);
    return [`fault ${count}, ${kind}: no service after it for ${left.join(", ")}`];
  }
  backMs.set(kind, [...(backMs.get(kind) ?? []), Date.now() - from]);
  await over;
  return [];
}

/** Of a hundred faults of a kind one may take longer. */
function lateOnes(backMs: ReadonlyMap<string, readonly number[]>, most: number): string[] {
  return [...backMs].flatMap(([kind, times]) => {
    const p99 = [...times].sort((one, other) => one - other)[Math.ceil(times.length * 0.99) - 1] as number;
    return p99 > most
      ? [`after ${kind} others were served after ${p99} ms (p99), and ${most} are allowed`]
      : [];
  });
}
