/**
 * Random charts with random events: structure first, then what every state does, then what is sent. The seed
 * determines all of it.
 */
import { drawBlock, drawBlocks, drawTransitions, type Surroundings } from "./behaviour.ts";
import type { Dialect, Plan, StatePlan } from "./plan.ts";
import { createRandom } from "./random.ts";
import { repair } from "./repair.ts";
import { drawStructure } from "./structure.ts";
import { drawFallback, drawInitial } from "./targets.ts";
import { plant } from "./tree.ts";
import { drawEvents } from "./vocabulary.ts";

/** The chart and the events of a seed. */
export function drawPlan(seed: number, dialect: Dialect = "shared"): Plan {
  const random = createRandom(seed);
  const matching = random.chance(0.5) ? "exact" : "scxml";
  const counters = random.between(1, 3);
  const roams = random.chance(0.25);
  const skeleton = drawStructure(random, random.between(2, 24), dialect);
  const around: Surroundings = { random, tree: plant(skeleton), matching, counters, dialect, roams };
  const root = drawState(skeleton, around);
  const events = drawEvents(random, random.between(3, 12));
  return repair({ matching, counters, root, events }, dialect);
}

function drawState(skeleton: StatePlan, around: Surroundings): StatePlan {
  const { random, tree } = around;
  const place = tree.get(skeleton.key)!;
  const content = (label: string) => (random.chance(0.3) ? drawBlock(around, label) : []);
  if (skeleton.kind === "history")
    return {
      ...skeleton,
      fallback: { targets: drawFallback(random, place, tree), actions: content(`~${skeleton.key}`) },
    };
  return {
    ...skeleton,
    entry: drawBlocks(around, `+${skeleton.key}`),
    exit: drawBlocks(around, `-${skeleton.key}`),
    transitions: drawTransitions(around, place),
    ...(skeleton.kind === "compound"
      ? { initial: { targets: drawInitial(random, place, tree), actions: content(`*${skeleton.key}`) } }
      : {}),
    states: skeleton.states.map((child) => drawState(child, around)),
  };
}
