/**
 * `npm run start:simulated`: the same agent without a store, stepping in virtual time through the turns of fate that
 * `npm run survive` has no time for: a pause, an answer that comes too late, a remark, two days of silence.
 * Each frame shows the chart, the event, what became of it, what changed and what the agent waits for. `--fast` leaves
 * out the pauses.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Activity,
  diff,
  type Json,
  nextEvents,
  type Simulation,
  type State,
  type Step,
  settledEvent,
  simulate,
} from "holdfast";
import { showEffect, showPatch, showTime } from "./describe.ts";
import { drawChart, wrap } from "./draw.ts";
import { type Research, researcher } from "./research-agent.ts";
import { Stage } from "./stage.ts";

/** One thing that happens to the agent: what a reader is told, the event's name, and the act itself. */
interface Scene {
  readonly tells: string;
  readonly event: string;
  /** The step it led to; undefined if none was taken. */
  act(simulation: Simulation<Research>): Step<Research> | undefined;
}

const pauseMs = 350;
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
        cancelled.map((activity) => simulation.send(settledEvent(activity, { output: "too late" }))).at(-1),
    },
  ];
}

const scenes: readonly Scene[] = [
  sends("There is nothing to approve yet.", { type: "approve", data: { by: "ada" } }),
  settles("The model answers with a plan: two searches, beside a source.", "plan", {
    output: ["grip", "storms"],
  }),
  settles("One region is done; the other is still busy.", "read", { output: "Norton 1991" }),
  ...pauseAndLateAnswer(),
  sends("It resumes where it was: one region done, the other calling again.", { type: "resume" }),
  settles("One finding, and the next search.", "search", { output: "It only grips." }),
  settles("Both regions are done, and the draft begins.", "search", { output: "The rock gives way." }),
  settles("The draft is there. A name is reserved, which can be undone.", "write", {
    output: ["It holds."],
  }),
  settles("Now a person must approve.", "reserve", { output: { name: "report-17" } }),
  sends("The agent cannot approve its own work: the guard says no.", {
    type: "approve",
    data: { by: "researcher" },
  }),
  sends("Ada wants it shorter, and it is drafted again.", { type: "revise", data: { remark: "Shorter." } }),
  settles("The name is reserved already, so it comes straight back.", "write", { output: ["Holds."] }),
  passes("It waits, and its state says for what.", "1 day"),
  passes("Nobody answers for another day: it is withdrawn, and what it did is undone.", "1 day"),
  sends("What is done stays done.", { type: "approve", data: { by: "ada" } }),
];

/** The last keys of paths: enough where no two states share one. */
const keysOf = (paths: readonly string[]): string =>
  paths
    .map((path) => path.slice(path.lastIndexOf(".") + 1))
    .filter(Boolean)
    .join(", ");

const { values } = parseArgs({ options: { fast: { type: "boolean", default: false } } });
const stage = new Stage(process.stdout, values.fast);
const { paint } = stage;
const simulation = simulate(researcher, {
  input: { question: "Why does kelp hold?" },
  activities: { release: () => null },
  trace: true,
});

/** What a step came to: its outcome and its error, in lines of this width. */
function verdict(
  step: Step<Research> | undefined,
  before: State<Research> | undefined,
  width: number,
): string[] {
  if (step === undefined) return ["nothing was due"];
  const { outcome, error, state } = step;
  const change = state === before ? "nothing changed" : `now at step ${state.seq}`;
  const reason = error === undefined ? [] : wrap(`${error.code}: ${error.message}`, width);
  const style = outcome === "refused" ? "bad" : "good";
  return [`${outcome}, ${change}`, ...reason].map((line) => paint(style, line));
}

/** What a step did, and what the state it left waits for; a row without a value is left out. */
function account(step: Step<Research> | undefined, before: State<Research> | undefined): string[] {
  const { state, now } = simulation;
  const microsteps = step?.trace?.microsteps ?? [];
  const patches =
    before === undefined ? [] : diff(before.context as unknown as Json, state.context as unknown as Json);
  const waiting = [
    ...state.activities.map(({ activity }) => activity),
    ...state.timers.map(({ due }) => `the clock, ${showTime(due - now)}`),
  ];
  const rows: readonly (readonly [label: string, value: string])[] = [
    ["left", keysOf(microsteps.flatMap(({ exited }) => exited))],
    ["entered", keysOf(microsteps.flatMap(({ entered }) => entered))],
    ["changed", patches.map(showPatch).join("; ")],
    ["effects", step?.effects.map((effect) => showEffect(effect, 0)).join("; ") ?? ""],
    ["waits for", waiting.join(", ")],
    ["possible", nextEvents(researcher, state).join(", ")],
    ["output", state.output === undefined ? "" : JSON.stringify(state.output)],
  ];
  return rows
    .filter(([, value]) => value !== "")
    .map(([label, value]) => `${label.padEnd(labelWidth)}${value}`);
}

async function show(
  { tells, event }: Pick<Scene, "tells" | "event">,
  step: Step<Research> | undefined,
  before?: State<Research>,
): Promise<void> {
  const { state, now } = simulation;
  const title = `researcher · ${showTime(now)}`;
  const chart = drawChart(title, researcher.definition, state.configuration, paint);
  const text = (width: number) => [
    ...wrap(tells, width, ""),
    "",
    ...wrap(`▸ ${event}`, width).map((line) => paint("strong", line)),
    ...verdict(step, before, width),
    ...account(step, before).flatMap((line) => wrap(line, width, " ".repeat(labelWidth))),
  ];
  stage.show(stage.compose(chart, text));
  if (stage.moving) await sleep(pauseMs);
}

await show({ tells: "A research agent and its question.", event: "start" }, simulation.last);
for (const scene of scenes) {
  const before = simulation.state;
  const step = scene.act(simulation);
  await show(scene, step, before);
}
const { status, seq } = simulation.state;
stage.say(`The agent is ${status} after ${seq} steps and ${showTime(simulation.now)} of virtual time.`);
