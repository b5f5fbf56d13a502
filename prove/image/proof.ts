/**
 * The Dockerfile built and run in earnest: the base image is made here, the build is podman's, and workers in containers
 * without rights take runs from a PostgreSQL on the loopback. What has to hold is in judge.ts.
 */
import { chmodSync, cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, type Machine, type MachineEntry, type Run, type Runtime } from "holdfast";
import { postgres } from "holdfast/postgres";
import { loadMachines } from "../../src/cli/load-machines.ts";
import { paths } from "../../src/cli/probes.ts";
import { basesOf, instructionsOf } from "../../test/deploy/dockerfile.ts";
import { freePort, pause } from "../../test/postgres/cluster.ts";
import { startServer } from "../../test/postgres/server.ts";
import { read, root } from "../../test/project.ts";
import { makeBase } from "./base-image.ts";
import { type Engine, withoutRights } from "./engine.ts";
import {
  type ImageFacts,
  judgeImage,
  judgeLife,
  type LifeFacts,
  type Packages,
  type Wanted,
} from "./judge.ts";
import { type Plant, planted } from "./plants.ts";

export interface ImageOptions {
  readonly engine: Engine;
  /** For what is made meanwhile. */
  readonly folder: string;
  readonly plant?: Plant | undefined;
  readonly progress: (text: string) => void;
}

export interface ImageResult {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const image = "localhost/holdfast-worker";
/** As the manifests have it. */
const [graceSeconds, memory] = [45, "512m"];
const port = 9464;

/** Builds, looks into it, runs it, and judges. */
export async function proveImage(options: ImageOptions): Promise<ImageResult> {
  const { engine, progress } = options;
  const dockerfile = planted(read("deploy/Dockerfile"), options.plant);
  const [base = ""] = basesOf(instructionsOf(dockerfile));
  progress(`making ${base}`);
  await makeBase(engine, base, join(options.folder, "base"));
  progress("building");
  const beganMs = performance.now();
  await build(dockerfile, options);
  const buildSeconds = Math.round((performance.now() - beganMs) / 1_000);
  progress("looking into it");
  const facts = await lookInto(engine, base);
  progress("running it");
  const { life, figures } = await live(options);
  const [size, sizeOfBase] = [await sizeOf(engine, image), await sizeOf(engine, base)];
  return {
    problems: [...judgeImage(facts, wanted()), ...judgeLife(life)],
    figures: {
      packages: Object.keys(facts.packages).length,
      MB: Math.round(size / 1e6),
      "MB above its base": Math.round((size - sizeOfBase) / 1e6),
      "s to build": buildSeconds,
      ...figures,
    },
  };
}

async function build(dockerfile: string, { engine, folder }: ImageOptions): Promise<void> {
  const path = join(folder, "Dockerfile");
  writeFileSync(path, dockerfile);
  const { ended, said } = engine.begin(
    ...["build", "--format=docker", "--isolation=chroot", "--network=host", "--pull=never", "--layers"],
    ...["--ignorefile", join(root, "deploy/Dockerfile.dockerignore"), "--file", path, "--tag", image, root],
  );
  const code = await ended;
  if (code !== 0) throw new Error(`The build ended with ${code}:\n${said.out}${said.err}`);
}

async function sizeOf(engine: Engine, name: string): Promise<number> {
  return Number(await engine.ask("image", "inspect", name, "--format", "{{.Size}}"));
}

async function lookInto(engine: Engine, base: string): Promise<ImageFacts> {
  const config = JSON.parse(await engine.ask("image", "inspect", image, "--format", "{{json .Config}}")) as {
    readonly User?: string;
    readonly Env?: string[];
  };
  const changed = JSON.parse(await engine.ask("image", "diff", "--format=json", image, base)) as Record<
    string,
    string[] | null
  >;
  const say = (entrypoint: string, ...argv: string[]) => engine.say(image, { entrypoint, argv });
  const kept = JSON.parse(await say("cat", "/app/node_modules/.package-lock.json")) as { packages: Packages };
  // What may not be looked into may not be written either: find says so on stderr, and ends badly.
  const script = 'find / -xdev -path "$HOME" -prune -o -writable -not -type l -print 2>/dev/null; true';
  return {
    user: config.User ?? "",
    environment: config.Env ?? [],
    node: (await say("node", "--version")).replace("v", ""),
    writable: (await say("sh", "-c", script)).split("\n").filter(Boolean),
    files: [...(changed.added ?? []), ...(changed.changed ?? [])],
    packages: kept.packages,
  };
}

function wanted(): Wanted {
  const { engines, files } = JSON.parse(read("package.json")) as {
    engines: { node: string };
    files: string[];
  };
  return {
    nodeMin: engines.node.replace(">=", ""),
    locked: (JSON.parse(read("package-lock.json")) as { packages: Packages }).packages,
    added: ["node_modules/pg", "node_modules/redis"],
    published: files,
  };
}

/** Two workers in containers, one after the other: one that has nothing to do when it is stopped, and one at work. */
async function live({ engine, folder }: ImageOptions) {
  const greeting = await machineOf("deploy/machines/index.mjs");
  const slow = await machineOf("prove/image/machines/index.mjs");
  const databasePort = await freePort();
  const server = await startServer({ listen_addresses: "127.0.0.1", port: String(databasePort) });
  const url = `postgres://holdfast@127.0.0.1:${databasePort}/postgres`;
  const rights = ["--env", `HOLDFAST_STORE=${url}`, `--memory=${memory}`, ...withoutRights];
  let runtime: Runtime | undefined;
  try {
    const beganMs = performance.now();
    const first = await up(engine, rights);
    const upMs = Math.round(performance.now() - beganMs);
    runtime = await createRuntime({ store: postgres(url), machines: [greeting, slow], role: "client" });
    const idle = await greet({ engine, rights, worker: first, run: await runtime.start(greeting, greeted) });
    const machines = join(folder, "machines");
    cpSync(join(import.meta.dirname, "machines"), machines, { recursive: true });
    chmodSync(folder, 0o755);
    const hold = join(machines, "hold");
    writeFileSync(hold, "");
    const second = await up(engine, [...rights, "--volume", `${machines}:/app/machines:ro`]);
    const { drainedMs, ...busy } = await drain({
      engine,
      worker: second,
      hold,
      run: await runtime.start(slow),
    });
    const life: LifeFacts = { ...idle, ...busy };
    return { life, figures: { "ms until up": upMs, "ms from the last activity to the end": drainedMs } };
  } finally {
    await runtime?.close();
    await engine.ask("rm", "--all", "--force");
    await server.stop();
  }
}

const greeted = { input: { name: "image" } };

async function machineOf(module: string): Promise<Machine> {
  const [entry] = await loadMachines(join(root, module));
  return (entry as MachineEntry).machine as Machine;
}

/** What a worker with the image's own machines does, until it is stopped with nothing to do. */
async function greet({ engine, rights, worker, run }: Scene & { readonly rights: readonly string[] }) {
  const { output } = await run.finished();
  const answers = Object.fromEntries(
    await Promise.all(Object.values(paths).map(async (path) => [path, await statusOf(path)] as const)),
  );
  const healthcheck = await engine.begin("healthcheck", "run", worker.name).ended;
  const doctor = await engine.start(image, { options: rights, argv: ["doctor"] }).ended;
  return { output, answers, healthcheck, doctor, idle: await stop(engine, worker) };
}

/** What a worker with machines of somebody's own does when it is stopped in the middle of an activity. */
async function drain({ engine, worker, run, hold }: Scene & { readonly hold: string }) {
  await worker.command.says(/begun/);
  const stopping = stop(engine, worker);
  while ((await statusOf(paths.ready)) === 200) await pause(20);
  rmSync(hold);
  const releasedMs = performance.now();
  const busy = await stopping;
  const isDrained = worker.command.said.err.includes("ended") && (await run.head()).status === "done";
  return { busy, isDrained, drainedMs: Math.round(performance.now() - releasedMs) };
}

/** A worker in a container, and a run that it is to take. */
interface Scene {
  readonly engine: Engine;
  readonly worker: Awaited<ReturnType<typeof up>>;
  readonly run: Run;
}

/** A worker as the image starts it, once it says that it is up. */
async function up(engine: Engine, options: readonly string[]) {
  const name = `worker-${performance.now()}`;
  const command = engine.start(image, { name, options });
  await command.says(/^up: /m);
  return { name, command };
}

/** Tells it to stop as engines do; the code that it ended with. */
async function stop(engine: Engine, { name, command }: Awaited<ReturnType<typeof up>>) {
  await engine.ask("stop", "--time", String(graceSeconds), name);
  return await command.ended;
}

/** What a probe is answered; 0 if nobody listens. */
function statusOf(path: string): Promise<number> {
  return fetch(`http://127.0.0.1:${port}${path}`).then(
    ({ status }) => status,
    () => 0,
  );
}
