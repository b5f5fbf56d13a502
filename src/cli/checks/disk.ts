/** How much is left of the disk that a store is on, as far as this machine can tell. */
import { statfs } from "node:fs/promises";
import { bad, type Finding, good, warning } from "./finding.ts";

/** Below these shares it wants more, and at once. A server that runs out stops, and takes long to come back. */
const [lowShare, lastShare] = [0.15, 0.05];
const remedy = "make room or a larger disk; see what grows: runs kept for long, the log, other databases";

export interface DiskFacts {
  /** What is on it. */
  readonly path: string;
  readonly bytes: number;
  readonly free: number;
}

/** Where a server that is on this machine has its data; null where that cannot be known. */
export const folderQuery = `SELECT setting AS folder FROM pg_settings
  WHERE name = 'data_directory' AND coalesce(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true)`;

export function judgeDisk({ path, bytes, free }: DiskFacts): Finding {
  const gib = (size: number): string => `${Math.round((size / 2 ** 30) * 10) / 10} GiB`;
  const found = `${gib(free)} of ${gib(bytes)} free at ${path}`;
  if (free < lastShare * bytes) return bad("disk", found, remedy);
  return free < lowShare * bytes ? warning("disk", found, remedy) : good("disk", found);
}

/** `path`: what is on the disk, or undefined where only another machine can tell. */
export async function checkDisk(path: string | undefined): Promise<Finding> {
  const unknown = good("disk", "not to be seen from here: watch it where the server runs");
  if (path === undefined) return unknown;
  try {
    const { bsize, blocks, bavail } = await statfs(path);
    return judgeDisk({ path, bytes: bsize * blocks, free: bsize * bavail });
  } catch {
    return unknown;
  }
}
