/**
 * Legal holds: runs and subjects that must not be removed or pruned, whatever any rule says. They are kept in one
 * document of their tenant, each with its reason and its time, so they survive restarts and travel with backups.
 */
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { decode, encode } from "../../store/codec.ts";
import type { RunHead } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { SeenDocument } from "../../store/upkeep.ts";
import { type Clock, systemClock } from "../clock.ts";
import { checkName, defaultTenant } from "../name.ts";

/** The name of the document. */
export const holdsName = "holdfast/holds";

/** What is held: one run, all runs of a subject, or everything of the tenant. */
export type Held = { readonly run: string } | { readonly subject: string } | { readonly everything: true };

export type Hold = Held & {
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

interface HoldWorld {
  readonly store: Store;
  readonly tenant?: string;
}

/** The holds of a tenant, the oldest first. */
export async function readHolds(world: HoldWorld): Promise<readonly Hold[]> {
  return (await seeHolds(world)).holds;
}

/** The same, with the document they stand in: what is decided by them is not done once that has changed. */
export async function seeHolds({ store, tenant = defaultTenant }: HoldWorld): Promise<SeenHolds> {
  const document = await store.readDocument(tenant, holdsName);
  return {
    holds: document === undefined ? [] : (decode(document.bytes, holdsName) as unknown as Hold[]),
    seen: { tenant, name: holdsName, version: document?.version ?? 0 },
  };
}

export interface SeenHolds {
  readonly holds: readonly Hold[];
  readonly seen: SeenDocument;
}

/** Puts a hold on something; what is held already keeps its first reason and time. Durable when it resolves. */
export async function hold(
  world: HoldWorld & { readonly clock?: Pick<Clock, "now"> },
  held: Held & { readonly reason: string },
): Promise<void> {
  const { clock = systemClock } = world;
  const { reason, ...what } = held;
  for (const [kind, name] of Object.entries(what)) if (kind !== "everything") checkName(kind, name);
  await change(world, (holds) =>
    holds.some((one) => isSame(one, what as Held))
      ? holds
      : [...holds, { ...(what as Held), reason, at: clock.now() }],
  );
}

/** Takes a hold back; says whether there was one. */
export async function release(world: HoldWorld, held: Held): Promise<boolean> {
  let found = false;
  await change(world, (holds) => {
    const left = holds.filter((one) => !isSame(one, held));
    found = left.length < holds.length;
    return left;
  });
  return found;
}

/** The hold that keeps a run; undefined if none does. */
export function holdOn(
  holds: readonly Hold[],
  { run, subject }: Pick<RunHead, "run" | "subject">,
): Hold | undefined {
  return holds.find(
    (one) =>
      "everything" in one ||
      ("run" in one && one.run === run) ||
      ("subject" in one && one.subject === subject),
  );
}

/** The document of holds, as bytes. */
export function holdsBytes(holds: readonly Hold[]): Uint8Array {
  return encode(holds as unknown as Json);
}

function isSame(one: Held, other: Held): boolean {
  return (["run", "subject", "everything"] as const).every(
    (kind) => (one as Record<string, unknown>)[kind] === (other as Record<string, unknown>)[kind],
  );
}

/** How often others may be faster before something is wrong. */
const triesMax = 100;

async function change(world: HoldWorld, edit: (holds: readonly Hold[]) => readonly Hold[]): Promise<void> {
  const { store, tenant = defaultTenant } = world;
  checkName("tenant", tenant);
  for (let tries = 0; tries < triesMax; tries++) {
    const { holds, seen } = await seeHolds({ store, tenant });
    const edited = edit(holds);
    if (edited === holds) return;
    if (await store.writeDocument(tenant, holdsName, seen.version, holdsBytes(edited))) return;
  }
  throw new HoldfastError(
    "STORE_UNAVAILABLE",
    `The holds of ${JSON.stringify(tenant)} are changed without end; try again`,
  );
}
