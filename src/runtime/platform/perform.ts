/** Doing what the platform is asked to do when the time has come: it takes effect once, under one name. */
import { describeError } from "../../core/describe-error.ts";
import type { Json } from "../../core/json.ts";
import type { Machine } from "../../core/machine.ts";
import { isHoldfastError } from "../../errors.ts";
import type { Attribute, RunName } from "../../store/records.ts";
import { checkAttributes } from "../attributes.ts";
import { checkLimits } from "../budget.ts";
import { checkName } from "../name.ts";
import { checkOptions, type Names } from "../options.ts";
import type { Runtime, ScheduledSend, ScheduledStart } from "../run.ts";
import type { Deed } from "./deed.ts";

/** What it takes to do it. */
export interface DeedWorld extends Pick<Runtime, "start" | "run"> {
  /** The newest version of a machine; throws MACHINE_UNKNOWN. */
  machine(id: string): Machine;
  problem(name: RunName, error: unknown): void;
}

/** What was asked for, as it is kept; undefined if that is neither or both. */
export function deedOf({
  start,
  send,
}: {
  readonly start?: ScheduledStart | undefined;
  readonly send?: ScheduledSend | undefined;
}): Deed | undefined {
  const machine = typeof start?.machine === "object" ? start.machine?.id : start?.machine;
  const starts = isName(machine);
  const sends = isName(send?.run) && isName(send?.type);
  if (starts === sends || (start && send)) return undefined;
  if (starts) checkStarting(start as ScheduledStart);
  return starts ? { start: { ...start, machine } } : ({ send } as Deed);
}

/** Throws what a start would throw every time it is due. */
function checkStarting(given: ScheduledStart): void {
  checkOptions("{ start: { machine, input } }", given, startNames);
  const { subject, attributes, limits } = given;
  if (subject !== undefined) checkName("subject", subject);
  checkAttributes(attributes);
  checkLimits(limits);
}

const startNames: Names<ScheduledStart> = {
  ...{ machine: true, subject: true, input: true, attributes: true, limits: true },
};

const isName = (given: unknown): given is string => typeof given === "string" && given !== "";

/** How it is done: for the run behind it, under a name that says it once, with what is given unless something was said. */
export interface Doing {
  readonly by: RunName;
  readonly name: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly given: Json | undefined;
}

/** Does it; gives what it failed with if there is no use in trying again, else null. Throws what may pass. */
export async function perform(world: DeedWorld, deed: Deed, doing: Doing): Promise<Json> {
  try {
    await act(world, deed, doing);
    return null;
  } catch (error) {
    const passes = isHoldfastError(error) && (error.retry === "later" || error.code === "RUNTIME_CLOSED");
    if (passes) throw error;
    world.problem(doing.by, error);
    return describeError(error);
  }
}

async function act(world: DeedWorld, { start, send }: Deed, doing: Doing): Promise<void> {
  const { name, attributes: own, given } = doing;
  const { tenant } = doing.by;
  if (start !== undefined) {
    const { machine, attributes, input = given, subject, limits } = start;
    await world.start(world.machine(machine), {
      ...{ id: name, tenant, attributes: { ...own, ...attributes } },
      ...(subject === undefined ? undefined : { subject }),
      ...(limits === undefined ? undefined : { limits }),
      ...(input === undefined ? undefined : { input }),
    });
  } else if (send !== undefined) {
    const run = await world.run(send.run, { tenant });
    await run.send(send.type, send.data === undefined ? given : send.data, { key: name });
  }
}
