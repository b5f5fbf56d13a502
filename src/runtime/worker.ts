/** Workers: how one process is told from another, and whether one on this machine is still there. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A name for this process that no other has; where the system tells when it began, that is its last word. */
export function workerName(id: string): string {
  const began = beganAt(process.pid);
  return [hostname(), process.pid, id, ...(began === undefined ? [] : [began])].join(" ");
}

/**
 * Whether a worker ran on this machine and its process is gone. What cannot be known counts as alive. A process that has its
 * id now and began at another time is another one: in a container that was begun again everybody has the ids of before.
 *
 * Containers that have one host name and each its own processes may take each other for gone. That is a matter of speed
 * alone: whoever takes over raises the epoch, and what the other writes after that is refused.
 */
export function isGone(worker: string): boolean {
  const [host, pid, , began] = worker.split(" ");
  if (host !== hostname() || !isThere(Number(pid))) return host === hostname();
  const now = beganAt(Number(pid));
  // Names without that time are of before, or of a system that does not tell it: never of this process, if that has one.
  const isKnown = now !== undefined && (began !== undefined || Number(pid) === process.pid);
  return isKnown && began !== now;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== "ESRCH";
  }
}

/** When a process began, in ticks since the system did; undefined where that is not told. See proc_pid_stat(5). */
function beganAt(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of its program comes second, in parentheses, and may hold anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

/** Whether a worker is this very process. */
export const isThisProcess = (worker: string): boolean => worker.startsWith(`${hostname()} ${process.pid} `);

/** Whether this process is among those who share a store; one that owns its store alone is no member of anything. */
export const hasThisProcess = (members: readonly { readonly worker: string }[]): boolean =>
  members.length === 0 || members.some(({ worker }) => isThisProcess(worker));
