/**
 * A till that charges at most once, and can say afterwards whether it did. Whoever hears from it that nothing was charged
 * can rely on that: it takes no charge of an attempt that was before.
 */
import type { Json } from "holdfast";
import type { Activity, ActivityScope } from "../../../src/runtime/activity/attempt.ts";
import type { Reconciled } from "../../../src/runtime/activity/attempts.ts";
import type { Life } from "../life.ts";
import type { Tool, ToolWorld, Use } from "./tool.ts";

type Charging = "charge" | "charge and hang" | "charge late" | "fail" | "hang" | "wait and charge";

const chargings: readonly Charging[] = [
  ...(["charge", "charge", "charge and hang", "charge late", "fail", "hang"] as const),
  "wait and charge",
];

/** The money is taken, unless this attempt is known not to have. */
function charge({ world: { ledger, judge }, scope: { key }, start }: Use): void {
  if (ledger.isVoid(start)) throw new Error("this attempt is void");
  const charged = (ledger.charges.get(key) ?? 0) + 1;
  ledger.charges.set(key, charged);
  if (charged > 1) judge.report(6, `${key} is charged ${charged} times`);
}

export const chargeTool: Tool = {
  once: true,
  async act(use) {
    const { world, wait, answer } = use;
    const { random } = world;
    const charging = world.isCalm() ? "charge" : random.pick(chargings);
    use.say(`starts: ${charging}`);
    if (charging === "fail") throw new Error("busy");
    if (charging === "hang") return new Promise(() => {});
    if (charging === "wait and charge") await wait(random.between(1, 3_000));
    if (charging === "charge late") await wait(random.between(6_000, 30_000));
    charge(use);
    if (charging === "charge and hang") return new Promise(() => {});
    if (charging === "charge") await wait(random.between(0, 2_000));
    return answer();
  },
};

/** Finds out what became of a charge. It may not know, fail or hang; once the weather is calm it knows. */
export function auditOf(world: ToolWorld, life: Life): Activity {
  return async (_input: never, { key, attempt }: ActivityScope): Promise<Json> => {
    if (life.status === "dead") return new Promise(() => {});
    const { random, ledger, judge } = world;
    judge.auditStarts(life, key);
    const wait = (ms: number) => new Promise<void>((resolve) => void world.time.after(ms, resolve, life));
    const drawn = world.isCalm() ? 1 : random.next();
    if (drawn < 0.5) await wait(random.between(1, 2_000));
    if (drawn < 0.1) return new Promise(() => {});
    if (drawn < 0.25) throw new Error("the books are closed");
    const found =
      drawn < 0.4 ? { outcome: "unknown" as const } : findOut(world, key, attempt, random.chance(0.2));
    ledger.audited(key, found);
    world.say(life, `${key} attempt ${attempt} is found to be ${found.outcome}`);
    return found as unknown as Json;
  };
}

function findOut({ ledger }: ToolWorld, key: string, attempt: number, gone: boolean): Reconciled {
  if (ledger.charges.has(key)) return { outcome: "done", output: { key, audited: true } };
  ledger.voidedUntil.set(key, attempt);
  return gone ? { outcome: "failed", error: { message: "the card is gone" } } : { outcome: "absent" };
}
