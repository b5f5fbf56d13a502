/** Names that users choose: machines, runs, tenants, subjects, keys and who acts. */
import { showValue } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { RunName } from "../store/records.ts";

/** Whose runs they are unless something is said. */
export const defaultTenant = "default";
/** Where the platform keeps what is nobody's. */
export const systemTenant = "holdfast";

/** Whether a machine is the platform's own, as that of schedules. */
export function isPlatformMachine(id: string): boolean {
  return id.startsWith("holdfast.");
}

/** Who acts on a run: the journal tells it, as the `by` of the event that follows. */
export interface Actor {
  /** The id of a principal. */
  readonly by?: string;
}

/** Throws NAME_INVALID for who cannot be told of. */
export function checkActor(by: unknown): void {
  if (by !== undefined) checkName("principal", by);
}

/** Throws NAME_INVALID for a name that a store would cut, change or take for another. */
export function checkName(what: string, name: unknown): void {
  const problem = problemOf(name);
  if (problem === undefined) return;
  throw new HoldfastError("NAME_INVALID", `The ${what} ${showValue(name)} cannot be used: it ${problem}`, {
    details: { what },
  });
}

function problemOf(name: unknown): string | undefined {
  if (typeof name !== "string") return "is not text";
  if (name === "") return "is empty";
  if (name.length > limits.nameLengthMax) return `has more than ${limits.nameLengthMax} characters`;
  if (!isStorable(name)) return "has characters that stores cannot keep";
  return undefined;
}

/** Databases replace half a character by another one and end texts at NUL, so that two names could become one. */
export function isStorable(name: string): boolean {
  return name.isWellFormed() && !name.includes("\0");
}

/** One text for a run's name: the length says where the tenant ends. */
export function keyOf({ tenant, run }: RunName): string {
  return `${tenant.length} ${tenant} ${run}`;
}

export function unknownRunError({ tenant, run }: RunName): HoldfastError {
  return new HoldfastError(
    "RUN_UNKNOWN",
    `There is no run ${JSON.stringify(run)} for the tenant ${JSON.stringify(tenant)}`,
  );
}
