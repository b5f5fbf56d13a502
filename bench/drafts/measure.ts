/** One way of drafting on one recipe, in a process of its own: prints updates per second as JSON. */
import { produce as immer, setAutoFreeze } from "immer";
import { create as mutative } from "mutative";
import { produce as holdfast } from "../../src/core/draft.ts";
import { freezeStates } from "../../src/core/json.ts";

interface Context {
  goal: string;
  count: number;
  plan: { steps: string[]; done: number };
  messages: { text: string }[];
}

const base: Context = {
  goal: "compare",
  count: 0,
  plan: { steps: ["search", "read"], done: 0 },
  messages: Array.from({ length: 2_000 }, (_, index) => ({ text: `message ${index}` })),
};

type Recipe = (draft: Context, turn: number) => void;

const recipes: Readonly<Record<string, Recipe>> = {
  "two fields": (draft, turn) => {
    draft.count = turn;
    draft.goal = "summarise";
  },
  "a nested field": (draft, turn) => {
    draft.plan.done = turn;
    draft.count += 1;
  },
  "a message more": (draft, turn) => {
    draft.messages.push({ text: `message ${turn}` });
  },
};

const ways: Readonly<Record<string, (context: Context, recipe: Recipe, turn: number) => Context>> = {
  holdfast: (context, recipe, turn) => holdfast(context, recipe as never, turn),
  mutative: (context, recipe, turn) => mutative(context, (draft) => recipe(draft, turn)),
  immer: (context, recipe, turn) =>
    immer(context, (draft) => {
      recipe(draft, turn);
    }),
};

// All of them unfrozen: what is compared is drafting.
freezeStates(false);
setAutoFreeze(false);

const [way = "", recipe = "", ms = "600"] = process.argv.slice(2);
const update = ways[way] as (typeof ways)[string];
const change = recipes[recipe] as Recipe;

function run(forMs: number): number {
  let count = 0;
  let made = base;
  const begun = performance.now();
  while (performance.now() - begun < forMs) {
    for (let turn = 0; turn < 100; turn++) made = update(base, change, count++);
  }
  const seconds = (performance.now() - begun) / 1000;
  if (made === base || base.count !== 0 || base.messages.length !== 2_000)
    throw new Error(`${way} did not draft`);
  return count / seconds;
}

run(Number(ms) / 2);
console.log(JSON.stringify({ perSecond: run(Number(ms)) }));
