/** The skeleton of a random chart: which states there are and how they nest. */
import type { Dialect, StateKind, StatePlan } from "./plan.ts";
import type { Random } from "./random.ts";

/** A chart that a person could still draw on a board, nested as deep as one would dare. */
const depthMax = 5;

/** A tree of states without any behaviour, of about this many states. */
export function drawStructure(random: Random, size: number, dialect: Dialect): StatePlan {
  let made = 0;
  const nextKey = (letter: string): string => {
    made += 1;
    return `${letter}${made}`;
  };
  const leaf = (kind: StateKind, letter: string): StatePlan => bare(nextKey(letter), kind, [], random);

  const drawState = (depth: number): StatePlan => {
    const canNest = depth < depthMax && made < size;
    if (!canNest || random.chance(0.4)) return leaf("atomic", "s");
    return random.chance(0.6) ? drawCompound(depth, nextKey("c")) : drawParallel(depth, nextKey("p"));
  };

  const drawCompound = (depth: number, key: string, ends = random.chance(0.35)): StatePlan => {
    const children = Array.from({ length: random.between(1, 3) }, () => drawState(depth + 1));
    if (ends) children.splice(random.below(children.length + 1), 0, leaf("final", "f"));
    if (random.chance(0.35)) children.splice(random.below(children.length + 1), 0, leaf("history", "h"));
    return bare(key, "compound", children, random);
  };

  const drawParallel = (depth: number, key: string): StatePlan => {
    // Where every region can end, the parallel state itself can be done.
    const ends = random.chance(0.3);
    const drawRegion = (): StatePlan =>
      ends || (random.chance(0.7) && depth + 1 < depthMax)
        ? drawCompound(depth + 1, nextKey("c"), ends || random.chance(0.35))
        : drawState(depth + 1);
    const regions = Array.from({ length: random.between(2, 3) }, drawRegion);
    if (random.chance(0.15)) regions.splice(random.below(regions.length + 1), 0, leaf("history", "h"));
    return bare(key, "parallel", regions, random);
  };

  const root = dialect === "native" && random.chance(0.12) ? drawParallel(0, "m") : drawCompound(0, "m");
  const { named: _, ...unnamed } = root;
  return unnamed;
}

function bare(key: string, kind: StateKind, states: StatePlan[], random: Random): StatePlan {
  return {
    key,
    kind,
    ...(random.chance(0.3) ? { named: true } : {}),
    states,
    transitions: [],
    entry: [],
    exit: [],
    ...(kind === "history" && random.chance(0.5) ? { deep: true } : {}),
    ...(kind === "final" && random.chance(0.4) ? { output: random.below(10) } : {}),
  };
}
