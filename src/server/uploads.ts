/**
 * Machines that were uploaded: data machines, kept as documents of the store so that they are there again after a restart.
 * A process reads them when it begins; those that share a store take up new ones when they are started next.
 */
import { readDefinition, readSource } from "../core/formats/json/read.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { defineMachine } from "../core/machine.ts";
import { HoldfastError, isHoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Activity } from "../runtime/activity/attempt.ts";
import { definitionHash } from "../runtime/definition-hash.ts";
import { isPlatformMachine, systemTenant } from "../runtime/name.ts";
import type { AnyMachine, MachineEntry } from "../runtime/registry.ts";
import { decode, encode } from "../store/codec.ts";
import type { Store } from "../store/store.ts";
import { chartOf } from "./chart.ts";
import type { AnswerOf, InputOf } from "./contract.ts";
import type { World } from "./world.ts";

const listName = "uploaded machines";
const nameOf = (id: string, version: number): string => `uploaded machine ${id}@${version}`;

/** Those that came from an upload, in this process. */
const uploaded = new WeakSet<object>();
export const isUploaded = ({ definition }: AnyMachine): boolean => uploaded.has(definition);

interface Listed {
  readonly id: string;
  readonly version: number;
}

type Uploaded = AnswerOf<"machines.upload">;
type Problems = Uploaded["problems"];

export async function upload(world: World, input: InputOf<"machines.upload">): Promise<Uploaded> {
  const { source, dryRun = false, status = "active" } = input;
  const { machine, problems } = readMachine(source, world.activities);
  if (machine === undefined) {
    if (dryRun) return { isValid: false, problems, isNew: false };
    throw new HoldfastError("MACHINE_INVALID", `The machine has ${problems.length} problems`, {
      details: { problems },
    });
  }
  const { id, version } = machine;
  const known = world.runtime.machines.list(id).find((one) => one.version === version);
  const hash = definitionHash(machine.definition);
  if (known !== undefined && known.hash !== hash) throw another(machine);
  const told = { isValid: true, problems: [], machine: id, version, hash };
  if (dryRun || known?.loaded === true) return { ...told, isNew: false };
  await keep(world.store, machine, source as Json);
  world.runtime.register({ machine, activities: world.activities });
  if (status === "draft") await world.runtime.machines.mark(id, version, "draft");
  return { ...told, isNew: true };
}

const another = ({ id, version }: Listed): HoldfastError =>
  new HoldfastError(
    "MACHINE_INVALID",
    `There is another ${id}@${version} already; give the new one another version`,
    { details: { problems: [{ path: "version", message: `is ${version}, which is there already` }] } },
  );

/** A machine from its source, or everything that is wrong with it; also what it would call that nobody here has. */
function readMachine(
  source: unknown,
  activities: Readonly<Record<string, Activity>>,
): { readonly machine: AnyMachine | undefined; readonly problems: Problems } {
  const { definition, problems } = readDefinition(source);
  if (definition === undefined)
    return {
      machine: undefined,
      problems: problems.map(({ path, problem, fix }) => ({
        path,
        message: fix === undefined ? problem : `${problem}; ${fix}`,
      })),
    };
  const machine: AnyMachine = defineMachine(definition);
  if (isPlatformMachine(machine.id))
    return {
      machine: undefined,
      problems: [
        { path: "id", message: `is ${JSON.stringify(machine.id)}; such names are the platform's own` },
      ],
    };
  const missing = missingIn(machine, activities);
  if (missing.length > 0) return { machine: undefined, problems: missing };
  uploaded.add(machine.definition);
  return { machine, problems: [] };
}

function missingIn(machine: AnyMachine, activities: Readonly<Record<string, Activity>>): Problems {
  const { states } = chartOf(machine);
  return states.flatMap(({ path, invokes }) =>
    invokes.flatMap(({ kind, source }) => {
      if (kind === "machine")
        return [
          {
            path: `${path}.invoke`,
            message: "invokes a machine; machines that are uploaded call activities only",
          },
        ];
      if (source === "computed" || Object.hasOwn(activities, source)) return [];
      const there = Object.keys(activities).slice(0, limits.namesShownMax).join(", ") || "none";
      return [
        {
          path: `${path}.invoke.activity`,
          message: `is ${JSON.stringify(source)}; this server has ${there}`,
        },
      ];
    }),
  );
}

/**
 * Keeps a machine: first the machine itself, then its name in the list of all. Throws MACHINE_INVALID if another server was
 * given another machine of that version.
 */
async function keep(store: Store, machine: AnyMachine, source: Json): Promise<void> {
  const { id, version } = machine;
  const read = readSource(source);
  const value = "value" in read ? read.value : source;
  const name = nameOf(id, version);
  if (!(await store.writeDocument(systemTenant, name, 0, encode(value as JsonObject)))) {
    const kept = await store.readDocument(systemTenant, name);
    const { definition } = readDefinition(kept && decode(kept.bytes, name));
    const hash = definition && definitionHash(defineMachine(definition).definition);
    if (hash !== definitionHash(machine.definition)) throw another(machine);
  }
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const document = await store.readDocument(systemTenant, listName);
    const list = listIn(document?.bytes);
    if (list.some((one) => one.id === id && one.version === version)) return;
    const bytes = encode([...list, { id, version }] as unknown as JsonObject);
    if (await store.writeDocument(systemTenant, listName, document?.version ?? 0, bytes)) return;
  }
  throw new HoldfastError("STORE_UNAVAILABLE", "Machines are being uploaded all the time; try again");
}

const attemptsMax = 10;

const listIn = (bytes: Uint8Array | undefined): readonly Listed[] =>
  bytes === undefined ? [] : (decode(bytes, listName) as unknown as readonly Listed[]);

/** The machines that were uploaded to a store, with the code they may use; what cannot be read any more is told of and left out. */
export async function readUploads(
  store: Store,
  activities: Readonly<Record<string, Activity>>,
  problem: (error: unknown) => void,
): Promise<readonly MachineEntry[]> {
  const entries: MachineEntry[] = [];
  const document = await store.readDocument(systemTenant, listName);
  for (const { id, version } of listIn(document?.bytes)) {
    const kept = await store.readDocument(systemTenant, nameOf(id, version));
    if (kept === undefined) continue;
    const { machine, problems } = readMachine(decode(kept.bytes, nameOf(id, version)), activities);
    if (machine === undefined)
      problem(
        new HoldfastError("MACHINE_INVALID", `The uploaded machine ${id}@${version} cannot be used here`, {
          details: { problems },
        }),
      );
    else entries.push({ machine, activities });
  }
  return entries;
}

/** Registers what was uploaded before; one that the process brings along itself is left. */
export async function registerUploads(
  { store, runtime, activities }: Pick<World, "store" | "runtime" | "activities">,
  problem: (error: unknown) => void,
): Promise<void> {
  for (const entry of await readUploads(store, activities, problem))
    try {
      runtime.register(entry);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      problem(error);
    }
}
