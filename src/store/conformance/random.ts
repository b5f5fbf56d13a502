/**
 * Random sequences: operations drawn from a seed are done to the store and to the memory store side by side, and every
 * answer must be the same, across reopening too. In the end all that both hold is read and compared.
 */
import { memory } from "../memory/store.ts";
import type { RunName } from "../records.ts";
import type { Store } from "../store.ts";
import { createChance } from "./chance.ts";
import { Draw, type Operation } from "./draw.ts";
import type { World } from "./world.ts";

/** Every verb, with each kind of answer it must have given at least once over all sequences. */
export const answersToReach: readonly string[] = [
  ...["own owned", "own taken", "release"],
  ...["commit committed", "commit fenced", "commit conflict", "commit duplicate"],
  ...["enqueue accepted", "enqueue duplicate", "enqueue missing", "enqueue ended"],
  ...["due some", "nextDue some", "readKeys some", "readHead some", "load some", "readAt some"],
  ...["readJournal some", "readContents some", "findRuns some", "readChunks some", "readDocument some"],
  ...["recordActivity true", "recordActivity false", "appendChunks"],
  ...["writeDocument true", "writeDocument false", "reopen"],
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
  if (answer === undefined) return verb === "release" || verb === "appendChunks" ? [verb] : [];
  if (typeof answer === "boolean") return [`${verb} ${answer}`];
  const parts = Array.isArray(answer) ? answer : [answer];
  if (verb === "commit" || verb === "own" || verb === "enqueue")
    return parts.map((part) => `${verb} ${typeof part === "string" ? part : part.outcome}`);
  return parts.length === 0 ? [] : [`${verb} some`];
}

/** Everything that can be read of every run. */
async function contentsOf(store: Store): Promise<unknown> {
  const contents: unknown[] = [];
  for (const tenant of ["acme", "globex"]) {
    const heads = await store.findRuns({ tenant, limit: 1_000 });
    for (const head of heads) {
      const checkpoints = Array.from({ length: head.seq }, (_, index) => store.readAt(head, index + 1));
      contents.push(head, await store.load(head), await Promise.all(checkpoints));
      contents.push(await store.readJournal(head, 1, 1_000));
    }
  }
  return [...contents, await store.nextDue()];
}
