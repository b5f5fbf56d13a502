/**
 * Random sequences: operations drawn from a seed are done to the store and to the memory store side by side, and every
 * answer must be the same, across reopening too. In the end all that both hold is read and compared.
 */
import { memory } from "../memory/store.ts";
import type { RunName } from "../records.ts";
import type { Store } from "../store.ts";
import { createChance } from "./chance.ts";
import { contentsOf, rowsOf } from "./contents.ts";
import { Draw, type Operation } from "./draw.ts";
import type { Expect, OpenStore, World } from "./world.ts";

/** Every verb, with each kind of answer it must have given at least once over all sequences. */
export const answersToReach: readonly string[] = [
  ...["own owned", "own taken", "release"],
  ...["commit committed", "commit fenced", "commit conflict", "commit duplicate"],
  ...["enqueue accepted", "enqueue duplicate", "enqueue missing", "enqueue ended"],
  ...["due some", "nextDue some", "readKeys some", "readHead some", "load some", "readInbox some"],
  ...["readAt some", "readDeadLetters some", "removeDeadLetter true", "removeDeadLetter false"],
  ...["readJournal some", "readContents some", "findRuns some", "readChunks some", "readDocument some"],
  ...["recordActivities true", "recordActivities false", "appendChunks true", "appendChunks false"],
  ...[
    "writeDocument true",
    "writeDocument false",
    "removeDocument true",
    "removeDocument false",
    "reopen",
    "readForks some",
  ],
  ...["removeRuns true", "removeRuns false", "pruneJournal true", "pruneJournal false"],
  ...["sweep true", "sweep false", "mend true", "mend false"],
];

export interface Sequence {
  readonly seed: number;
  /** How many operations it has. */
  readonly length: number;
  /** The answers it reached are added. */
  readonly reached: Set<string>;
  readonly expect: Expect;
  /** After so many operations all that is held is compared as well; only in the end unless given. */
  readonly lookEvery?: number;
}

/** Runs one sequence on a store and the memory store. */
export function compareRandom(
  { expect, ...opened }: World,
  seed: number,
  length: number,
  reached: Set<string>,
): Promise<void> {
  return compareStores({ "the store": opened }, { seed, length, reached, expect });
}

/**
 * Runs one sequence on stores, by name, side by side, and on the memory store. What differs is shown with the operation
 * and its place.
 */
export async function compareStores(
  opened: Readonly<Record<string, OpenStore>>,
  { seed, length, reached, expect, lookEvery = length }: Sequence,
): Promise<void> {
  const chance = createChance(seed);
  const model = memory();
  const draw = new Draw(chance, model);
  const stores = new Map(Object.entries(opened).map(([name, { store }]) => [name, store]));
  const reopen = async (): Promise<void> => {
    for (const [name, { reopen }] of Object.entries(opened)) stores.set(name, await reopen());
    reached.add("reopen");
  };
  const look = async (place: string): Promise<void> => {
    await reopen();
    const wanted = [await contentsOf(model), await rowsOf(model)];
    for (const [name, store] of stores)
      expect([await contentsOf(store), await rowsOf(store)], `seed ${seed}, ${place}, ${name}`).toEqual(
        wanted,
      );
  };
  for (let place = 0; place < length; place++) {
    if (chance.percent(2)) await reopen();
    const operation = await draw.next();
    const wanted = await answerOf(operation, model);
    const shown = `seed ${seed}, operation ${place}: ${operation.verb} ${JSON.stringify(operation.parameters)}`;
    for (const [name, store] of stores)
      expect(await answerOf(operation, store), `${shown}, ${name}`).toEqual(wanted);
    draw.heard(operation, wanted);
    for (const answer of namesOf(operation, wanted)) reached.add(answer);
    if (place % lookEvery === lookEvery - 1) await look(`after operation ${place}`);
  }
  if (length % lookEvery > 0) await look("in the end");
}

async function answerOf(operation: Operation, store: Store): Promise<unknown> {
  const answer = await operation.call(store);
  if (operation.verb !== "due") return answer;
  // Needs of the same age may come in any order.
  return (answer as RunName[]).map((name) => JSON.stringify([name.tenant, name.run])).sort();
}

/** What an answer counts as. */
function namesOf({ verb }: Operation, answer: unknown): string[] {
  if (answer === undefined) return verb === "release" ? [verb] : [];
  if (typeof answer === "boolean") return [`${verb} ${answer}`];
  const parts = Array.isArray(answer) ? answer : [answer];
  if (verb === "commit" || verb === "own") return parts.map(({ outcome }) => `${verb} ${outcome}`);
  if (verb === "enqueue" || verb === "recordActivities" || verb === "removeRuns")
    return parts.map((part) => `${verb} ${part}`);
  return parts.length === 0 ? [] : [`${verb} some`];
}
