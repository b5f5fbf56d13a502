/**
 * Homes: which member sees to which shard. It follows from the list of members alone, so nobody has to agree on it: all who
 * know the same members find the same homes. Each has its fair share, and when one comes or goes few others change.
 */
import { hash } from "node:crypto";
import type { Member } from "./fleet.ts";
import { shardCount } from "./shard.ts";

/**
 * The epoch of each shard's home; undefined for all if there is nobody to see to them. Every shard ranks the members by a
 * sum of its own; the highest that has not its share yet is its home.
 */
export function homesOf(
  members: readonly Pick<Member, "epoch" | "isLeaving">[],
): readonly (number | undefined)[] {
  const staying = members.filter(({ isLeaving }) => !isLeaving).map(({ epoch }) => epoch);
  const share = Math.ceil(shardCount / staying.length);
  const counts = new Map(staying.map((epoch) => [epoch, 0]));
  return Array.from({ length: shardCount }, (_, shard) => {
    const ranked = staying
      .map((epoch) => ({ epoch, rank: rankOf(shard, epoch) }))
      .sort((one, other) => Buffer.compare(other.rank, one.rank));
    const home = ranked.find(({ epoch }) => (counts.get(epoch) as number) < share)?.epoch;
    if (home !== undefined) counts.set(home, (counts.get(home) as number) + 1);
    return home;
  });
}

const rankOf = (shard: number, epoch: number): Buffer => hash("sha256", `${shard} ${epoch}`, "buffer");
