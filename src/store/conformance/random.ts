/**
 * Random sequences: operations drawn from a seed are done to the store and to the memory store side by side, and every
 * answer must be the same, across reopening too. In the end all that both hold is read and compared.
 */
import { memory } from "../memory/store.ts";
import type { RunHead, RunName } from "../records.ts";
import type { Store } from "../store.ts";
import { createChance } from "./chance.ts";
import { Draw, type Operation, pools } from "./draw.ts";
import type { World } from "./world.ts";

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

/** Runs one sequence; adds the answers it reached. What differs is shown with the operation and its place. */
export async function compareRandom(
  world: World,
  seed: number,
  length: number,
  reached: Set<string>,
): Promise<void> {
  const chance = createChance(seed);
  const model = memory();
  const draw = new Draw(chance, model);
  let { store } = world;
  for (let place = 0; place < length; place++) {
    if (chance.percent(2)) {
      store = await world.reopen();
      reached.add("reopen");
    }
    const operation = await draw.next();
    const wanted = await answerOf(operation, model);
    const given = await answerOf(operation, store);
    const shown = `seed ${seed}, operation ${place}: ${operation.verb} ${JSON.stringify(operation.parameters)}`;
    world.expect(given, shown).toEqual(wanted);
    draw.heard(operation, wanted);
    for (const answer of namesOf(operation, wanted)) reached.add(answer);
  }
  store = await world.reopen();
  world.expect(await contentsOf(store), `seed ${seed}, in the end`).toEqual(await contentsOf(model));
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

/** Everything that can be read. */
export async function contentsOf(store: Store): Promise<unknown> {
  const contents: unknown[] = [await store.nextDue(Number.NEGATIVE_INFINITY)];
  for (const tenant of pools.tenant) {
    for (const head of await store.findRuns({ tenant, limit: 1_000 }))
      contents.push(head, ...(await contentsOfRun(store, head)));
    for (const subject of pools.subject)
      contents.push(await store.readContents(tenant, subject, pools.digest));
    for (const name of pools.document) contents.push(await store.readDocument(tenant, name));
    const letters = await store.readDeadLetters(tenant, 0, 1_000);
    contents.push(letters.map(({ number: _number, ...letter }) => letter));
  }
  return contents;
}

async function contentsOfRun(store: Store, head: RunHead): Promise<readonly unknown[]> {
  return Promise.all([
    store.load(head),
    store.readJournal(head, 1, 1_000),
    store.readKeys(head, pools.key),
    store.readForks(head),
    ...Array.from({ length: head.seq }, (_, index) => store.readAt(head, index + 1)),
    ...pools.activity.map((key) => store.readChunks(head, key, 0, 1_000)),
  ]);
}
