/**
 * What a log action of a plan tells: its label, the event it happened under and every counter at that moment. Two
 * engines that tell the same lines did the same things in the same order with the same data.
 */

/** One line of a log. The payload is told only where it is the plan's own number, as engines differ in other ones. */
export function probe(
  label: string,
  event: { readonly type: string; readonly data?: unknown } | undefined,
  counters: Readonly<Record<string, number>>,
): string {
  const values = Object.keys(counters)
    .sort()
    .map((key) => String(counters[key]));
  return `${label} on ${event?.type ?? "start"}${payloadText(event?.data)} [${values.join(" ")}]`;
}

function payloadText(data: unknown): string {
  const n = payloadNumber(data);
  return n === undefined ? "" : `(${n})`;
}

/** The number that an event of a plan carries: `{ n }` from outside, a plain number as a final state's output. */
export function payloadNumber(data: unknown): number | undefined {
  if (typeof data === "number") return data;
  const n = typeof data === "object" && data !== null && "n" in data ? data.n : undefined;
  return typeof n === "number" ? n : undefined;
}
