/** Whether activities were called as they may be, in a world in which a process was killed. */
import type { Recorded } from "./mirror.ts";
import { showShort } from "./report.ts";
import type { Call, World } from "./world.ts";

/** What is wrong with the calls of a world, beside those of one without a crash; `alike` if both came to the same end. */
export function judgeCalls(calm: World, crashed: World, alike: boolean): string[] {
  const once = crashed.mirror.effects("activity").filter(({ options }) => options.once === true);
  return [
    ...once.flatMap((effect) => judgeOnce(effect, crashed.calls)),
    ...(alike ? judgeRepeated(calm, crashed) : []),
  ];
}

/** It may be called again only if somebody found out that it had not happened. */
function judgeOnce({ run, key, activity, options }: Recorded<"activity">, calls: readonly Call[]): string[] {
  const ofKey = calls.filter((call) => call.key === `${run}:${key}`);
  const made = ofKey.filter((call) => call.activity === activity);
  const absent = ofKey.filter(
    (call) =>
      call.activity === options.reconcile &&
      (call.output as { readonly outcome?: unknown } | undefined)?.outcome === "absent",
  );
  if (made.length <= 1 + absent.length) return [];
  return [`  ${activity} may happen once, and was called ${made.length} times under the key ${run}:${key}`];
}

/** Whatever was called without the crash was called with it, with the same input each time. */
function judgeRepeated(calm: World, crashed: World): string[] {
  const begun = new Map(
    calm.mirror.effects("activity").map((one) => [`${one.run}:${one.key}`, one.activity]),
  );
  const first = new Map<string, Call>();
  for (const call of calm.calls) {
    const name = `${call.activity} ${call.key}`;
    // What reconciles is called only when there is something to find out.
    if (begun.get(call.key) === call.activity && !first.has(name)) first.set(name, call);
  }
  return [...first.values()].flatMap(({ activity, key, input }) => {
    const made = crashed.calls.filter((call) => call.activity === activity && call.key === key);
    if (made.length === 0) return [`  ${activity} was never called under the key ${key}`];
    const other = made.find((call) => JSON.stringify(call.input) !== JSON.stringify(input));
    if (other === undefined) return [];
    return [
      `  ${activity} was called under the key ${key} with ${showShort(other.input)}, and without a crash with ${showShort(input)}`,
    ];
  });
}
