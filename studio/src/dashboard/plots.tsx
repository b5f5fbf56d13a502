/** What changes over time, in four plots. */
import type { ReactNode } from "react";
import type { Overview } from "../data/contract.ts";
import { count, duration, length, rate } from "../design/words.ts";
import { Plot } from "./plot.tsx";
import { type Sample, secondsOf } from "./samples.ts";

interface PlotsProps {
  readonly overview: Overview;
  readonly samples: readonly Sample[];
}

export function Plots({ overview, samples }: PlotsProps) {
  const times = samples.map(({ at }) => at);
  return (
    <div className="plots">
      <Throughput overview={overview} />
      <Box title="Latency">
        {overview.server === undefined ? (
          <p className="quiet">Told to those who look after the server.</p>
        ) : (
          <Latency samples={samples} />
        )}
      </Box>
      <Box title="Queue: how many are due">
        <Plot
          label="Runs that are due over time"
          times={times}
          format={(value) => count(Math.round(value))}
          isWhole
          series={[{ name: "due", colour: "sea", values: samples.map(({ due }) => due), isFilled: true }]}
        />
      </Box>
      <Box title="Queue age and timer lag">
        <Plot
          label="Age of the oldest that waits, and how late timers fire, over time"
          times={times}
          format={duration}
          isWhole
          series={[
            { name: "oldest", colour: "kelp-fill", values: samples.map(({ oldestMs }) => oldestMs) },
            {
              name: "timer lag",
              colour: "urchin",
              values: samples.map((one) => one.timerLagMs),
              dash: [6, 4],
            },
          ]}
        />
      </Box>
    </div>
  );
}

function Latency({ samples }: Pick<PlotsProps, "samples">) {
  const told = samples.filter(({ latency }) => latency !== undefined);
  const of = (share: "p50" | "p95" | "p99") => told.map(({ latency }) => latency?.[share] ?? 0);
  return (
    <Plot
      label="Latency over time: half, 95 and 99 of a hundred"
      times={told.map(({ at }) => at)}
      format={length}
      series={[
        { name: "p50", colour: "sea", values: of("p50") },
        { name: "p95", colour: "kelp-fill", values: of("p95"), dash: [6, 4] },
        { name: "p99", colour: "coral", values: of("p99"), dash: [2, 3] },
      ]}
    />
  );
}

const Box = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="panel plot-box">
    <h2>{title}</h2>
    {children}
  </section>
);

function Throughput({ overview }: Pick<PlotsProps, "overview">) {
  const { buckets, bucketMs } = overview.throughput;
  // One that is not over yet would look like a fall.
  const over = buckets.filter(({ at }) => at + bucketMs <= overview.at);
  const shown = over.length === 0 ? buckets : over;
  const rates = (of: "steps" | "started" | "failures") =>
    shown.map((bucket) => bucket[of] / secondsOf(bucket, overview));
  return (
    <Box title="Throughput, a second">
      <Plot
        label="Steps, starts and failures a second over time"
        times={shown.map(({ at }) => Math.min(at + bucketMs, overview.at))}
        format={rate}
        series={[
          { name: "steps", colour: "sea", values: rates("steps"), isFilled: true },
          { name: "started", colour: "kelp-fill", values: rates("started"), dash: [6, 4] },
          { name: "failures", colour: "coral", values: rates("failures"), dash: [2, 3] },
        ]}
      />
    </Box>
  );
}
