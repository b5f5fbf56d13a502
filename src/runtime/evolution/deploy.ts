/** Deploying: a new version comes in, and what becomes of the runs that are alive is decided before anything happens. */
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import type { RunHead } from "../../store/records.ts";
import type { Actor } from "../name.ts";
import type { EvolutionPolicy, MachineStatus, Registry } from "../registry.ts";
import type { Evolution, Migrated } from "./evolution.ts";

export interface DeployWorld {
  readonly registry: Registry;
  readonly evolution: Evolution;
  mark(id: string, version: number, status: MachineStatus): Promise<void>;
}

export interface DeployOptions extends Actor {
  /** Lets go of what is pending and cannot survive. */
  readonly drop?: boolean;
  /** Lets runs that cannot go along stay with their version, instead of refusing the deploy. */
  readonly leave?: boolean;
}

/** What became of the runs that were alive. */
export interface Deployment {
  readonly moved: readonly Migrated[];
  /** They stay with their version. */
  readonly left: readonly Migrated[];
}

/** A version that was registered, and what is to become of the runs of those before it. */
export interface Deployed {
  readonly id: string;
  readonly version: number;
  readonly policy: EvolutionPolicy;
}

/** Takes the runs that are alive to a version, as its policy says, which counts from then on; throws DEPLOY_REFUSED. */
export async function deploy(
  { registry, evolution, mark }: DeployWorld,
  { id, version, policy }: Deployed,
  { drop = false, leave = false, by }: DeployOptions,
): Promise<Deployment> {
  if (policy === "pin") {
    registry.follow(id, version, policy);
    return { moved: [], left: [] };
  }
  const options = { to: version, drop, ...(by !== undefined && { by }) };
  // Runs of later versions stay where they are: nothing that is deployed takes a run back.
  const isBefore = (head: RunHead): boolean => head.version < version;
  const left: Migrated[] = [];
  for await (const plan of evolution.migrateAll(id, { ...options, dryRun: true }, isBefore))
    if (plan.outcome === "refused") left.push(plan);
  if (left.length > 0 && !leave) {
    // One that runs go by already stays what it is.
    await mark(id, version, "draft").catch((error: unknown) => {
      if (!isHoldfastError(error) || error.code !== "MACHINE_IN_USE") throw error;
    });
    throw refused(`${id}@${version}`, left);
  }
  registry.follow(id, version, policy);
  if (registry.status(id, version) === "draft") await mark(id, version, "active");
  const moved: Migrated[] = [];
  for await (const one of evolution.migrateAll(id, options, isBefore))
    if (one.outcome === "moved") moved.push(one);
  return { moved, left };
}

/** How many runs an error names. */
const namedMax = 20;

/** Throws DEPLOY_REFUSED if runs are alive whose version this process does not have. */
export async function checkAlive(registry: Registry, alive: AsyncIterable<RunHead>): Promise<void> {
  const broken: RunHead[] = [];
  for await (const head of alive) {
    const has = registry.list(head.machine).some(({ machine }) => machine.version === head.version);
    if (!has) broken.push(head);
  }
  if (broken.length === 0) return;
  const runs = broken.map(({ run, machine, version }) => `${run} (${machine}@${version})`);
  throw new HoldfastError(
    "DEPLOY_REFUSED",
    `${broken.length} runs are alive whose machine this process does not have: ${named(runs)}; bring those versions along, or migrate the runs before`,
    {
      details: {
        runs: broken.map(({ tenant, run, machine, version }) => ({ tenant, run, machine, version })),
      },
    },
  );
}

function refused(machine: string, left: readonly Migrated[]): HoldfastError {
  const runs = left.map(({ run, from, reports }) => {
    const [problem] = reports.at(-1)?.refused ?? [];
    return `${run} (version ${from}: ${problem?.path} ${problem?.problem})`;
  });
  return new HoldfastError(
    "DEPLOY_REFUSED",
    `${machine} would break ${left.length} runs that are alive: ${named(runs)}; give a migration, or \`leave\` them with their version`,
    { details: { runs: left } },
  );
}

/** Names of runs, as many as an error has room for. */
export function named(runs: readonly string[]): string {
  const more = runs.length > namedMax ? ` and ${runs.length - namedMax} more` : "";
  return `${runs.slice(0, namedMax).join(", ")}${more}`;
}
