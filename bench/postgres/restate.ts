/**
 * Restate with its own server, which keeps its own log on disk: a run is an invocation, a step is a `ctx.run` that returns
 * the state. Reading asks again under the same idempotency key, after a restart of the server: it must answer from what it
 * kept, without doing anything.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer as createHttp2Server } from "node:http2";
import { createServer } from "node:net";
import { connect, createEndpointHandler, Opts, restateBinary, service } from "../peers/restate.mjs";
import { type Contestant, eachAfterTheOther, type Lap, stateAfter } from "./workload.ts";

const laps = new Map<string, Lap>();

const counting = service({
  name: "counting",
  handlers: {
    async take(context, { run, steps }: { run: string; steps: number }): Promise<number> {
      let state = stateAfter(0);
      await eachAfterTheOther(steps, laps.get(run) ?? failing, async () => {
        state = await context.run("add", () => stateAfter(state.n + 1));
      });
      return state.n;
    },
  },
});

function failing(): void {
  throw new Error("Restate did again what it should have kept");
}

export const restate: Contestant = {
  async open({ folder }) {
    const [ingress, admin, fabric, code] = (await freePorts(4)) as [number, number, number, number];
    const server = startServer(folder, { ingress, admin, fabric });
    await answers(`http://127.0.0.1:${admin}/health`);
    await answers(`http://127.0.0.1:${ingress}/restate/health`);
    const serving = createHttp2Server(createEndpointHandler({ services: [counting], logger: () => {} }));
    await new Promise<void>((resolve) => serving.listen(code, "127.0.0.1", resolve));
    await register(admin, `http://127.0.0.1:${code}`);
    const client = connect({ url: `http://127.0.0.1:${ingress}` }).serviceClient<{
      take(work: { run: string; steps: number }, options: Opts): Promise<number>;
    }>({ name: "counting" });
    const call = (run: string, steps: number) =>
      client.take({ run, steps }, Opts.from({ idempotencyKey: run }));
    return {
      begin: async () => {},
      async take(run, steps, lap) {
        laps.set(run, lap);
        await call(run, steps);
      },
      async read(runs, steps) {
        laps.clear();
        return Promise.all(runs.map((run) => call(run, steps)));
      },
      async close() {
        server.kill("SIGTERM");
        await new Promise((resolve) => server.on("exit", resolve));
        serving.close();
      },
      server: server.pid as number,
    };
  },
};

function startServer(folder: string, ports: Readonly<Record<string, number>>): ChildProcess {
  const { ingress, admin, fabric } = ports;
  return spawn(restateBinary(), ["--no-logo", "--base-dir", folder, "--node-name", "bench"], {
    stdio: "ignore",
    env: {
      ...process.env,
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_PORT: String(fabric),
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_DISABLE_TELEMETRY: "true",
    },
  });
}

async function answers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}

async function register(admin: number, uri: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri, force: true }),
  });
  if (!answer.ok) throw new Error(`Restate does not take the service: ${await answer.text()}`);
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer();
          server.listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
