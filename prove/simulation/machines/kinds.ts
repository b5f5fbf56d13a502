/** Every kind of run the simulated world can have: those that all worlds draw from, and those that come for a purpose. */
import { compensationMachine, type Machine, type State } from "holdfast";
import { account } from "./account.ts";
import { alarmClock } from "./alarm-clock.ts";
import { archive } from "./archive.ts";
import { clerk } from "./clerk.ts";
import { crew } from "./crew.ts";
import { desk } from "./desk.ts";
import type { Kind } from "./kind.ts";
import { kiosk } from "./kiosk.ts";
import { mill } from "./mill.ts";
import { oven } from "./oven.ts";
import { studio } from "./studio.ts";
import { tallyByHand, tallyByMark, tallyByNumber } from "./tally.ts";
import { team } from "./team.ts";
import { trip } from "./trip.ts";

export const kinds: Readonly<Record<string, Kind>> = {
  account,
  desk,
  "alarm-clock": alarmClock,
  crew,
  team,
  kiosk,
  trip,
  oven,
  studio,
  clerk,
  "tally-by-number": tallyByNumber,
  "tally-by-hand": tallyByHand,
  "tally-by-mark": tallyByMark,
};

/** Kinds that come into worlds in which limits are put to the test, and in which somebody keeps house. */
export const guests: Readonly<Record<"mill" | "archive", Kind>> = { mill, archive };

/** The kind of run that a machine makes; undefined for children. */
export function kindOf(machine: string): Kind | undefined {
  return kinds[machine] ?? (guests as Readonly<Record<string, Kind>>)[machine];
}

/** Every version of every machine by its name, child machines and those that undo included. */
const machines: ReadonlyMap<string, Machine> = collect(
  [...Object.values(kinds), ...Object.values(guests)].flatMap(({ machine, later }) => [
    machine,
    ...(later ? [later.machine] : []),
  ]),
);

export function machineOf({ machine, version }: Pick<State, "machine" | "version">): Machine {
  return machines.get(`${machine}@${version}`) as Machine;
}

function collect(given: readonly Machine[]): Map<string, Machine> {
  const found = new Map<string, Machine>();
  const add = (machine: Machine) => {
    found.set(`${machine.id}@${machine.version}`, machine);
    if (machine.chart.compensates) add(compensationMachine(machine));
    for (const child of Object.values(machine.machines)) add(child as Machine);
  };
  given.forEach(add);
  return found;
}
