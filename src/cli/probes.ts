/** What a worker answers to those who look after it, over HTTP: whether it lives, whether it is ready, and its figures. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "./arguments.ts";

export interface Answers {
  /** Why it is not ready; undefined if it is. */
  unready(): Promise<string | undefined>;
  /** Its figures, as Prometheus reads them. */
  metrics(): Promise<string>;
}

/** The paths that are served, for whoever writes manifests. */
export const paths = { alive: "/healthz", ready: "/readyz", metrics: "/metrics" } as const;

export interface Probes {
  /** Where they are served, as a URL. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves until it is closed; rejects if it cannot listen there. */
export async function serveProbes(address: Address, answers: Answers): Promise<Probes> {
  const server = createServer((request, response) => {
    respond(request, response, answers).catch((error: unknown) => {
      send(response, 500, `${(error as Error).message}\n`);
    });
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(address.port, address.host, listening);
  });
  const { port } = server.address() as AddressInfo;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  { method, url = "/" }: IncomingMessage,
  response: ServerResponse,
  answers: Answers,
): Promise<void> {
  const path = url.split("?")[0];
  if (!Object.values<string>(paths).includes(path as string)) return send(response, 404, "not found\n");
  if (method !== "GET" && method !== "HEAD") return send(response, 405, "only read\n");
  // Who answers at all is alive.
  if (path === paths.alive) return send(response, 200, "alive\n");
  if (path === paths.metrics)
    return send(response, 200, await answers.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  const unready = await answers.unready();
  send(response, unready === undefined ? 200 : 503, `${unready ?? "ready"}\n`);
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  type = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(text);
}
