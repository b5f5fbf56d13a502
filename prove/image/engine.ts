/**
 * A container engine on this machine: podman, with runc, and with images and containers in a folder of its own. It runs as
 * root, shares the machine's network, and needs no daemon and no registry.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { begin, type Command } from "../../test/cli/process.ts";
import { findProgram, haveAll, howToInstall, type Program } from "../../test/lanes.ts";

const run = promisify(execFile);

const needed: readonly Program[] = ["podman", "runc", "debootstrap"];

/** Why no image can be built here; undefined if one can. Installs what is wanting where that can be done. */
export function whyNoEngine(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it wants root on Linux";
  if (!existsSync("/usr/bin/apt-get")) return "it wants Debian, to make a base image from its packages";
  haveAll(needed);
  const missing = needed.filter((program) => findProgram(program) === undefined);
  return missing.length === 0 ? undefined : missing.map(howToInstall).join("; ");
}

/** What a container is started with beside its image. */
export interface Start {
  readonly name?: string;
  /** Options of `podman run`. */
  readonly options?: readonly string[];
  /** Instead of what the image starts. */
  readonly entrypoint?: string;
  readonly argv?: readonly string[];
}

/** Those of a container that may do nothing, as the compose file and the manifests have it. */
export const withoutRights = [
  ...["--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL", "--security-opt=no-new-privileges"],
];

export class Engine {
  readonly #folder: string;
  readonly #given: readonly string[];

  private constructor(folder: string, driver: string) {
    this.#folder = folder;
    this.#given = [
      ...["--root", join(folder, "images"), "--runroot", join(folder, "run"), "--storage-driver", driver],
      ...["--cgroup-manager=cgroupfs", "--runtime=runc", "--events-backend=none"],
    ];
  }

  /** One whose images are in `folder`. Where a layer cannot lie over another one, each is a copy, and slower. */
  static async in(folder: string): Promise<Engine> {
    mkdirSync(folder, { recursive: true });
    const overlaid = new Engine(folder, "overlay");
    return overlaid.ask("info").then(
      () => overlaid,
      () => new Engine(folder, "vfs"),
    );
  }

  /** What podman answers; rejects with what it said if it fails. */
  async ask(...argv: string[]): Promise<string> {
    const { stdout } = await run("podman", [...this.#given, ...argv], { maxBuffer: 2 ** 28 });
    return stdout.trim();
  }

  /** Like `ask`, heard while it goes on. */
  begin(...argv: string[]): Command {
    return begin("podman", [...this.#given, ...argv]);
  }

  /** Starts a container, which is gone when it has ended; its exit code is the container's. */
  start(image: string, { name, options = [], entrypoint, argv = [] }: Start): Command {
    return this.begin(
      ...["run", "--rm", "--network=host", "--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"],
      ...(name === undefined ? [] : ["--name", name]),
      ...(entrypoint === undefined ? [] : ["--entrypoint", entrypoint]),
      ...options,
      image,
      ...argv,
    );
  }

  /** What a program in the image says on stdout; rejects if it ends badly. */
  async say(image: string, start: Start): Promise<string> {
    const { said, ended } = this.start(image, start);
    const code = await ended;
    if (code !== 0) throw new Error(`${start.entrypoint ?? image} ended with ${code}: ${said.err}`);
    return said.out.trim();
  }

  async has(image: string): Promise<boolean> {
    return this.ask("image", "exists", image).then(
      () => true,
      () => false,
    );
  }

  /** Ends every container and takes every image away. */
  async remove(): Promise<void> {
    await this.ask("rm", "--all", "--force");
    await this.ask("rmi", "--all", "--force");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
