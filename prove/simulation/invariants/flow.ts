/** Flow: how many are under way at a time, how many begin in a while, and what goes first (invariant 31). */
import type { ActivityEffect } from "holdfast";
import { durationMs } from "../../../src/core/duration.ts";
import type { Ledger, Start } from "../ledger.ts";
import type { Life } from "../life.ts";
import type { Model } from "../model.ts";
import type { Report } from "./report.ts";

/** As an invocation declares it, its key made by the step that began it. */
interface Declared {
  readonly key: string;
  readonly limit: number;
  readonly per?: string;
}

interface Flow {
  readonly concurrency?: Declared;
  readonly rate?: Declared;
  readonly priority?: number;
}

export interface FlowWorld {
  readonly ledger: Ledger;
  readonly model: Model;
  /** How many attempts a process may have under way; undefined where there is no telling limit. */
  readonly slots: number | undefined;
  /** Those who share the store with the process. */
  readonly others: readonly number[];
  /** The wall clock, and the steady one. */
  readonly now: number;
  readonly steady: number;
  readonly jumped: boolean;
  readonly report: Report;
}

const flowOf = (effect: ActivityEffect | undefined): Flow => (effect?.options ?? {}) as Flow;

/** A tool is about to begin in a process; it is not in the ledger yet. */
export function checkFlow(life: Life, { run, key }: Pick<Start, "run" | "key">, world: FlowWorld): void {
  const { ledger, model, slots, others, report } = world;
  const askedOf = (one: Pick<Start, "run" | "key">) =>
    flowOf(model.find(one)?.asked.get(one.key.slice(one.run.length + 1)));
  const flow = askedOf({ run, key });
  const underWay = ledger.underWay(life.number);
  if (slots !== undefined && underWay.length >= slots)
    report(31, `${key} begins where ${underWay.length} are under way in ${slots} slots`);
  const { concurrency, rate } = flow;
  if (concurrency !== undefined) {
    const everywhere = [...underWay, ...others.flatMap((other) => ledger.underWay(other))];
    const same = everywhere.filter((one) => askedOf(one).concurrency?.key === concurrency.key).length;
    if (same >= concurrency.limit)
      report(
        31,
        `${key} begins where ${same} of ${concurrency.key} are under way, and ${concurrency.limit} may`,
      );
  }
  if (rate !== undefined) checkRate(key, rate, world);
  // Of several processes each has a queue of its own, and leaves what is in it to others when they see to the run.
  if (concurrency !== undefined && !model.isShared) checkTurn(life, key, flow, world);
}

/** Of any period no more begin in it than may, whichever process they begin in. */
function checkRate(key: string, { key: name, limit, per }: Declared, world: FlowWorld): void {
  const { ledger, now, jumped, report } = world;
  const starts = ledger.rates.get(name) ?? [];
  ledger.rates.set(name, starts);
  const first = starts.at(-limit);
  starts.push(now);
  // A clock that was set says nothing certain of how long ago something was.
  if (!jumped && first !== undefined && now - first < durationMs(per as string))
    report(31, `${key} begins at ${now}, and the ${limit} before it since ${first}`);
}

/** Nothing more urgent waits for the same: what a process began itself and never started waits in its queue. */
function checkTurn(life: Life, key: string, flow: Flow, { ledger, model, steady, report }: FlowWorld): void {
  for (const [other, { run, since }] of life.entered) {
    const own = other.slice(run.length + 1);
    const waiting = model.find({ run });
    if (ledger.starts.has(other) || waiting?.activities.has(own) !== true) life.entered.delete(other);
    else if (since < steady && other !== key) {
      const { concurrency, priority = 0 } = flowOf(waiting.asked.get(own));
      if (concurrency?.key === flow.concurrency?.key && priority > (flow.priority ?? 0))
        report(31, `${key} begins before ${other}, which is more urgent and waits`);
    }
  }
}
