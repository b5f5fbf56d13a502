/** What the audience of `npm run survive` sees of an agent: its chart, what it does, what it has, and what it has used up. */
import { nextEvents } from "holdfast";
import { cut, showTime } from "./describe.ts";
import { drawChart, type Paint, wrap } from "./draw.ts";
import { researcher } from "./research-agent.ts";
import type { Stage } from "./stage.ts";
import type { Sight } from "./worker.ts";

/** One thing to tell, and how loudly: a process that was killed, or came back, is seen from afar. */
export interface Telling {
  readonly tells: string;
  readonly detail?: string;
  readonly style?: "killed" | "resumed";
}

/** What is known beside the state. */
export interface Backdrop {
  readonly pid: number | undefined;
  readonly kills: number;
  /** The draft so far, as its readers have it. */
  readonly draft: string;
  /** How often each tool took effect. */
  readonly effects: ReadonlyMap<string, number>;
}

const labelWidth = 10;
const draftShown = 110;

const times = (count: number): string => ["", "once", "twice"][count] ?? `${count} times`;

/** How much of each limit is used up. */
export function budgetOf({ seq, spent }: Sight): string {
  const { steps = 0, tokens = 0, cost = 0 } = researcher.definition.limits ?? {};
  return [
    `steps ${seq}/${steps}`,
    `tokens ${(spent.tokens ?? 0).toLocaleString("en")}/${tokens.toLocaleString("en")}`,
    `cost ${(spent.cost ?? 0).toFixed(2)}/${cost.toFixed(2)}`,
  ].join(" · ");
}

/** To the next second: nobody reads faster. */
const roundUp = (ms: number): number => Math.ceil(Math.max(0, ms) / 1_000) * 1_000;

function waitsFor({ state }: Sight): string {
  const person = nextEvents(researcher, state).includes("approve") ? ["a person"] : [];
  const clock = state.timers.map(({ due }) => `${showTime(roundUp(due - Date.now()))} at most`);
  return [...state.activities.map(({ activity }) => activity), ...person, ...clock].join(", ");
}

function account(sight: Sight, { pid, kills, draft, effects }: Backdrop): (readonly [string, string])[] {
  const { context } = sight.state;
  const found = `${context.findings.length} of ${context.plan.length}`;
  const tail = draft.trim().replaceAll("\n", " ");
  const killed = kills === 0 ? "" : `killed ${times(kills)} so far`;
  return [
    ["process", [pid ?? "none", killed].filter(Boolean).join(", ")],
    ["waits for", pid === undefined ? "" : waitsFor(sight)],
    ["findings", context.plan.length === 0 ? "" : found],
    ["draft", tail.length > draftShown ? `…${tail.slice(-draftShown)}` : tail],
    ["budget", budgetOf(sight)],
    ["ledger", [...effects].map(([tool, count]) => `${tool} ${count}`).join(", ")],
  ];
}

/** A dead agent's chart is red all over: what it shows is what the store has. */
const dead =
  (paint: Paint): Paint =>
  (style, text) =>
    paint(style === "active" || style === "good" || style === "strong" ? "bad" : style, text);

/** One frame: the chart, and beside it what is told. */
export function frameOf(stage: Stage, sight: Sight, telling: Telling, backdrop: Backdrop): string[] {
  const { paint } = stage;
  const killed = telling.style === "killed";
  const title = killed ? "researcher ✗ SIGKILL" : "researcher";
  const { configuration } = sight.state;
  const chart = drawChart(title, researcher.definition, configuration, killed ? dead(paint) : paint);
  const loud = killed ? "bad" : telling.style === "resumed" ? "active" : "strong";
  return stage.compose(chart, (width) => [
    ...wrap(telling.tells, width, "").map((line) => paint(loud, line)),
    ...(telling.detail === undefined ? [] : [paint("quiet", cut(`▸ ${telling.detail}`, width))]),
    "",
    ...account(sight, backdrop)
      .filter(([, value]) => value !== "")
      .flatMap(([label, value]) =>
        wrap(`${label.padEnd(labelWidth)}${value}`, width, " ".repeat(labelWidth)),
      ),
  ]);
}
