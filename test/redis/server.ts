/**
 * A real Redis server for tests, on a port of its own: it can be flushed, stopped for a while, killed and started again.
 * It keeps nothing on disk, and ends with the process that started it.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, howToInstall } from "../lanes.ts";

/** Where the server's binary is; undefined if it is not installed. */
export const findRedis = (): string | undefined => findProgram("redis-server");

/** A deadline for whoever wants the answer of Redis, on however slow a machine: it only ends what hangs. */
export const patientMs = 60_000;

export interface RedisServer {
  readonly url: string;
  /** Sends a signal. SIGSTOP makes it hang until SIGCONT. */
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** Starts it again where it was, empty. */
  restart(): Promise<void>;
  /** Runs a command as somebody who looks on; the lines that redis-cli prints. */
  command(...given: string[]): string;
  stop(): Promise<void>;
}

export async function startRedis(...settings: readonly string[]): Promise<RedisServer> {
  const binary = findRedis();
  if (binary === undefined) throw new Error(howToInstall("redis-server"));
  const folder = mkdtempSync(join(tmpdir(), "holdfast-redis-"));
  const port = await freePort();
  let server = await launch(binary, folder, port, settings);
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => void process.kill(server.pid, name),
    kill: () => server.kill(),
    restart: async () => {
      await server.kill();
      server = await launch(binary, folder, port, settings);
    },
    command: (...given) =>
      execFileSync("redis-cli", ["-p", String(port), "--raw", ...given], { encoding: "utf8" }),
    stop: async () => {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Launched {
  readonly pid: number;
  kill(): Promise<void>;
}

function launch(
  binary: string,
  folder: string,
  port: number,
  settings: readonly string[],
): Promise<Launched> {
  const options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  const command = [binary, "--port", String(port), ...options, ...settings];
  // The shell kills the server when its own input ends, which it also does if this process is killed.
  const script = '"$@" & echo "pid $!"; cat > /dev/null; kill -9 $!; wait $! 2> /dev/null';
  const shell = spawn("sh", ["-c", script, "sh", ...command], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => shell.on("close", () => resolve()));
  const kill = (): Promise<void> => {
    shell.stdin.end();
    return ended;
  };
  return new Promise((resolve, reject) => {
    let said = "";
    shell.stdout.on("data", (piece: Buffer) => {
      said += piece.toString();
      if (said.includes("Ready to accept connections"))
        resolve({ pid: Number(/pid (\d+)/.exec(said)?.[1]), kill });
      // The port may have been taken meanwhile.
      else if (/bye bye|FATAL/.test(said)) void kill();
    });
    ended.then(() => reject(new Error(`The Redis server did not start: ${said}`)));
  });
}

async function freePort(): Promise<number> {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  await new Promise((resolve) => taken.close(resolve));
  return port;
}
