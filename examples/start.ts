/**
 * `npm start`: the research agent stepping in the terminal, in virtual time, drawn as it moves. Each frame shows the
 * chart, the event, what became of it, what changed and what the agent waits for. On a terminal the frames replace one
 * another with a short pause (`--fast`: none); anywhere else they follow one another as plain text.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Activity,
  diff,
  type Effect,
  type Json,
  nextEvents,
  type Patch,
  type Simulation,
  type State,
  type Step,
  settledEvent,
  simulate,
} from "holdfast";
import { beside, colours, drawChart, type Paint, plain, widthOf, wrap } from "./draw.ts";
import { type Research, researcher } from "./research-agent.ts";

/** One thing that happens to the agent: what a reader is told, the event's name, and the act itself. */
interface Scene {
  readonly tells: string;
  readonly event: string;
  /** The step it led to; undefined if none was taken. */
  act(simulation: Simulation<Research>): Step<Research> | undefined;
}

const pauseMs = 350;
const panelWidthMin = 36;
const panelWidthMax = 62;
const labelWidth = 10;

/** Sends an event from outside. */
function sends(tells: string, event: { type: string; data?: Json }): Scene {
  const data = event.data === undefined ? "" : ` ${JSON.stringify(event.data)}`;
  return { tells, event: `${event.type}${data}`, act: (simulation) => simulation.send(event) };
}

/** Ends an activity that is under way. */
function settles(tells: string, id: string, result: { output: Json } | { error: Json }): Scene {
  const how = "error" in result ? "fails" : "answers";
  return { tells, event: `${id} ${how}`, act: (simulation) => simulation.settle(id, result) };
}

/** Lets time pass. */
function passes(tells: string, duration: string): Scene {
  return {
    tells,
    event: `${duration} later`,
    act(simulation) {
      const before = simulation.last;
      simulation.advance(duration);
      return simulation.last === before ? undefined : simulation.last;
    },
  };
}

/** A pause, and an answer that comes in spite of it from a call that the pause cancelled. */
function pauseAndLateAnswer(): Scene[] {
  let cancelled: readonly Activity[] = [];
  return [
    {
      tells: "The agent is paused in the middle of a call.",
      event: "pause",
      act(simulation) {
        cancelled = simulation.state.activities;
        return simulation.send("pause");
      },
    },
    {
      tells: "The cancelled call answers after all. Nobody waits for that answer any more.",
      event: "search answers, late",
      act: (simulation) =>
        cancelled.map((activity) => simulation.send(settledEvent(activity, { output: ["too late"] }))).at(-1),
    },
  ];
}

const scenes: readonly Scene[] = [
  sends("Nobody asked anything yet, so there is nothing to approve.", {
    type: "approve",
    data: { by: "ada" },
  }),
  sends("A question arrives.", { type: "ask", data: { question: "Do holdfasts regrow?" } }),
  settles("The model answers with a plan: two calls, side by side.", "plan", { output: ["search", "read"] }),
  settles("One call ends; the other region is still busy.", "read", { output: "A torn holdfast dies." }),
  ...pauseAndLateAnswer(),
  sends("It resumes where it was: one region done, the other calling again.", { type: "resume" }),
  passes("The search hangs, and its timeout fires.", "30s"),
  passes("It tries again after a rest.", "5s"),
  settles("Both regions are done. Reflection finds one source too few and plans again.", "search", {
    output: ["Norton 1991"],
  }),
  sends("Tokens are spent.", { type: "spend", data: { tokens: 400 } }),
  sends("Spending that would break the budget does not happen.", { type: "spend", data: { tokens: 900 } }),
  settles("A second plan.", "plan", { output: ["search deeper", "read on"] }),
  settles("Another source.", "search", { output: ["Bell 2012"] }),
  settles("Enough is known now, and a person must approve.", "read", {
    output: "New kelp settles beside it.",
  }),
  sends("The agent cannot approve its own work: the guard says no.", {
    type: "approve",
    data: { by: "researcher" },
  }),
  passes("It waits, and its state says for what.", "1 day"),
  sends("Ada approves.", { type: "approve", data: { by: "ada" } }),
  sends("What is done stays done.", { type: "ask", data: { question: "And limpets?" } }),
];

/** A stretch of virtual time as people say it. */
function showTime(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const seconds = Math.round((ms % 86_400_000) / 1000);
  return days === 0 ? `${seconds} s` : `${days} d ${seconds} s`;
}

function showPatch(patch: Patch): string {
  const place = patch.path.join(".");
  if (patch.op === "delete") return `${place} deleted`;
  if (patch.op === "splice") return `${place} spliced at ${patch.index}`;
  return `${place} ${patch.op === "append" ? "+=" : "="} ${JSON.stringify(patch.value)}`;
}

function showEffect(effect: Effect): string {
  switch (effect.type) {
    case "activity":
      return `call ${effect.activity}`;
    case "timer":
      return `wake at ${showTime(effect.due)}`;
    case "cancel":
      return `cancel ${effect.of} ${effect.id ?? effect.key}`;
    case "emit":
      return `emit ${effect.event.type}`;
    default:
      return effect.type;
  }
}

/** The last keys of paths: enough where no two states share one. */
const keysOf = (paths: readonly string[]): string =>
  paths
    .map((path) => path.slice(path.lastIndexOf(".") + 1))
    .filter(Boolean)
    .join(", ");

/** What a step came to: its outcome and its error, in lines of this width. */
function verdict(
  step: Step<Research> | undefined,
  before: State<Research> | undefined,
  width: number,
  paint: Paint,
): string[] {
  if (step === undefined) return ["nothing was due"];
  const { outcome, error, state } = step;
  const change = state === before ? "nothing changed" : `now at step ${state.seq}`;
  const reason = error === undefined ? [] : wrap(`${error.code}: ${error.message}`, width);
  const style = outcome === "refused" ? "bad" : "good";
  return [`${outcome}, ${change}`, ...reason].map((line) => paint(style, line));
}

/** What a step did, and what the state it left waits for; a row without a value is left out. */
function account(
  step: Step<Research> | undefined,
  before: State<Research> | undefined,
  state: State<Research>,
): string[] {
  const microsteps = step?.trace?.microsteps ?? [];
  const patches =
    before === undefined ? [] : diff(before.context as unknown as Json, state.context as unknown as Json);
  const waiting = [
    ...state.activities.map(({ activity }) => activity),
    ...state.timers.map(({ due }) => `the clock at ${showTime(due)}`),
  ];
  const rows: readonly (readonly [label: string, value: string])[] = [
    ["left", keysOf(microsteps.flatMap(({ exited }) => exited))],
    ["entered", keysOf(microsteps.flatMap(({ entered }) => entered))],
    ["changed", patches.map(showPatch).join("; ")],
    ["effects", step?.effects.map(showEffect).join("; ") ?? ""],
    ["waits for", waiting.join(", ")],
    ["possible", nextEvents(researcher, state).join(", ")],
    ["output", state.output === undefined ? "" : JSON.stringify(state.output)],
  ];
  return rows
    .filter(([, value]) => value !== "")
    .map(([label, value]) => `${label.padEnd(labelWidth)}${value}`);
}

/** Shows frames: in place of the last one where that is possible, below it elsewhere. */
function frames(stream: NodeJS.WriteStream, moving: boolean): (lines: readonly string[]) => Promise<void> {
  let shown = 0;
  return async (lines) => {
    const fits =
      moving && lines.length < stream.rows && lines.every((line) => widthOf(line) < stream.columns);
    if (fits && shown > 0) stream.write(`\x1b[${shown}A\x1b[J`);
    stream.write(`${lines.join("\n")}\n${fits ? "" : "\n"}`);
    shown = fits ? lines.length : 0;
    if (moving) await sleep(pauseMs);
  };
}

const { values } = parseArgs({ options: { fast: { type: "boolean", default: false } } });
const terminal = process.stdout.isTTY === true;
const paint = terminal && !process.env.NO_COLOR ? colours : plain;
const show = frames(process.stdout, terminal && !values.fast);
const simulation = simulate(researcher, { input: { tokensMax: 1000 }, trace: true });

/** The chart with the text beside it, or above it where the terminal is too narrow for both. */
function frame(
  scene: Pick<Scene, "tells" | "event">,
  step: Step<Research> | undefined,
  before?: State<Research>,
): string[] {
  const { state, now } = simulation;
  const chart = drawChart(`researcher · ${showTime(now)}`, researcher.definition, state.configuration, paint);
  const room = (process.stdout.columns ?? 120) - widthOf(chart[0] ?? "") - 3;
  const width = room < panelWidthMin ? panelWidthMax : Math.min(room, panelWidthMax);
  const text = [
    ...wrap(scene.tells, width, ""),
    "",
    ...wrap(`▸ ${scene.event}`, width).map((line) => paint("strong", line)),
    ...verdict(step, before, width, paint),
    ...account(step, before, state).flatMap((line) => wrap(line, width, " ".repeat(labelWidth))),
  ];
  return room < panelWidthMin ? [...text, ...chart] : beside(chart, text, "  ");
}

await show(
  frame({ tells: "A research agent that nobody has asked anything.", event: "start" }, simulation.last),
);
for (const scene of scenes) {
  const before = simulation.state;
  const step = scene.act(simulation);
  await show(frame(scene, step, before));
}
const { status, seq } = simulation.state;
console.log(`The agent is ${status} after ${seq} steps and ${showTime(simulation.now)} of virtual time.`);
