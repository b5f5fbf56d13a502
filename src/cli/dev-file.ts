/**
 * The file that leads other commands to a `holdfast dev` of the same folder. It takes the file away when it ends; one that is
 * killed cannot, so whoever finds a file asks whether somebody is still there.
 */
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { limits } from "../limits.ts";

export interface DevFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

export const devFolder = ".holdfast";
export const devFileOf = (folder: string): string => join(folder, devFolder, "dev.json");

/** The server in dev mode of this folder, or of one around it. Files that lead to nobody are passed by, and noted. */
export async function findDev(folder: string, note: (line: string) => void): Promise<DevFile | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const path = devFileOf(at);
    if (existsSync(path)) {
      const found = read(path);
      const why = found === undefined ? "it cannot be read" : await whyGone(found);
      if (why === undefined) return found;
      note(`${path} is passed by: ${why}; holdfast dev writes it anew`);
    }
    if (dirname(at) === at) return undefined;
  }
}

/** Undefined for what is no such file, as one that was being written when its process was killed. */
function read(path: string): DevFile | undefined {
  try {
    const found = JSON.parse(readFileSync(path, "utf8")) as Partial<DevFile>;
    const { url, token, pid } = found;
    if (typeof url !== "string" || typeof token !== "string" || !URL.canParse(url)) return undefined;
    return { url, token, pid: Number(pid) };
  } catch {
    return undefined;
  }
}

/** Why nobody is there; undefined if somebody is. A port may be another's by now, so its process must live too. */
async function whyGone({ url, pid }: DevFile): Promise<string | undefined> {
  if (!isAlive(pid)) return `its process, ${pid}, is gone`;
  if (!(await answers(new URL(url)))) return `nobody answers at ${url}`;
  return undefined;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is one too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function answers({ hostname, port }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((told) => {
    const socket = connect({ host, port: Number(port), timeout: limits.devConnectMsMax });
    const end = (isThere: boolean) => {
      socket.destroy();
      told(isThere);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}
