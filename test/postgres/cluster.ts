/**
 * Real PostgreSQL servers on this machine of which one follows another: what failovers and restores are tried on. Each is
 * in a folder of its own, reached over TCP on the loopback, syncs to disk, and can be killed as a power cut would.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { findBinaries, initdbOptions, unprivileged } from "./server.ts";

const run = promisify(execFile);
/** Only ends what hangs. */
const startMsMax = 60_000;
/** How long a server may take until its file is there. */
const writeMsMax = 5_000;

export type Settings = Readonly<Record<string, string>>;

/** The tools that a pair of servers needs beside the server itself. */
export const clusterTools = ["postgres", "initdb", "pg_basebackup"];

const settingsOfAll: Settings = {
  listen_addresses: "127.0.0.1",
  max_connections: "60",
  wal_level: "replica",
  hot_standby: "on",
  max_wal_size: "256MB",
  wal_receiver_status_interval: "1s",
  wal_retrieve_retry_interval: "200ms",
  // What is not in use would only make copies slower.
  shared_buffers: "32MB",
};

export class Node {
  readonly folder: string;
  readonly port: number;
  readonly #binaries: string;
  readonly #as = unprivileged();
  #server: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  private constructor(folder: string, port: number, binaries: string) {
    this.folder = folder;
    this.port = port;
    this.#binaries = binaries;
    mkdirSync(folder, { recursive: true });
    if (this.#as !== undefined) chownSync(folder, this.#as.uid, this.#as.gid);
  }

  /** A server that is to be in this folder, which is made if it is not there. */
  static async in(folder: string): Promise<Node> {
    return new Node(folder, await freePort(), await findBinaries(clusterTools));
  }

  get data(): string {
    return join(this.folder, "data");
  }

  /** `host:port`, as addresses of several hosts have it. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `postgres://holdfast@${this.address}/postgres`;
  }

  /** Makes an empty server. */
  async create(): Promise<void> {
    await this.#tool("initdb", ...initdbOptions(this.data), "--data-checksums", "--wal-segsize=1");
    writeFileSync(join(this.data, "pg_hba.conf"), openToThisMachine);
  }

  /** Makes a copy of another server that runs; what this one had is gone. */
  async copy(source: Node, folder = this.data): Promise<void> {
    rmSync(folder, { recursive: true, force: true });
    const from = ["-h", "127.0.0.1", "-p", String(source.port), "-U", "holdfast"];
    await this.#tool("pg_basebackup", ...from, "-D", folder, "-c", "fast", "-X", "stream", "--no-sync");
  }

  /** Makes it what a copy is, which stays; what this one had is gone. */
  async adopt(copy: string): Promise<void> {
    rmSync(this.data, { recursive: true, force: true });
    await run("cp", ["-a", copy, this.data], { ...this.#as });
  }

  /** A folder beside its data that it may write. */
  makeFolder(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path);
    if (this.#as !== undefined) chownSync(path, this.#as.uid, this.#as.gid);
    return path;
  }

  /** Writes the settings that are its own; those of the server it was copied from are gone. */
  configure(settings: Settings): void {
    const all = { ...settingsOfAll, port: String(this.port), unix_socket_directories: "", ...settings };
    const lines = Object.entries(all).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`);
    this.#write("postgresql.auto.conf", lines.join(""));
  }

  /** It is to follow another one when it starts. */
  follow(primary: Node, settings: Settings = {}): void {
    const conninfo = `host=127.0.0.1 port=${primary.port} user=holdfast application_name=standby`;
    this.configure({ ...settings, primary_conninfo: conninfo });
    this.#write("standby.signal", "");
  }

  /** It is to recover from an archive when it starts. */
  recover(settings: Settings): void {
    this.configure(settings);
    this.#write("recovery.signal", "");
  }

  #write(name: string, text: string): void {
    const path = join(this.data, name);
    writeFileSync(path, text);
    if (this.#as !== undefined) chownSync(path, this.#as.uid, this.#as.gid);
  }

  /** Starts the server; resolves when it answers. */
  async start(): Promise<void> {
    const log = openSync(this.log, "a");
    const environment = { ...process.env, LC_ALL: "C", TZ: "UTC" };
    // The shell stops the server when its own input ends, which it also does if this process is killed.
    const script = '"$@" & echo $!; cat > /dev/null; kill -INT $!; wait $!';
    const command = ["-c", script, "sh", join(this.#binaries, "postgres"), "-D", this.data];
    const server = spawn("sh", command, {
      ...this.#as,
      cwd: this.folder,
      env: environment,
      stdio: ["pipe", "ignore", log],
    });
    closeSync(log);
    this.#server = server;
    this.#ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
    const began = Date.now();
    while (!(await this.answers())) {
      const waitedMs = Date.now() - began;
      // A server that gives up takes its file with it.
      const isGone = waitedMs > writeMsMax && !existsSync(this.#pidFile);
      if (isGone || waitedMs > startMsMax)
        throw new Error(`A PostgreSQL server did not start: ${this.said()}`);
      await pause(20);
    }
  }

  get #pidFile(): string {
    return join(this.data, "postmaster.pid");
  }

  get log(): string {
    return join(this.folder, "log");
  }

  /** The end of what it said. */
  said(): string {
    return readFileSync(this.log, "utf8").slice(-2_000);
  }

  async answers(): Promise<boolean> {
    return this.query("SELECT 1").then(
      () => true,
      () => false,
    );
  }

  /** Runs one statement on a connection of its own. */
  async query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: startMsMax });
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query(text, values)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Waits until a statement gives `true`. */
  async until(text: string): Promise<void> {
    const end = Date.now() + startMsMax;
    for (;;) {
      const [row] = await this.query(text).catch(() => []);
      if (row !== undefined && Object.values(row)[0] === true) return;
      if (Date.now() > end) throw new Error(`It never came to be that ${text}: ${this.said()}`);
      await pause(20);
    }
  }

  /** Stops or goes on with every process of the server. A stopped one keeps its connections and says nothing. */
  freeze(isFrozen = true): void {
    for (const pid of this.#processes()) signal(pid, isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  /** Ends every process of the server at once, as a power cut would: none of them gets to say or write anything. */
  async kill(): Promise<void> {
    const segment = readFileSync(this.#pidFile, "utf8").split("\n")[6]?.trim().split(/\s+/)[1];
    this.freeze();
    const pids = this.#processes();
    for (const pid of pids) signal(pid, "SIGKILL");
    await this.stop();
    // On a busy machine it takes a while until the last of them has let go of the shared memory, and no other starts before.
    while (isAnyThere(pids)) await pause(20);
    // A server that ends takes its shared memory with it; one that is killed leaves it to whoever starts the next.
    if (segment !== undefined) await run("ipcrm", ["-m", segment]).catch(() => {});
  }

  /** The server, which alone begins others, and those. */
  #processes(): number[] {
    const [first = ""] = readFileSync(this.#pidFile, "utf8").split("\n");
    const server = Number(first);
    const children = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number))
      .flatMap(([pid, parent]) => (parent === server ? [pid as number] : []));
    return [server, ...children];
  }

  /** Ends what is left of the server in good order; what is in its folder stays. */
  async stop(): Promise<void> {
    this.#server?.stdin?.end();
    await this.#ended;
    this.#server = undefined;
  }

  async #tool(name: string, ...args: string[]): Promise<void> {
    const environment = { ...process.env, LC_ALL: "C", TZ: "UTC" };
    await run(join(this.#binaries, name), args, { ...this.#as, cwd: this.folder, env: environment });
  }
}

const openToThisMachine = ["all", "replication"]
  .map((database) => `host ${database} all 127.0.0.1/32 trust\n`)
  .join("");

/** Whether one of these processes is more than a name that nobody has asked for yet. */
function isAnyThere(pids: readonly number[]): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pids.join()], { encoding: "utf8" });
  return stdout.split("\n").some((state) => state !== "" && !state.startsWith("Z"));
}

/** Sends a signal to a process that may have ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A port of the loopback that nobody has. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
