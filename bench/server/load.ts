/** The load: plain sockets that are kept open, each asking again as soon as it is answered, for a bounded time. */
import { Agent, type IncomingMessage, request } from "node:http";

export interface LoadOptions {
  readonly url: string;
  readonly way: "no-op" | "single" | "batch";
  readonly ms: number;
  readonly connections: number;
}

const headers = { authorization: "Bearer bench", "content-type": "application/json" };
const bodies = {
  "no-op": undefined,
  single: JSON.stringify({ events: [{ type: "add", data: 1 }] }),
  batch: JSON.stringify({ events: Array.from({ length: 50 }, () => ({ type: "add", data: 1 })) }),
};

/** So many requests a second, and the latency that one in a hundred exceeds. */
export async function load({
  url,
  way,
  ms,
  connections,
}: LoadOptions): Promise<{ perSecond: number; p99: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + ms;
  const took: number[] = [];
  const sender = async (index: number) => {
    const path = way === "no-op" ? "/v1/me" : `/v1/runs/run-${index}/events`;
    for (let from = performance.now(); from < until; ) {
      const status = await exchange(agent, `${url}${path}`, bodies[way]);
      if (status !== 200) throw new Error(`${path} answered ${status}`);
      const now = performance.now();
      took.push(now - from);
      from = now;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => sender(index)));
  agent.destroy();
  took.sort((one, other) => one - other);
  return { perSecond: (took.length / ms) * 1_000, p99: took[Math.floor(took.length * 0.99)] as number };
}

function exchange(agent: Agent | undefined, url: string, body: string | undefined): Promise<number> {
  return new Promise((answered, failed) => {
    const asked = request(
      url,
      { agent, method: body === undefined ? "GET" : "POST", headers },
      (response) => {
        response.resume();
        response.once("end", () => answered(response.statusCode ?? 0));
      },
    );
    asked.once("error", failed);
    asked.end(body);
  });
}

/** How long one answer takes, to its last byte. */
export async function timed(url: string, path: string): Promise<number> {
  const from = performance.now();
  const status = await exchange(undefined, `${url}${path}`, undefined);
  if (status !== 200) throw new Error(`${path} answered ${status}`);
  return performance.now() - from;
}

export interface Idle {
  /** Resolves when all of them were told of a step, or after some seconds with how many were. */
  nextStep(): Promise<{ readonly all: number; readonly ms: number }>;
  close(): void;
}

/** Opens so many streams, some at a time. */
export async function idleStreams(url: string, count: number): Promise<Idle> {
  const open: IncomingMessage[] = [];
  for (let made = 0; made < count; made += 100)
    open.push(
      ...(await Promise.all(Array.from({ length: Math.min(100, count - made) }, () => openStream(url)))),
    );
  return {
    nextStep: () => {
      const from = performance.now();
      let all = 0;
      return new Promise((told) => {
        const late = setTimeout(() => told({ all, ms: performance.now() - from }), 20_000);
        for (const stream of open)
          stream.once("data", () => {
            if (++all < count) return;
            clearTimeout(late);
            told({ all, ms: performance.now() - from });
          });
      });
    },
    close: () => {
      for (const stream of open) stream.destroy();
    },
  };
}

function openStream(url: string): Promise<IncomingMessage> {
  return new Promise((opened, failed) => {
    const asked = request(`${url}/v1/steps`, { agent: false, headers }, (response) => {
      if (response.statusCode !== 200) failed(new Error(`A stream answered ${response.statusCode}`));
      response.on("error", () => {});
      // Where to come back to is told at once.
      response.once("data", () => opened(response));
    });
    asked.once("error", failed);
    asked.end();
  });
}
