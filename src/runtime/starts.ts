/** Starting runs: by id, where the one of the same id is the same run, or one live run for a key. */
import { sentBy, startEvent } from "../core/event.ts";
import type { Machine } from "../core/machine.ts";
import type { RunName } from "../store/records.ts";
import { checkAttributes } from "./attributes.ts";
import { checkLimits, limitsOf } from "./budget.ts";
import type { Catalog } from "./evolution/catalog.ts";
import { type Access, Handle } from "./handle.ts";
import { type LiveRun, newRun } from "./live/live-run.ts";
import type { Runs } from "./live/runs.ts";
import { checkActor, checkName, defaultTenant } from "./name.ts";
import { checkMachine, checkOptions, type Names } from "./options.ts";
import type { Platform } from "./platform/platform.ts";
import type { Run, StartOptions } from "./run.ts";
import { checkSame } from "./same-run.ts";

interface Parts {
  readonly platform: Platform;
  readonly runs: Runs;
  problem(name: RunName, error: unknown): void;
}

export class Starts {
  readonly #access: Access & { readonly machines: Catalog };
  readonly #parts: Parts;

  constructor(access: Access & { readonly machines: Catalog }, parts: Parts) {
    this.#access = access;
    this.#parts = parts;
  }

  /** Starts a run, or attaches to the one of the same id, machine and input. */
  async start(machine: Machine, { singleton, ...options }: StartOptions): Promise<Run> {
    const { ids, machines, past } = this.#access;
    const { platform, runs, problem } = this.#parts;
    checkActor(options.by);
    if (singleton !== undefined) return (await platform.singletons.start(machine, singleton, options)).run;
    const { id = ids.next(), tenant = defaultTenant, subject = id, input } = options;
    for (const [what, name] of Object.entries({ run: id, tenant, subject })) checkName(what, name);
    checkLimits(options.limits);
    checkAttributes(options.attributes);
    const name: RunName = { tenant, run: id };
    machines.checkOpen(machine, (warning) => problem(name, warning));
    let begun: LiveRun | undefined;
    const run = await runs.findOrBegin(name, async () => {
      begun = await this.#begin(name, machine.id, machine.version, { ...options, subject });
      return begun;
    });
    if (run !== begun) await checkSame(run, machine.id, input, past);
    return new Handle(name, this.#access);
  }

  async #begin(name: RunName, machine: string, version: number, options: StartOptions): Promise<LiveRun> {
    const { registry, clock } = this.#access;
    const bound = registry.read(machine, version);
    const { subject = name.run, attributes = {} } = options;
    const allowed = limitsOf(bound.machine.definition.limits, options.limits);
    const parts = { subject, attributes, ...(allowed && { limits: allowed }) };
    const run = newRun(name, bound, parts, clock.now());
    await this.#access.deliver(run, sentBy(startEvent(options.input), options.by));
    return run;
  }
}

/** Throws MACHINE_INVALID or OPTIONS_INVALID for what no run can begin with. */
export function checkStart(machine: unknown, options: unknown): void {
  checkMachine(machine);
  checkOptions("start(machine, { id, input })", options ?? {}, startNames);
}

const startNames: Names<StartOptions> = {
  ...{ id: true, singleton: true, tenant: true, subject: true, input: true },
  ...{ attributes: true, limits: true, by: true },
};
