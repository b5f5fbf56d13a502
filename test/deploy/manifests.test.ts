/**
 * The files of deploy/, against each other and against the command they run: what can be known without a cluster or a
 * container engine. Each refers to others by names, paths, ports and times, and nothing but this test compares them.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, matchesGlob, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadMachines } from "../../src/cli/load-machines.ts";
import { paths } from "../../src/cli/probes.ts";
import type { WorkerArguments } from "../../src/cli/worker.ts";
import { durationMs } from "../../src/index.ts";
import { metricsText } from "../../src/server/figures.ts";
import { readCommand } from "../cli/read-command.ts";
import { projectFiles, read, root } from "../project.ts";
import { basesOf, instructionsOf } from "./dockerfile.ts";

const load = { slots: 1, running: 1, waiting: 1 };
const metrics = metricsText({
  isUp: true,
  isDraining: false,
  members: 1,
  fleet: load,
  process: load,
  due: 1,
});

/** Whether the command reads a variable of the environment. */
const isRead = (name: string): boolean =>
  projectFiles.some(
    (path) => /^src\/cli\/.*(?<!\.test)\.ts$/.test(path) && read(path).includes(`env.${name}`),
  );

/** What a container is started with, as the command understands it. */
const readWorker = (argv: readonly string[]) =>
  readCommand(argv, { HOLDFAST_STORE: "postgres://db/x" }) as WorkerArguments;

describe("the image", () => {
  const instructions = instructionsOf(read("deploy/Dockerfile"));
  const all = (name: string) => instructions.filter((one) => one.name === name);
  const last = Math.max(...instructions.map(({ stage }) => stage));
  const final = (name: string) => all(name).find(({ stage }) => stage === last)?.rest as string;
  const ignored = read("deploy/Dockerfile.dockerignore").split("\n").filter(Boolean);
  /** What the first stage brings of this repository, and where to. A folder that is named with a slash takes them in. */
  const copied = () =>
    all("COPY")
      .filter(({ stage }) => stage === 0)
      .flatMap(({ rest }) => {
        const sources = rest.split(" ");
        const target = sources.pop() as string;
        return sources.map((source) => ({
          source,
          target: target.endsWith("/") ? `${target}${basename(source)}` : target,
        }));
      });
  const manifest = JSON.parse(read("package.json")) as {
    workspaces: string[];
    engines: { node: string };
    bin: { holdfast: string };
    files: string[];
    devDependencies: Record<string, string>;
  };
  const lock = JSON.parse(read("package-lock.json")) as { packages: Record<string, { version: string }> };

  test("G5: the image is built on the Node that the project is developed with, in stages, and runs as nobody special", () => {
    expect(basesOf(instructions)).toEqual([`node:${manifest.devDependencies.node}-bookworm-slim`]);
    expect(last).toBeGreaterThan(0);
    expect(final("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  test("copies only what is there, in this repository or from a stage before", () => {
    const stages = all("FROM").map(({ rest }) => / AS (\w+)$/.exec(rest)?.[1]);
    expect(all("COPY").length).toBeGreaterThan(0);
    for (const { rest, stage } of all("COPY")) {
      const from = /^--from=(\w+) /.exec(rest)?.[1];
      if (from !== undefined) {
        expect(stages.slice(0, stage)).toContain(from);
        continue;
      }
      for (const source of rest.split(" ").slice(0, -1)) {
        expect(existsSync(join(root, source)), source).toBe(true);
        expect(ignored).not.toContain(source);
      }
    }
  });

  test("brings everything that a package of this project is made of", () => {
    for (const file of [
      ...manifest.files.filter((name) => name !== "dist"),
      ...["package.json", "package-lock.json"],
      ...manifest.workspaces.map((folder) => `${folder}/package.json`),
    ])
      expect(copied().map(({ source }) => source)).toContain(file);
  });

  test("G5: what the image brings is enough to build the package, and the package has all that is published", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-image-"));
    const isLeftOut = (path: string) => ignored.some((pattern) => matchesGlob(relative(root, path), pattern));
    try {
      for (const { source, target } of copied())
        cpSync(join(root, source), join(folder, target), {
          recursive: true,
          filter: (path) => !isLeftOut(path),
        });
      symlinkSync(realpathSync(join(root, "node_modules")), join(folder, "node_modules"));
      const build = all("RUN").find(({ rest }) => rest.includes("scripts/build.ts"))?.rest ?? "";
      const script = /^node (\S+) && /.exec(build)?.[1] as string;
      const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
        ...{ cwd: folder, encoding: "utf8" },
      });
      expect([status, status === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
      for (const name of [...manifest.files, manifest.bin.holdfast, "dist/studio/index.html"])
        expect(existsSync(join(folder, name)), name).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 300_000);

  test("its Node is one that the project takes", () => {
    const [, node = ""] = /^node:([\d.]+)-/.exec(basesOf(instructions)[0] ?? "") ?? [];
    const least = manifest.engines.node.replace(">=", "");
    expect(node.localeCompare(least, "en", { numeric: true })).toBeGreaterThanOrEqual(0);
  });

  test("installs the packages that the tests ran with, and what those want as the lock file has it", () => {
    const installing = all("RUN").at(-1);
    const locked = instructions.findIndex(
      ({ name, rest, stage }) =>
        name === "COPY" && stage === installing?.stage && rest.split(" ").includes("package-lock.json"),
    );
    expect(locked).toBeGreaterThan(0);
    expect(locked).toBeLessThan(instructions.indexOf(installing as (typeof instructions)[number]));
    const versions = [
      ...(all("RUN")
        .at(-1)
        ?.rest.matchAll(/\b(pg|redis)@([\d.]+)/g) ?? []),
    ];
    expect(versions.map(([, name]) => name)).toEqual(["pg", "redis"]);
    for (const [, name, version] of versions)
      expect(version).toBe(lock.packages[`node_modules/${name}`]?.version);
  });

  test("starts this command with what it takes, and is looked after where it listens", async () => {
    const [, program = ""] = JSON.parse(final("ENTRYPOINT")) as string[];
    expect(program).toBe(`node_modules/holdfast/${manifest.bin.holdfast}`);
    expect(existsSync(join(root, manifest.bin.holdfast.replace("dist/", "src/").replace(".js", ".ts")))).toBe(
      true,
    );
    const { module, listen } = readWorker(JSON.parse(final("CMD")) as string[]);
    expect(Number(final("EXPOSE"))).toBe(listen?.port);
    expect(final("HEALTHCHECK")).toContain(`http://127.0.0.1:${listen?.port}${paths.alive}`);
    expect(all("COPY").at(-1)?.rest).toBe("deploy/machines ./machines");
    expect(await loadMachines(join(root, "deploy", module))).toHaveLength(1);
  });
});

interface Service {
  readonly image?: string;
  readonly command?: string[];
  readonly stop_grace_period?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly deploy?: { readonly replicas: number };
  readonly environment?: Record<string, string>;
  readonly profiles?: string[];
  readonly depends_on?: Record<string, unknown>;
}

describe("the compose file", () => {
  const { services } = parse(read("deploy/compose.yaml"), { merge: true }) as {
    services: Record<string, Service>;
  };

  test("has a database, two workers, and a Redis for those who ask for one", () => {
    expect(services.worker?.deploy?.replicas).toBe(2);
    expect(services.redis?.profiles).toEqual(["redis"]);
    for (const { image } of Object.values(services))
      if (image !== undefined) expect(image).toMatch(/:\d+\.\d/);
    for (const { depends_on = {} } of Object.values(services))
      for (const name of Object.keys(depends_on)) expect(services).toHaveProperty(name);
  });

  test("C9: whoever asks for the Redis can have the workers use it, and nobody else has one", () => {
    const { environment = {} } = services.worker as Service;
    expect(environment.HOLDFAST_REDIS).toMatch(/^\$\{HOLDFAST_REDIS:-\}$/);
    const [, example = ""] =
      /(HOLDFAST_REDIS=\S+) and --profile redis/.exec(read("deploy/compose.yaml")) ?? [];
    expect(new URL(example.replace("HOLDFAST_REDIS=", "")).hostname).toBe("redis");
    expect(services).toHaveProperty("redis");
    const redisOf = (HOLDFAST_REDIS: string) =>
      readCommand(["doctor"], { HOLDFAST_STORE: "x", HOLDFAST_REDIS });
    expect(redisOf("")).toMatchObject({ redis: undefined });
    expect(redisOf(example.replace("HOLDFAST_REDIS=", ""))).toMatchObject({ redis: "redis://redis:6379" });
  });

  test("sets no variable that nobody reads", () => {
    for (const { environment = {} } of [services.worker, services.doctor] as Service[])
      expect(Object.keys(environment).filter((name) => !isRead(name))).toEqual([]);
  });

  test("runs workers that have the time to drain, and a doctor", () => {
    const { command = [], stop_grace_period: grace = "0s", build, environment } = services.worker as Service;
    expect(durationMs(grace)).toBeGreaterThan(readWorker(command).drainMs);
    expect(existsSync(join(root, "deploy", build?.context ?? "", build?.dockerfile ?? ""))).toBe(true);
    expect(environment?.HOLDFAST_STORE).toMatch(/^postgres:\/\/.*@db:5432\//);
    const doctor = services.doctor?.command ?? [];
    expect([doctor[0], readCommand(doctor, { HOLDFAST_STORE: "x" })]).toMatchObject([
      "doctor",
      { store: "x" },
    ]);
  });
});

/** What stands at a path of a parsed document, such as `spec.ports.0`; throws where there is nothing. */
function at<Value = string>(value: unknown, path: string): Value {
  let here = value;
  for (const name of path.split(".")) {
    if (typeof here !== "object" || here === null || !(name in here)) throw new Error(`There is no ${path}`);
    here = (here as Record<string, unknown>)[name];
  }
  return here as Value;
}

describe("the Kubernetes manifests", () => {
  const files = projectFiles.filter((path) => /^deploy\/kubernetes\/.*\.yaml$/.test(path));
  const documents = (path: string): unknown[] =>
    parseAllDocuments(read(path)).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS();
    });
  const named = at<string[]>(documents("deploy/kubernetes/kustomization.yaml")[0], "resources");
  const resources = named.flatMap((name) => documents(`deploy/kubernetes/${name}`));
  const of = (kind: string) => resources.find((resource) => at(resource, "kind") === kind);
  const deployment = of("Deployment");
  const template = at<object>(deployment, "spec.template");
  const pod = at<object>(template, "spec");
  const container = at<object>(pod, "containers.0");
  const args = readWorker(at<string[]>(container, "args"));

  test("are all applied, save the values of the adapter", () => {
    expect(files.map((path) => path.replace("deploy/kubernetes/", "")).toSorted()).toEqual(
      [...named, "kustomization.yaml", "metrics-adapter.yaml"].toSorted(),
    );
  });

  test("G5: manifests probe the paths that a worker serves, on the port where it listens", () => {
    const port = at<number>(container, "ports.0.containerPort");
    expect(args.listen).toEqual({ host: "0.0.0.0", port });
    const probed = { startupProbe: paths.alive, livenessProbe: paths.alive, readinessProbe: paths.ready };
    for (const [probe, path] of Object.entries(probed))
      expect(at(container, `${probe}.httpGet`)).toEqual({ path, port: at(container, "ports.0.name") });
    expect(at(template, "metadata.annotations")).toMatchObject({
      "prometheus.io/port": String(port),
      "prometheus.io/path": paths.metrics,
    });
  });

  test("G5: manifests give a worker longer to end than it may drain, and take none away before another is ready", () => {
    expect(at<number>(pod, "terminationGracePeriodSeconds") * 1_000).toBeGreaterThan(args.drainMs + 5_000);
    expect(at(deployment, "spec.strategy.rollingUpdate.maxUnavailable")).toBe(0);
  });

  test("run it without rights: not as root, on a file system it cannot write", () => {
    const image = instructionsOf(read("deploy/Dockerfile"));
    const [user, group] =
      image
        .find(({ name }) => name === "USER")
        ?.rest.split(":")
        .map(Number) ?? [];
    expect(at(pod, "securityContext")).toEqual({
      ...{
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: group,
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    expect(at(container, "securityContext")).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
    });
    expect(at(pod, "automountServiceAccountToken")).toBe(false);
    expect(at(pod, "serviceAccountName")).toBe(at(of("ServiceAccount"), "metadata.name"));
    expect(at(container, "env")).toEqual([
      { name: "HOLDFAST_STORE", valueFrom: { secretKeyRef: { name: "holdfast-store", key: "url" } } },
    ]);
  });

  test("set no variable that nobody reads", () => {
    const names = at<{ name: string }[]>(container, "env").map(({ name }) => name);
    expect(names.filter((name) => !isRead(name))).toEqual([]);
    expect(isRead("HOLDFAST_STOER")).toBe(false);
  });

  test("G5: a node can always be drained: the budget lets one worker go, and the autoscaler keeps others", () => {
    expect(at(of("PodDisruptionBudget"), "spec")).not.toHaveProperty("minAvailable");
    const unavailable = at<number>(of("PodDisruptionBudget"), "spec.maxUnavailable");
    expect(unavailable).toBeGreaterThan(0);
    expect(at<number>(of("HorizontalPodAutoscaler"), "spec.minReplicas")).toBeGreaterThan(unavailable);
  });

  test("give up on a worker only after those who put it out, and on one that starts after a minute", () => {
    const patienceMs = (probe: string) =>
      at<number>(container, `${probe}.periodSeconds`) *
      at<number>(container, `${probe}.failureThreshold`) *
      1_000;
    expect(patienceMs("livenessProbe")).toBeGreaterThanOrEqual(30_000);
    expect(patienceMs("startupProbe")).toBeGreaterThanOrEqual(60_000);
  });

  test("are about the same pods: deployment, disruption budget and autoscaler", () => {
    const labels = at(template, "metadata.labels");
    expect(at(deployment, "spec.selector.matchLabels")).toEqual(labels);
    expect(at(of("PodDisruptionBudget"), "spec.selector.matchLabels")).toEqual(labels);
    expect(at(of("HorizontalPodAutoscaler"), "spec.scaleTargetRef")).toEqual({
      ...{ apiVersion: "apps/v1", kind: "Deployment", name: at(deployment, "metadata.name") },
    });
    // How many there are is the autoscaler's to say.
    expect(at(deployment, "spec")).not.toHaveProperty("replicas");
  });

  test("G2: manifests scale by a metric that workers tell, to four fifths of their slots", () => {
    const external = at<object>(of("HorizontalPodAutoscaler"), "spec.metrics.0.external");
    const metric = at(external, "metric.name");
    const rule = at<object>(documents("deploy/kubernetes/metrics-adapter.yaml")[0], "rules.external.0");
    expect(at(rule, "name.as")).toBe(metric);
    expect(at(rule, "seriesQuery")).toMatch(new RegExp(`^${metric}\\{`));
    expect(metrics).toContain(`# TYPE ${metric} gauge`);
    expect(Number(at(external, "target.averageValue"))).toBe(0.8 * (args.slots as number));
  });
});
