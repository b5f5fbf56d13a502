/** Boards: the shared state of several agents, as one says what is on it. What is done with one is in `open.ts`. */
import type { Json } from "../../core/json.ts";
import type { Machine } from "../../core/machine.ts";
import type { Schema } from "../../core/schema.ts";
import { HoldfastError } from "../../errors.ts";
import { checkName } from "../../runtime/name.ts";
import type { MachineEntry } from "../../runtime/registry.ts";
import { type Key, type KeyDefinition, keyOf, type Merge, problemsOf } from "./keys.ts";
import { boardMachine } from "./machine.ts";
import type { BoardState } from "./state.ts";

export type KeyDefinitions = Readonly<Record<string, KeyDefinition>>;

export interface BoardDefinition<Keys extends KeyDefinitions, Lease extends string> {
  readonly id: string;
  readonly version?: number;
  readonly keys: Keys;
  /** Own merges, by the names that policies refer to. */
  readonly merges?: Readonly<Record<string, Merge>>;
  /** The names that leases may have; any unless given. */
  readonly leases?: readonly Lease[];
}

/** A board's definition, ready for `createRuntime` and `openBoard`. */
export interface Board<Keys extends KeyDefinitions = KeyDefinitions, Lease extends string = string>
  extends MachineEntry {
  readonly machine: Machine<BoardState>;
  readonly keys: ReadonlyMap<string, Key>;
  readonly definition: BoardDefinition<Keys, Lease>;
}

/** A board from its definition; throws BOARD_INVALID with every problem if it has any. */
export function defineBoard<
  const Keys extends Readonly<Record<string, KeyDefinition & { readonly schema?: Schema }>>,
  const Lease extends string = string,
>(definition: BoardDefinition<Keys, Lease>): Board<Keys, Lease> {
  const { id, version = 1, keys: given, merges = {}, leases } = definition;
  const entries = Object.entries(given);
  const problems = entries.flatMap(([name, key]) => problemsOf(name, key, merges));
  for (const [name, { lease }] of entries)
    if (lease !== undefined && leases !== undefined && !(leases as readonly string[]).includes(lease))
      problems.push(`${name}: there is no lease ${JSON.stringify(lease)}; there are ${leases.join(", ")}`);
  if (Object.hasOwn(given, "__proto__")) problems.push("__proto__ cannot be a key");
  if (problems.length > 0) {
    const list = problems.map((problem) => `\n  ${problem}`).join("");
    throw new HoldfastError("BOARD_INVALID", `The board ${JSON.stringify(id)} has problems:${list}`, {
      details: { problems },
    });
  }
  for (const name of [...Object.keys(given), ...(leases ?? [])]) checkName("name on a board", name);
  const keys = new Map(entries.map(([name, key]) => [name, keyOf(name, key, merges)]));
  const said = entries.map(([name, { policy, lease = null }]) => [name, policy, lease]) as unknown as Json;
  const machine = boardMachine({
    ...{ id, version, keys, leases },
    said: { keys: said, leases: leases ?? null } as Json,
  });
  return { machine, keys, definition };
}
