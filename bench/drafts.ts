/** Are our own drafts worth having? The same recipes through ours, mutative and immer. See METHOD.md. */
import { type BenchOptions, columns, measure, median } from "./process.ts";

const ways = ["holdfast", "mutative", "immer"];
const recipes = ["two fields", "a nested field", "a message more"];

export async function benchDrafts({ rounds, ms }: BenchOptions): Promise<void> {
  const script = new URL("./drafts/measure.ts", import.meta.url);
  const measured = new Map<string, number[]>();
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    for (const recipe of recipes) {
      for (const way of ways) {
        const { perSecond } = await measure<{ perSecond: number }>(script, [way, recipe, String(ms)]);
        const key = `${way} ${recipe}`;
        measured.set(key, [...(measured.get(key) ?? []), perSecond]);
      }
    }
  }
  const speed = (way: string, recipe: string) => median(measured.get(`${way} ${recipe}`) as number[]);
  const table = [["updates/s, median", ...recipes]];
  for (const way of ways) {
    table.push([way, ...recipes.map((recipe) => Math.round(speed(way, recipe)).toLocaleString("en"))]);
  }
  console.log(columns(table));
}
