/** A run in words, for whoever reads why a test failed: its last steps, and what it waits for. */
import type { JournalStep, Reflection } from "./mirror.ts";
import type { Call } from "./world.ts";

/** How many steps are shown. */
const stepsShown = 5;
const textShown = 300;

/** A value in one line, not too long. */
export function showShort(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "function") return "what a function accepts";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > textShown ? `${text.slice(0, textShown)}…` : text;
}

const units: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

/** A length of time in its two largest units. */
export function showDuration(ms: number): string {
  const parts: string[] = [];
  let left = Math.max(0, Math.round(ms));
  for (const [unit, size] of units) {
    const amount = Math.floor(left / size);
    left -= amount * size;
    if (amount > 0 && parts.length < 2) parts.push(`${amount} ${unit}`);
  }
  return parts.join(" ") || "0 ms";
}

/** The last steps of a run, one line each. */
export function describeSteps({ journal, head }: Reflection, shown = stepsShown): string[] {
  const steps = journal.slice(-shown);
  const lines = steps.map(describeStep(head.createdAt));
  const title =
    steps.length === journal.length ? "Steps:" : `The last ${steps.length} of ${journal.length} steps:`;
  return [title, ...lines];
}

const describeStep =
  (since: number) =>
  ({ seq, at, event, outcome, error, configuration }: JournalStep): string => {
    const data = event.data === undefined ? "" : ` ${cut(showShort(event.data), 60)}`;
    const why = error === undefined ? "" : ` (${String(error.code ?? error.name)}: ${String(error.message)})`;
    return `  ${seq}. +${showDuration(at - since)} ${event.type}${data}: ${outcome}${why} → ${configuration.join(", ")}`;
  };

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

/** What a run waits for, one line each. */
export function describePending({ state, head }: Reflection, calls: readonly Call[], now: number): string[] {
  const lines = [
    ...state.timers.map(({ id, event, due }) => {
      const name = id === undefined ? event.type : `${id} (${event.type})`;
      return `  timer ${name}, ${due > now ? `due in ${showDuration(due - now)}` : "due now"}`;
    }),
    ...state.activities.map(({ activity, key }) => {
      const call = calls.findLast((one) => one.activity === activity && one.key === `${head.run}:${key}`);
      if (call === undefined) return `  activity ${activity}, not called yet`;
      const since = showDuration(now - call.at);
      return `  activity ${activity}, attempt ${call.attempt} ${call.outcome} since ${since}`;
    }),
    ...state.children.map(
      ({ machine, id, key }) => `  child ${machine} as ${id}, the run ${head.run}/${key}`,
    ),
    ...state.deferred.map(({ type }) => `  deferred event ${type}`),
  ];
  const nothing = head.status === "active" ? "nothing but events" : `nothing: it is ${head.status}`;
  return lines.length === 0 ? [`It waits for ${nothing}.`] : ["It waits for:", ...lines];
}
