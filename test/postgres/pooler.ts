/** PgBouncer in transaction mode in front of the tests' server, where it is installed. */
import { spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../lanes.ts";

export interface Pooler {
  /** The URL of a database behind it, given its URL on the server. */
  url(direct: string): string;
  stop(): Promise<void>;
}

/** Where PgBouncer is; undefined if it is not installed. */
export const pgbouncer = findProgram("pgbouncer");

export async function startPooler(socketFolder: string): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-pooler-"));
  const user = ownerOf(socketFolder);
  const config = join(folder, "pgbouncer.ini");
  writeFileSync(
    config,
    `[databases]\n* = host=${socketFolder} user=holdfast\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n` +
      `listen_port = 5432\nunix_socket_dir = ${folder}\nlisten_addr =\nlogfile = ${join(folder, "log")}\n` +
      "ignore_startup_parameters = extra_float_digits\n",
  );
  if (user !== undefined) for (const path of [folder, config]) chownSync(path, user.uid, user.gid);
  const process_ = spawn(pgbouncer as string, [config], { ...user, stdio: "ignore" });
  const ended = new Promise<void>((resolve) => process_.on("close", () => resolve()));
  const socket = join(folder, ".s.PGSQL.5432");
  while (!(await answers(socket)) && process_.exitCode === null)
    await new Promise((resolve) => setImmediate(resolve));
  return {
    url: (direct) => direct.replace(encodeURIComponent(socketFolder), encodeURIComponent(folder)),
    stop: async () => {
      process_.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether somebody listens there: the file is there before anybody does. */
function answers(socket: string): Promise<boolean> {
  return new Promise((told) => {
    const connection = connect(socket);
    connection.once("connect", () => {
      connection.destroy();
      told(true);
    });
    connection.once("error", () => told(false));
  });
}

/** PgBouncer does not run as root; whoever runs the server may also reach it. */
function ownerOf(folder: string): { uid: number; gid: number } | undefined {
  const { uid, gid } = statSync(folder);
  return process.getuid?.() === 0 ? { uid, gid } : undefined;
}
