/** The figures, as Prometheus reads them. */
import { expect, test } from "vitest";
import { type Figures, loadOf, metricsText } from "./figures.ts";

const member = (epoch: number, isLeaving = false) => ({
  ...{ epoch, worker: `host ${epoch}`, isLeaving, slots: 10, running: epoch, waiting: 1 },
});

test("a fleet's load is that of all who stay", () => {
  expect(loadOf([member(1), member(2), member(3, true)])).toEqual({ slots: 20, running: 3, waiting: 2 });
  expect(loadOf([])).toEqual({ slots: 0, running: 0, waiting: 0 });
});

const figures: Figures = {
  ...{ isUp: true, isDraining: false, members: 2, due: 4 },
  ...{ fleet: { slots: 20, running: 3, waiting: 2 }, process: { slots: 10, running: 1, waiting: 1 } },
};

test("each is a gauge with its meaning and one value for each scope", () => {
  const text = metricsText(figures);
  const values = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(values).toEqual([
    "holdfast_up 1",
    "holdfast_draining 0",
    "holdfast_members 2",
    'holdfast_slots{scope="fleet"} 20',
    'holdfast_slots{scope="process"} 10',
    'holdfast_activities_running{scope="fleet"} 3',
    'holdfast_activities_running{scope="process"} 1',
    'holdfast_activities_waiting{scope="fleet"} 2',
    'holdfast_activities_waiting{scope="process"} 1',
    "holdfast_due_runs 4",
    "holdfast_demand 9",
  ]);
  for (const [, name] of text.matchAll(/^# TYPE (\w+) gauge$/gm)) expect(text).toContain(`# HELP ${name} `);
});

test("what is not known is left out, and not told as nothing", () => {
  const values = metricsText({ ...figures, due: undefined }).match(/^holdfast_(due_runs|demand) .*$/gm);
  expect(values).toBeNull();
});
