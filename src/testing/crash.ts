/**
 * Crashes everywhere: a scenario is played once without a crash, and then once for every point at which its process can
 * be killed, each time in a world of its own. A machine and its activities that are right come to the same end.
 *
 * C1. What is compared: of every run its status, states, context, output, reason and what it waits for; what became of
 *     each event that the test sent, and the replies it got.
 * C2. An activity that may happen once is not called twice; any other is called at least once, always with the same
 *     input.
 * C3. A crash costs no time on the clock. What is late all the same, as an attempt that was cut off and now has its whole
 *     timeout again, may catch up before it is compared, while the clock stands.
 */
import { describeError } from "../core/describe-error.ts";
import type { JsonObject } from "../core/json.ts";
import { matches } from "../core/query.ts";
import { assertion, pendingOf } from "./expectation.ts";
import { judgeCalls } from "./judge-calls.ts";
import { differences } from "./match.ts";
import type { Blow } from "./mortal-store.ts";
import { describePending, describeSteps, showShort } from "./report.ts";
import type { Deed, Doing } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import type { World } from "./world.ts";

export interface CrashOptions<Test> {
  /** How many points are tried at most; 1,000 unless given. If there are more, the seed chooses. */
  readonly points?: number;
  /** States in which the run may end instead: where the machine goes when it cannot know what happened. */
  readonly accept?: readonly string[];
  /** Looks at each world after its crash, and throws if something is wrong with it. */
  readonly check?: (test: Test, point: string) => unknown;
  /** Told after each point. */
  readonly onProgress?: (tried: number, points: number) => void;
}

/** What was tried. */
export interface CrashReport {
  /** How many points the scenario has, and how many of them were tried. */
  readonly points: number;
  readonly tried: number;
  /** Points at which the run ended in a state that `accept` names. */
  readonly accepted: number;
}

export interface Experiment<Test> {
  readonly stage: Stage;
  /** The world in which the test itself took place. */
  readonly original: World;
  readonly scenario: readonly Deed[];
  readonly options: CrashOptions<Test>;
  /** The run that the scenario is about. */
  readonly run: string;
  /** A world as tests see it. */
  view(world: World): Promise<Test>;
}

/** Where to kill: at a call of the store, or when all is at rest after one of the deeds. */
type Point = { readonly name: string } & (
  | { readonly blow: Blow; readonly deed?: never }
  | { readonly blow?: never; readonly deed: number }
);

/** A world after a scenario, and how it was after each deed. */
interface Played {
  readonly world: World;
  readonly pictures: readonly Picture[];
  /** How many calls of the store there were when each deed was done; the first number is before all of them. */
  readonly calls: readonly number[];
}

type Picture = Readonly<Record<string, unknown>>;

interface Failure {
  readonly point: Point;
  readonly problems: readonly string[];
  readonly story: readonly string[];
}

const pointsMax = 1_000;
/** How long something may be late after a crash: as long as people let an attempt take. */
const patienceMs = 3_600_000;
/** How many of the points that failed are named, and how many steps are shown of the first. */
const namedMax = 10;
const stepsShown = 30;

export async function crashEverywhere<Test>(experiment: Experiment<Test>): Promise<CrashReport> {
  const { stage, original, scenario, options } = experiment;
  const calm = await play(stage.makeWorld({ places: original.answers.places }), scenario);
  await calm.world.close();
  checkRepeats(original, calm);
  const points = pointsOf(calm, scenario);
  const chosen = choose(points, options.points ?? pointsMax, stage.seed);
  const failures: Failure[] = [];
  let accepted = 0;
  for (const [index, point] of chosen.entries()) {
    const found = await tryPoint(point, calm, experiment);
    if (found === "accepted") accepted++;
    else if (found !== undefined) failures.push(found);
    options.onProgress?.(index + 1, chosen.length);
  }
  if (failures.length > 0) throw assertion(describe(failures, chosen.length), []);
  return { points: points.length, tried: chosen.length, accepted };
}

/** Does what the test did; waits for what is late, where it is known how things should be. */
async function play(
  world: World,
  scenario: readonly Deed[],
  { killAfter, expected }: { killAfter?: number | undefined; expected?: readonly Picture[] } = {},
): Promise<Played> {
  await world.open();
  const calls = [world.traffic.verbs.length];
  const doings: (readonly [Deed, Doing])[] = [];
  const pictures: Picture[] = [];
  for (const [index, deed] of scenario.entries()) {
    doings.push([deed, await deed.do(world)]);
    if (killAfter === index) world.kill();
    await world.settle();
    const wanted = expected?.[index];
    const isAsWanted = async () => {
      await world.look();
      return differences(wanted, pictureOf(world, doings), "").length === 0;
    };
    if (wanted !== undefined) await world.clock.stand(patienceMs, isAsWanted);
    pictures.push(pictureOf(world, doings));
    calls.push(world.traffic.verbs.length);
  }
  return { world, pictures, calls };
}

/** What must be the same in every world. */
function pictureOf(world: World, doings: readonly (readonly [Deed, Doing])[] = []): Picture {
  const runs = world.mirror.runs.map(({ head, state }): [string, JsonObject] => {
    const { configuration, context, output, reason } = state;
    const end = { ...(output === undefined ? {} : { output }), ...(reason === undefined ? {} : { reason }) };
    const waitsFor = pendingOf(state) as unknown as JsonObject;
    return [
      `run ${head.run}`,
      { status: head.status, state: configuration.join(", "), context, ...end, waitsFor },
    ];
  });
  const fates = doings.map(([deed, { fate }], index): [string, unknown] => {
    const name = `${index + 1}. ${deed.name}`;
    if (fate.status === "done") return [name, deed.tell?.(fate.value) ?? "done"];
    return [name, fate.status === "failed" ? { failed: codeOf(fate.error) } : fate.status];
  });
  return Object.fromEntries([...runs.sort(), ...fates]);
}

function codeOf(error: unknown): string {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return String(code ?? message ?? error);
}

function checkRepeats(original: World, calm: Played): void {
  const found = compare(pictureOf(original), pictureOf(calm.world));
  if (found.length === 0) return;
  const lines = [
    "The scenario ends differently when it is played again, even without a crash:",
    ...found,
    "",
    "Activities that keep something from one run to the next do this: let a function make them, as in",
    "harness(machine, () => { … }), and it is called for each world. So does what a test does past the harness,",
    "as with test.run: use perform().",
  ];
  throw assertion(lines.join("\n"), []);
}

function compare(expected: unknown, actual: unknown): string[] {
  return differences(expected, actual, "").map(
    (one) =>
      `  ${one.path.slice(1)}: without a crash ${showShort(one.expected)}, with it ${showShort(one.actual)}`,
  );
}

function pointsOf({ world, calls }: Played, scenario: readonly Deed[]): Point[] {
  const { verbs } = world.traffic;
  const during = (call: number) => {
    const index = calls.findIndex((count) => call <= count);
    return index === 0 ? "before the test did anything" : `during ${scenario[index - 1]?.name}`;
  };
  const points: Point[] = [];
  for (const [index, verb] of verbs.slice(0, calls.at(-1)).entries()) {
    const call = index + 1;
    for (const when of ["before", "after"] as const) {
      const name = `killed ${when} ${verb} (call ${call} of ${calls.at(-1)} of the store), ${during(call)}`;
      points.push({ name, blow: { call, when } });
    }
  }
  for (const [deed, { name }] of scenario.entries())
    points.push({ name: `killed at rest, after ${name}`, deed });
  return points;
}

/** As many of them as may be tried, in their order; the seed says which. */
function choose(points: readonly Point[], max: number, seed: number): readonly Point[] {
  if (points.length <= max) return points;
  const left = points.map((_, index) => index);
  const chosen: number[] = [];
  for (let state = seed >>> 0; chosen.length < max; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    chosen.push(...left.splice(Math.floor((state / 2 ** 32) * left.length), 1));
  }
  return chosen.sort((one, other) => one - other).map((index) => points[index] as Point);
}

async function tryPoint<Test>(
  point: Point,
  calm: Played,
  { stage, original, scenario, options, run, view }: Experiment<Test>,
): Promise<Failure | "accepted" | undefined> {
  const { places } = original.answers;
  const world = stage.makeWorld(point.blow === undefined ? { places } : { places, blow: point.blow });
  const problems: string[] = [];
  let isAccepted = false;
  try {
    const crashed = await play(world, scenario, { killAfter: point.deed, expected: calm.pictures });
    const found = compare(calm.pictures.at(-1), crashed.pictures.at(-1));
    const state = world.mirror.find(run)?.state ?? { configuration: [] };
    isAccepted = found.length > 0 && (options.accept ?? []).some((path) => matches(state, path));
    if (!isAccepted) problems.push(...found, ...hints(found, world));
    problems.push(...judgeCalls(calm.world, world, found.length === 0));
    if (options.check !== undefined) await options.check(await view(world), point.name);
  } catch (error) {
    problems.push(`  ${describeError(error).message}`);
  }
  const story = problems.length === 0 ? [] : tell(world);
  await world.close().catch(() => {});
  if (problems.length > 0) return { point, problems, story };
  return isAccepted ? "accepted" : undefined;
}

/** What most likely made the difference. */
function hints(found: readonly string[], world: World): string[] {
  const steps = world.mirror.runs.flatMap(({ journal }) => journal);
  const unknown = steps.find(({ event }) => event.kind === "platform" && event.type.startsWith("unknown."));
  if (found.length === 0 || unknown === undefined) return [];
  return [
    "",
    `  Whether ${JSON.stringify(unknown.event.invokeId)} took effect was not known after the crash, since it may happen once. Give it a`,
    "  `reconcile` activity that finds out; or, if the machine does right, name the state it goes to in `accept`.",
  ];
}

function tell(world: World): string[] {
  const runs = world.mirror.runs.flatMap((reflection) => [
    "",
    `The run ${JSON.stringify(reflection.head.run)}:`,
    ...describeSteps(reflection, stepsShown),
    ...describePending(reflection, world.calls, world.clock.now()),
  ]);
  const calls = world.calls.map(
    ({ activity, key, attempt, process, outcome }) =>
      `  ${activity}, key ${key}, attempt ${attempt}, by process ${process}: ${outcome}`,
  );
  return [...runs, ...(calls.length === 0 ? [] : ["", "Activities that were called:", ...calls])];
}

function describe(failures: readonly Failure[], tried: number): string {
  const [first, ...others] = failures as readonly [Failure, ...Failure[]];
  const named = others.slice(0, namedMax).map(({ point }) => `  ${point.name}`);
  const more = others.length > namedMax ? [`  and ${others.length - namedMax} more`] : [];
  return [
    `${failures.length} of ${tried} crashes changed how the scenario ends. The first, ${first.point.name}:`,
    ...first.problems,
    ...first.story,
    ...(others.length === 0 ? [] : ["", "The others:", ...named, ...more]),
  ].join("\n");
}
