/** What a plot is made of, and how it looks: its axes, its colours, and how much time it shows. */
import type uPlot from "uplot";
import { time } from "../design/words.ts";

export interface Series {
  readonly name: string;
  /** A colour's name among the tokens. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly isFilled?: boolean;
  readonly dash?: readonly number[];
}

export interface PlotProps {
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
  /** Whether only whole numbers make sense at its axis. */
  readonly isWhole?: boolean;
}

export const plotHeight = 150;

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** No shorter time is shown, so that the first samples are a line that grows, on an axis that stands still. In seconds. */
const leastSpan = 60;

/** A little more than what there is, so that the newest is not at the very edge. */
const spanOf = ({ data: [times] }: uPlot): uPlot.Range.MinMax => {
  const last = times.at(-1) ?? Date.now() / 1_000;
  const span = Math.max(leastSpan, last - (times[0] ?? last));
  return [last - span, last + span * 0.015];
};

/** Steps of the axis of time, in seconds: those that clocks are divided by. */
const timeSteps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];
/** Steps of the other one: so many that two beside each other are never called the same. */
const steps = [1, 2, 5].flatMap((head) => [-1, 0, 1, 2, 3, 4, 5, 6].map((power) => head * 10 ** power));
const stepsUp = steps.toSorted((one, other) => one - other);

/** Seconds are told where minutes would be the same at two marks. */
const clockOf = (_: uPlot, ticks: number[], __: number, ___: number, step: number): string[] =>
  ticks.map((tick) => (step < 60 ? time(tick * 1_000) : time(tick * 1_000).replace(/:\d\d$/, "")));

export function optionsOf(
  { series, format = String, isWhole = false }: PlotProps,
  width: number,
  onPoint: (index: number | undefined) => void,
): uPlot.Options {
  const axis = {
    stroke: token("ink-3"),
    grid: { stroke: token("line"), width: 1 },
    ticks: { show: false },
    font: "11px Instrument Sans Variable",
  };
  return {
    ...{ width, height: plotHeight, padding: [8, 26, 0, 0] },
    cursor: { points: { size: 6 }, y: false, drag: { x: false, y: false } },
    legend: { show: false },
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
    scales: {
      x: { range: spanOf },
      y: { range: (_, __, max) => [0, max === 0 || max === null ? 1 : max * 1.15] },
    },
    axes: [
      { ...axis, incrs: timeSteps, space: 74, size: 26, values: clockOf },
      {
        ...axis,
        ...{ size: 56, gap: 6, space: 34, incrs: isWhole ? stepsUp.filter((step) => step >= 1) : stepsUp },
        values: (_, ticks) => ticks.map((tick) => format(tick)),
      },
    ],
    series: [
      {},
      ...series.map(({ name, colour, isFilled, dash }) => ({
        label: name,
        stroke: token(colour),
        width: 2,
        // One alone makes no line.
        points: { show: ({ data: [times] }: uPlot) => times.length === 1, size: 9, fill: token(colour) },
        ...(isFilled === true ? { fill: `${token(colour)}22` } : {}),
        ...(dash === undefined ? {} : { dash: [...dash] }),
      })),
    ],
  };
}
