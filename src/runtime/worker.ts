/** Workers: how one process is told from another, and whether one on this machine is still there. */
import { hostname } from "node:os";

/** A name for this process that no other has. */
export function workerName(id: string): string {
  return `${hostname()} ${process.pid} ${id}`;
}

/** Whether a worker ran on this machine and its process is gone. What cannot be known counts as alive. */
export function isGone(worker: string): boolean {
  const [host, pid] = worker.split(" ");
  if (host !== hostname() || Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "ESRCH";
  }
}

/** Whether a worker is this very process. */
export const isThisProcess = (worker: string): boolean => worker.startsWith(`${hostname()} ${process.pid} `);

/** Whether this process is among those who share a store; one that owns its store alone is no member of anything. */
export const hasThisProcess = (members: readonly { readonly worker: string }[]): boolean =>
  members.length === 0 || members.some(({ worker }) => isThisProcess(worker));
