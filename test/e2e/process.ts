/** The server as a process of its own, that can be killed and started again as it was. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client/index.ts";

export const token = "end-to-end";

/** A port that is free now; the one after a kill must be the one before it. */
export function freePort(): Promise<number> {
  return new Promise((found) => {
    const socket = createSocket();
    socket.listen(0, "127.0.0.1", () => {
      const { port } = socket.address() as { port: number };
      socket.close(() => found(port));
    });
  });
}

export class ServerProcess {
  readonly url: string;
  readonly client: Client;
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-e2e-"));
  readonly #port: number;
  readonly #seed: readonly string[];
  #child: ChildProcess | undefined;

  /** `seed` are more arguments of the process, for what it does before it listens. */
  constructor(port: number, seed: readonly string[] = []) {
    this.#port = port;
    this.#seed = seed;
    this.url = `http://127.0.0.1:${port}`;
    this.client = createClient({ url: this.url, key: token });
  }

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [
        "--conditions=holdfast-source",
        join(import.meta.dirname, "server.ts"),
        ...[this.#folder, String(this.#port), token, ...this.#seed],
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    this.#child = child;
    await new Promise<void>((ready, failed) => {
      child.stdout?.on("data", (text) => String(text).includes("ready") && ready());
      child.once("exit", (code) => failed(new Error(`The server ended with ${code}`)));
    });
  }

  /** As a power cut would: nothing is said and nothing is saved. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const over = new Promise((exited) => child.once("exit", exited));
    child.kill("SIGKILL");
    await over;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }
}
