/**
 * The tally: what this process has seen of its runs and its requests, in bounded memory. Throughput in buckets of time,
 * latencies of the last requests, failures by fingerprint; all of it by tenant where it tells of runs.
 */
import { hash } from "node:crypto";
import { describeError } from "../core/describe-error.ts";
import type { JsonObject } from "../core/json.ts";
import { limits } from "../limits.ts";
import { parkReason } from "../runtime/control.ts";
import type { Committed, CommittedStep } from "../runtime/run.ts";
import { isFinal, type RunHead } from "../store/records.ts";
import type { FailureGroup, Latency, Overview } from "./contract/operations.ts";

export const bucketMs = 10_000;
/** Half an hour is shown. */
const bucketsMax = 180;

interface Bucket {
  readonly at: number;
  steps: number;
  started: number;
  ended: number;
  failures: number;
}

interface TenantTally {
  readonly buckets: Bucket[];
  readonly failures: Map<string, FailureGroup>;
  /** How late the newest timers fired, and when that was. */
  lag: { at: number; ms: number };
  readonly totals: { steps: number; started: number; ended: number; failures: number };
}

export class Tally {
  readonly since: number;
  readonly requests = new Samples();
  /** Answers by their status, for metrics. */
  readonly answers = new Map<number, number>();
  readonly #tenants = new Map<string, TenantTally>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.since = now();
  }

  answered(status: number, ms: number): void {
    this.requests.add(ms);
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }

  /** A run has made steps. */
  readonly told = ({ head, steps }: Committed): void => {
    const tally = this.#of(head.tenant);
    const bucket = this.#bucket(tally);
    bucket.steps += steps.length;
    tally.totals.steps += steps.length;
    if (steps[0]?.seq === 1) {
      bucket.started++;
      tally.totals.started++;
    }
    if (isFinal(head)) {
      bucket.ended++;
      tally.totals.ended++;
    }
    for (const step of steps) {
      this.#noteLag(tally, step);
      const failure = failureOf(head, step);
      if (failure === undefined) continue;
      bucket.failures++;
      tally.totals.failures++;
      this.#count(tally, head, step, failure);
    }
  };

  /** Totals of all tenants together. */
  totals(): TenantTally["totals"] {
    const sum = { steps: 0, started: 0, ended: 0, failures: 0 };
    for (const { totals } of this.#tenants.values())
      for (const key of ["steps", "started", "ended", "failures"] as const) sum[key] += totals[key];
    return sum;
  }

  /** The buckets of the last half hour, empty ones included. */
  throughput(tenant: string): Overview["throughput"] {
    const last = Math.floor(this.#now() / bucketMs) * bucketMs;
    const first = Math.max(Math.floor(this.since / bucketMs) * bucketMs, last - (bucketsMax - 1) * bucketMs);
    const known = new Map((this.#tenants.get(tenant)?.buckets ?? []).map((bucket) => [bucket.at, bucket]));
    const buckets: Bucket[] = [];
    for (let at = first; at <= last; at += bucketMs)
      buckets.push(known.get(at) ?? { at, steps: 0, started: 0, ended: 0, failures: 0 });
    return { bucketMs, buckets };
  }

  /** The newest first. */
  failures(tenant: string): FailureGroup[] {
    const groups = [...(this.#tenants.get(tenant)?.failures.values() ?? [])];
    return groups.sort((one, other) => other.lastAt - one.lastAt);
  }

  /** How late timers fired in the last minutes, at the worst. */
  timerLagMs(tenant: string): number {
    const lag = this.#tenants.get(tenant)?.lag;
    return lag === undefined || lag.at < this.#now() - 5 * 60_000 ? 0 : lag.ms;
  }

  #of(tenant: string): TenantTally {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const made: TenantTally = {
      ...{ buckets: [], failures: new Map(), lag: { at: 0, ms: 0 } },
      totals: { steps: 0, started: 0, ended: 0, failures: 0 },
    };
    // Beyond so many tenants the rest share one that nobody is shown.
    if (tenant !== "" && this.#tenants.size >= limits.talliedTenantsMax) return this.#of("");
    this.#tenants.set(tenant, made);
    return made;
  }

  #bucket({ buckets }: TenantTally): Bucket {
    const at = Math.floor(this.#now() / bucketMs) * bucketMs;
    const last = buckets.at(-1);
    if (last?.at === at) return last;
    const made = { at, steps: 0, started: 0, ended: 0, failures: 0 };
    buckets.push(made);
    if (buckets.length > bucketsMax) buckets.shift();
    return made;
  }

  #noteLag(tally: TenantTally, { event, at }: CommittedStep): void {
    if (event.timer === undefined) return;
    const now = this.#now();
    const ms = Math.max(0, now - at);
    if (ms >= tally.lag.ms || tally.lag.at < now - 5 * 60_000) tally.lag = { at: now, ms };
  }

  #count({ failures }: TenantTally, head: RunHead, step: CommittedStep, { kind, error }: Failed): void {
    const name = String(error.code ?? error.name ?? "Error").slice(0, 100);
    const message = String(error.message ?? "").slice(0, 500);
    const fingerprint = fingerprintOf([kind, head.machine, name, message]);
    const known = failures.get(fingerprint);
    failures.delete(fingerprint);
    failures.set(fingerprint, {
      ...{ fingerprint, kind, machine: head.machine, name, message },
      ...{ count: (known?.count ?? 0) + 1, firstAt: known?.firstAt ?? step.at, lastAt: step.at },
      ...{ lastRun: head.run, lastSeq: step.seq },
    });
    const oldest = failures.keys().next().value;
    if (failures.size > limits.fingerprintsMax && oldest !== undefined) failures.delete(oldest);
  }
}

interface Failed {
  readonly kind: FailureGroup["kind"];
  readonly error: JsonObject;
}

/** What went wrong in a step: it was refused, its run failed or was parked, or an activity of it failed. */
function failureOf(head: RunHead, { event, outcome, error }: CommittedStep): Failed | undefined {
  if (outcome === "refused") return { kind: "refused", error: describeError(error) };
  const reason = parkReason(event);
  if (reason !== undefined)
    return reason.code === undefined && isPause(reason) ? undefined : { kind: "parked", error: reason };
  if (event.kind !== "platform") return undefined;
  if (event.type.startsWith("error.invoke.")) return { kind: "activity", error: objectOf(event.data) };
  if (event.type === "cancel" && head.status === "failed")
    return { kind: "failed", error: objectOf(event.data) };
  return undefined;
}

/** Whether a run was parked by somebody who wanted to look at it. */
const isPause = ({ name }: JsonObject): boolean => name === "Paused" || name === "Breakpoint";

const objectOf = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null ? (value as JsonObject) : { message: String(value) };

/** The same for failures that differ in numbers, ids and quoted words only. */
export function fingerprintOf(parts: readonly string[]): string {
  const plain = parts.map((part) =>
    part
      .replace(/"(?:[^"\\]|\\.)*"/g, '""')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27,}/gi, "#")
      .replace(/\d+/g, "#"),
  );
  return hash("sha256", plain.join("\n"), "hex").slice(0, 16);
}

/** The last so many durations. */
const samplesMax = 4_096;

export class Samples {
  readonly #ring: number[] = [];
  #count = 0;

  add(ms: number): void {
    this.#ring[this.#count++ % samplesMax] = ms;
  }

  read(): Latency {
    const sorted = Float64Array.from(this.#ring).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { count: this.#count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: sorted.at(-1) ?? 0 };
  }
}
