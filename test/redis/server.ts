/**
 * A real Redis server for tests, on a port of its own: it can be flushed, stopped for a while, killed and started again.
 * It keeps nothing on disk, and ends with the process that started it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** What is needed where no server can be had. */
export const howToInstall =
  "No Redis server for the tests: put `redis-server` on PATH (Debian: apt-get install redis-server)";

/** Where the server's binary is; undefined if it is not installed. */
export function findRedis(): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "redis-server"))
    .find(existsSync);
}

/** Installs it where that can be done: as root on Debian. */
export function installRedis(): void {
  const isDebian = existsSync("/usr/bin/apt-get");
  if (findRedis() !== undefined || !isDebian || process.getuid?.() !== 0) return;
  try {
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "redis-server"], {
      stdio: "ignore",
    });
  } catch {}
}

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
  if (binary === undefined) throw new Error(howToInstall);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-redis-"));
  const port = await freePort();
  let server = await launch(binary, folder, port, settings);
  const kill = async (): Promise<void> => {
    const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await ended;
  };
  process.on("exit", () => void server.kill("SIGKILL"));
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => void server.kill(name),
    kill,
    restart: async () => {
      await kill();
      server = await launch(binary, folder, port, settings);
    },
    command: (...given) =>
      execFileSync("redis-cli", ["-p", String(port), "--raw", ...given], { encoding: "utf8" }),
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function launch(
  binary: string,
  folder: string,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> {
  const options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  const server = spawn(binary, ["--port", String(port), ...options, ...settings], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (piece: Buffer) => {
      said += piece.toString();
      if (said.includes("Ready to accept connections")) resolve(server);
    });
    server.on("close", () => reject(new Error(`The Redis server did not start: ${said}`)));
  });
}

async function freePort(): Promise<number> {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  await new Promise((resolve) => taken.close(resolve));
  return port;
}
