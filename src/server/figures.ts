/** What a worker can be scaled by: how much there is to do, in its process and in its whole fleet. */
import type { Member } from "../store/fleet.ts";

export interface Load {
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
}

export interface Figures {
  readonly isUp: boolean;
  readonly isDraining: boolean;
  /** Those who share the store and stay. */
  readonly members: number;
  readonly fleet: Load;
  readonly process: Load;
  /** Runs with something to do that nobody has taken up, no more counted than `limits.dueCountedMax`; undefined if not known. */
  readonly due: number | undefined;
}

/** All of them together. Those who are leaving have nothing to offer, and what they do still they end themselves. */
export function loadOf(members: readonly Member[]): Load {
  const staying = members.filter(({ isLeaving }) => !isLeaving);
  const sum = (of: keyof Load) => staying.reduce((total, member) => total + member[of], 0);
  return { slots: sum("slots"), running: sum("running"), waiting: sum("waiting") };
}

/** The figures in the text format of Prometheus. */
export function metricsText(figures: Figures): string {
  const { fleet, process, due } = figures;
  const both = (of: keyof Load): Samples => ({
    '{scope="fleet"}': fleet[of],
    '{scope="process"}': process[of],
  });
  const known = due === undefined ? {} : { "": due };
  const demand = due === undefined ? {} : { "": fleet.running + fleet.waiting + due };
  return [
    gauge("holdfast_up", "Whether this process has a runtime that takes steps.", {
      "": Number(figures.isUp),
    }),
    gauge("holdfast_draining", "Whether this process takes nothing new.", { "": Number(figures.isDraining) }),
    gauge("holdfast_members", "Processes that share the store and stay.", { "": figures.members }),
    gauge("holdfast_slots", "Activities that can run at a time.", both("slots")),
    gauge("holdfast_activities_running", "Activities that run.", both("running")),
    gauge("holdfast_activities_waiting", "Activities that wait for their turn.", both("waiting")),
    gauge("holdfast_due_runs", "Runs with something to do that nobody has taken up.", known),
    gauge(
      "holdfast_demand",
      "What there is to do in the fleet: activities that run or wait, and due runs.",
      demand,
    ),
  ].join("");
}

/** Values by their labels. */
type Samples = Readonly<Record<string, number>>;

export const gauge = (name: string, help: string, samples: Samples): string =>
  metric(name, help, "gauge", samples);
export const counter = (name: string, help: string, samples: Samples): string =>
  metric(name, help, "counter", samples);

/** Quantiles, and how many there were. */
export function summary(
  name: string,
  help: string,
  { count, quantiles }: { readonly count: number; readonly quantiles: Readonly<Record<number, number>> },
): string {
  const samples = Object.entries(quantiles).map(
    ([share, value]) => [`{quantile="${share}"}`, value] as const,
  );
  return `${metric(name, help, "summary", Object.fromEntries(samples))}${name}_count ${count}\n`;
}

function metric(name: string, help: string, type: string, samples: Samples): string {
  const lines = Object.entries(samples).map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
