/**
 * Schedules: a cron pattern that starts runs or sends events. A schedule is itself a run, of a machine that every runtime
 * has: it waits by an ordinary timer for the next time of its calendar and fires in an activity, so whatever holds for
 * runs and timers holds for it. A firing costs two steps and one activity.
 *
 * S1. Every time has one name, `<schedule>@<time>`, under which its run is started or its event is sent: however often
 *     that is tried, it takes effect once.
 * S3. A firing that cannot succeed is told as a problem and noted in the context; the schedule goes on.
 */
import { type Json, showValue, toJson } from "../../core/json.ts";
import { diff } from "../../core/patch.ts";
import { matches } from "../../core/query.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import type { ActivityScope } from "../activity/attempt.ts";
import type { Clock } from "../clock.ts";
import { checkName, defaultTenant } from "../name.ts";
import type { MachineEntry } from "../registry.ts";
import type { Run, Schedule, ScheduleOptions } from "../run.ts";
import { checkCalendar, nextTime, timeText } from "./calendar.ts";
import { type DeedWorld, deedOf, perform } from "./perform.ts";
import { type ScheduleContext, type ScheduleDefinition, scheduleMachine } from "./schedule-machine.ts";

/** What schedules need of the runtime. */
export interface ScheduleWorld extends DeedWorld {
  readonly clock: Clock;
}

export class Schedules {
  readonly #world: ScheduleWorld;
  /** What the machine of schedules needs to run. */
  readonly entry: MachineEntry = {
    machine: scheduleMachine,
    activities: { fire: (firing: never, scope) => this.#fire(firing, scope) },
  };

  constructor(world: ScheduleWorld) {
    this.#world = world;
  }

  /** Sets a schedule, or attaches to the one of the same id and definition. */
  async set(id: string, options: ScheduleOptions): Promise<Schedule> {
    const { clock, start } = this.#world;
    const definition = definitionOf(options ?? {});
    const { tenant = defaultTenant } = options;
    const now = clock.now();
    nextTime(definition, now);
    checkName("schedule", id);
    checkName("name of a time", firingName(id, now));
    if (definition.start !== undefined) this.#world.machine(definition.start.machine);
    let run = await this.#find(id, tenant);
    if (run === undefined) {
      checkCalendar(definition, now);
      run = await start(scheduleMachine, { id, tenant, input: definition as unknown as Json });
    } else if (matches(await run.state(), "stopped")) {
      checkCalendar(definition, now);
      await run.send("set", definition as unknown as Json);
    }
    const { context } = await run.state();
    // In whatever order it was written.
    if (diff(context.definition as unknown as Json, definition as unknown as Json).length > 0) {
      throw new HoldfastError(
        "RUN_DIFFERS",
        `The schedule ${JSON.stringify(id)} has another definition; call its stop() first, then schedule it again`,
      );
    }
    return handleOf(run);
  }

  async #find(id: string, tenant: string): Promise<Run<ScheduleContext> | undefined> {
    try {
      const run = (await this.#world.run(id, { tenant })) as unknown as Run<ScheduleContext>;
      const { machine, status } = await run.head();
      if (machine === scheduleMachine.id && status === "active") return run;
      const what = machine === scheduleMachine.id ? `a schedule that is ${status}` : `a run of ${machine}`;
      throw new HoldfastError("RUN_DIFFERS", `${JSON.stringify(id)} is ${what}; choose another id`);
    } catch (error) {
      if (isHoldfastError(error) && error.code === "RUN_UNKNOWN") return undefined;
      throw error;
    }
  }

  /** Fires one time; gives what it failed with if there is no use in trying again. */
  #fire(
    { definition, due }: { definition: ScheduleDefinition; due: number },
    { run: schedule, tenant }: ActivityScope,
  ): Promise<Json> {
    return perform(this.#world, definition, {
      ...{ by: { tenant, run: schedule }, name: firingName(schedule, due) },
      ...{ attributes: { schedule }, given: { schedule, due } },
    });
  }
}

const firingName = (schedule: string, due: number): string => `${schedule}@${timeText(due)}`;

function handleOf(run: Run<ScheduleContext>): Schedule {
  return {
    ...{ id: run.id, run },
    async next() {
      const state = await run.state();
      const { definition, due } = state.context;
      if (due === null || matches(state, "stopped")) return undefined;
      return matches(state, "firing") ? nextTime(definition, due) : due;
    },
    async stop() {
      await run.send("stop");
    },
  };
}

/** What is kept of the options; throws SCHEDULE_INVALID if they do not say what to do. */
function definitionOf(options: ScheduleOptions): ScheduleDefinition {
  const { cron, timezone = "UTC", catchUp = "one", start, send } = options;
  if (!["one", "all", "none"].includes(catchUp))
    throw unclear(`catchUp is ${showValue(catchUp)}; write "one", "all" or "none"`);
  const deed = deedOf({ start, send });
  if (deed === undefined) throw unclear("write either start: { machine } or send: { run, type }");
  return toJson({ cron, timezone, catchUp, ...deed }, [], "schedule") as unknown as ScheduleDefinition;
}

function unclear(problem: string): HoldfastError {
  return new HoldfastError("SCHEDULE_INVALID", `The schedule does not say what to do: ${problem}`);
}
