/** The routes of machines: what there is, what each says, adding one that is data, and marking versions. */
import { toMermaid } from "../../core/formats/mermaid/export.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import type { BoundMachine } from "../../runtime/registry.ts";
import { chartOf } from "../chart.ts";
import type { MachineDetail, MachineSummary, MachineVersion } from "../contract/machines.ts";
import type { InputOf } from "../contract.ts";
import { eventsOf, type Parts, schemaOf, toData } from "../definition.ts";
import { kindOf } from "../kind.ts";
import { isUploaded, upload } from "../uploads.ts";
import type { Handlers, Scope, Some, World } from "../world.ts";

export function machineHandlers(world: World): Some<"machines"> & Pick<Handlers, never> {
  return {
    "machines.list": () => ({ machines: summariesOf(world) }),
    "machines.show": ({ machine }) => detailOf(world, machine),
    "machines.version": ({ machine, version }) => detailOf(world, machine, version),
    "machines.upload": async (input, scope) => {
      checkOwn(world, scope, "add machines");
      const uploaded = await upload(world, input);
      if (!uploaded.isNew) scope.status = 200;
      return uploaded;
    },
    "machines.mark": async ({ machine, version, status }, scope) => {
      checkOwn(world, scope, "mark machines");
      await mark(world, { machine, version, status });
      return versionOf(world, machine, version);
    },
  };
}

/** Machines are everybody's, so only principals of the server's own tenant change them. */
function checkOwn({ tenant }: World, { principal }: Scope, what: string): void {
  if (principal.tenant === tenant) return;
  throw new HoldfastError("NOT_ALLOWED", `Only principals of the server's own tenant ${what}`);
}

/** Marks a version. The runs that keep it from being put away are counted, not named: they are anybody's. */
async function mark(world: World, { machine, version, status }: InputOf<"machines.mark">): Promise<void> {
  try {
    await world.runtime.machines.mark(machine, version, status);
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "MACHINE_IN_USE") throw error;
    const { runs } = error.details as { readonly runs: readonly string[] };
    throw new HoldfastError(
      "MACHINE_IN_USE",
      `${machine}@${version} cannot be ${status} while ${runs.length} runs go by it; migrate or end them first`,
    );
  }
}

type Row = ReturnType<World["runtime"]["machines"]["list"]>[0];

const toldOf = ({ id, version, hash, status, since, changedAt, loaded }: Row): MachineVersion => ({
  ...{ machine: id, version, hash, status, since, changedAt, loaded },
});

function summariesOf(world: World): MachineSummary[] {
  const byId = new Map<string, Row[]>();
  for (const row of world.runtime.machines.list()) byId.set(row.id, [...(byId.get(row.id) ?? []), row]);
  return [...byId].map(([machine, rows]) => {
    const newest = rows.at(-1) as Row;
    const shown = rows.findLast(({ loaded }) => loaded);
    const bound = shown && world.runtime.machines.read(machine, shown.version);
    const description = bound && descriptionOf(bound);
    return {
      ...{ machine, newest: newest.version, kind: kindOf(bound?.machine), versions: rows.map(toldOf) },
      ...(description === undefined ? {} : { description }),
    };
  });
}

function descriptionOf({ machine }: BoundMachine): string | undefined {
  const { description } = machine.definition;
  return typeof description === "string" ? description : undefined;
}

function versionOf({ runtime }: World, machine: string, version: number): MachineVersion {
  const row = runtime.machines.list(machine).find((one) => one.version === version);
  if (row !== undefined) return toldOf(row);
  throw new HoldfastError("MACHINE_UNKNOWN", `There is no machine ${JSON.stringify(machine)}@${version}`);
}

function detailOf(world: World, id: string, version?: number): MachineDetail {
  const newest = version ?? world.runtime.machines.list(id).findLast(({ loaded }) => loaded)?.version;
  const bound = world.runtime.machines.read(id, newest);
  const { machine } = bound;
  const { input, context } = machine.definition as unknown as Parts;
  const description = descriptionOf(bound);
  const schemas = { input: schemaOf(input), context: schemaOf(context) };
  return {
    ...versionOf(world, id, machine.version),
    kind: kindOf(machine),
    ...(description === undefined ? {} : { description }),
    definition: toData(machine.definition) as MachineDetail["definition"],
    chart: chartOf(machine),
    events: eventsOf(machine),
    ...(schemas.input === undefined ? {} : { input: schemas.input }),
    ...(schemas.context === undefined ? {} : { context: schemas.context }),
    activities: activitiesOf(bound),
    mermaid: toMermaid(machine),
    source: isUploaded(machine) ? "uploaded" : "code",
  };
}

/** The activities that a chart names, and whether there is code for them. */
export function activitiesOf({ machine, activities }: Pick<BoundMachine, "machine" | "activities">): {
  activity: string;
  bound: boolean;
}[] {
  const { states } = chartOf(machine);
  const named = states.flatMap(({ invokes }) =>
    invokes.flatMap(({ kind, source }) => (kind === "activity" ? [source] : [])),
  );
  return [...new Set(named)]
    .filter((name) => name !== "computed")
    .sort()
    .map((activity) => ({ activity, bound: Object.hasOwn(activities, activity) }));
}
