/** The server's figures in the text format of Prometheus: those of a worker, and what a server adds. */
import { hasThisProcess, isThisProcess } from "../runtime/worker.ts";
import { countDue } from "./due.ts";
import { counter, type Figures, gauge, loadOf, metricsText, summary } from "./figures.ts";
import type { World } from "./world.ts";

export async function serverMetrics(world: World): Promise<string> {
  const { tally, sinks } = world;
  const totals = tally.totals();
  const answers = Object.fromEntries(
    [...tally.answers].map(([status, count]) => [`{status="${status}"}`, count]),
  );
  const { count, p50, p95, p99 } = tally.requests.read();
  const bytes = await world.storeBytes();
  return [
    metricsText(await figuresOf(world)),
    counter("holdfast_steps_total", "Steps that this process committed.", { "": totals.steps }),
    counter("holdfast_runs_started_total", "Runs that began here.", { "": totals.started }),
    counter("holdfast_runs_ended_total", "Runs that ended here.", { "": totals.ended }),
    counter("holdfast_failures_total", "Steps refused, activities failed, runs failed or parked.", {
      "": totals.failures,
    }),
    counter("holdfast_http_answers_total", "Answers by their status.", answers),
    summary("holdfast_http_request_seconds", "How long answers took, of the last some thousands.", {
      ...{ count, quantiles: { 0.5: p50 / 1_000, 0.95: p95 / 1_000, 0.99: p99 / 1_000 } },
    }),
    gauge("holdfast_streams", "Open streams.", { "": sinks.size }),
    ...(bytes === undefined ? [] : [gauge("holdfast_store_bytes", "The size of the store.", { "": bytes })]),
  ].join("");
}

async function figuresOf(world: World): Promise<Figures> {
  const members = world.runtime.members();
  return {
    ...{ isUp: hasThisProcess(members), isDraining: world.isDraining() },
    members: members.filter(({ isLeaving }) => !isLeaving).length,
    fleet: loadOf(members),
    process: loadOf(members.filter(({ worker }) => isThisProcess(worker))),
    due: await countDue(world.store, world.clock.now()),
  };
}
