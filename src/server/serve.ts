/** Serving an app over HTTP, until it is closed in good order. */
import type { Server as HttpServer, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { limits } from "../limits.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Server } from "./app.ts";

export interface Address {
  /** `127.0.0.1` unless given: others reach it only if one says so. */
  readonly host?: string;
  /** Any that is free unless given. */
  readonly port?: number;
  /** How many connections there are at once at most; as many as its bound unless given. Those beyond are closed. */
  readonly connections?: number;
}

export interface Served {
  readonly url: string;
  readonly port: number;
  /** Takes nothing new, lets what is under way end, for so long at most, and stops. Says whether all has ended. */
  close(withinMs?: number): Promise<boolean>;
}

/** Listens; rejects if it cannot listen there. */
export async function serve(
  server: Pick<Server, "fetch" | "drain" | "close">,
  { host = "127.0.0.1", port = 0, connections = limits.connectionsMax }: Address = {},
): Promise<Served> {
  const http = createAdaptorServer({
    fetch: (request, { incoming }) => server.fetch(request, { address: incoming.socket?.remoteAddress }),
    serverOptions: { maxHeaderSize: limits.headerBytesMax, requestTimeout: limits.requestMsMax },
  }) as HttpServer;
  http.maxConnections = connections;
  const sending = new Sending(http);
  await new Promise<void>((listening, failed) => {
    http.once("error", failed);
    http.listen(port, host, listening);
  });
  const address = http.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}`,
    port: address.port,
    close: async (withinMs = limits.drainMs) => {
      const until = systemClock.now() + withinMs;
      // That of HTTP takes connections for idle whose answer is still on its way, and cuts it off.
      const closed = new Promise<void>((over) => NetServer.prototype.close.call(http, () => over()));
      const isDone = (await server.drain(withinMs)) && (await sending.ended(until - systemClock.now()));
      server.close();
      // Connections that are kept alive would hold it open.
      systemClock.soon(() => http.closeAllConnections());
      await closed;
      return isDone;
    },
  };
}

/** The answers that are on their way to whoever asked. */
class Sending {
  readonly #open = new Set<ServerResponse>();
  #ended: (() => void) | undefined;

  constructor(http: HttpServer) {
    http.on("request", (_, response) => {
      this.#open.add(response);
      response.once("close", () => {
        this.#open.delete(response);
        if (this.#open.size === 0) this.#ended?.();
      });
    });
  }

  /** Resolves when there are none, or after so many milliseconds; says whether there are none. */
  ended(withinMs: number): Promise<boolean> {
    if (this.#open.size === 0) return Promise.resolve(true);
    return new Promise((over) => {
      const cancel = systemClock.after(withinMs, () => over(false));
      this.#ended = () => {
        cancel();
        over(true);
      };
    });
  }
}
