/**
 * The Basic HTTP event processor of SCXML, over a real local server: what a session sends is posted, and what is posted
 * to a session's address becomes its event. https://www.w3.org/TR/scxml/#BasicHTTPEventProcessor
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { SendEffect } from "../../src/core/effect.ts";
import { communicationErrorType, type Event } from "../../src/core/event.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { httpProcessor } from "../../src/ecmascript/index.ts";

const nameParameter = "_scxmleventname";

export class HttpProcessor {
  readonly #server: Server;
  readonly #sessions = new Map<string, (event: Event) => void>();
  /** Requests served: what shows that messages went over the wire. */
  served = 0;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const raw = await readMessage(request);
      const deliver = this.#sessions.get(
        decodeURIComponent(new URL(request.url ?? "/", "http://session").pathname.slice(1)),
      );
      this.served++;
      deliver?.(eventOf(raw));
      response.writeHead(deliver === undefined ? 404 : 200).end();
    });
  }

  static async open(): Promise<HttpProcessor> {
    const processor = new HttpProcessor();
    await new Promise<void>((resolve) => {
      processor.#server.listen(0, "127.0.0.1", resolve);
    });
    return processor;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  /** What a session needs to know of this processor: its own address. */
  environment(run: string): JsonObject {
    const { port } = this.#server.address() as AddressInfo;
    const own = { location: `http://127.0.0.1:${port}/${encodeURIComponent(run)}` };
    return { ioprocessors: { basichttp: own, [httpProcessor]: own } };
  }

  listen(run: string, deliver: (event: Event) => void): void {
    this.#sessions.set(run, deliver);
  }

  /** Posts what a session sends. Gives the event that reports a failure, if it failed. */
  async post({ to, event }: SendEffect): Promise<Event | undefined> {
    const url = new URL((to as { readonly url: string }).url);
    const failed = (message: string): Event => ({
      type: communicationErrorType,
      kind: "platform",
      data: { message },
      ...(event.sendId === undefined ? {} : { sendId: event.sendId }),
    });
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: bodyOf(event, url),
      });
      return response.ok ? undefined : failed(`${url} answered ${response.status}`);
    } catch (error) {
      return failed(`${url}: ${error}`);
    }
  }
}

/** Parameters as a form; content as the body itself, in which case the event's name goes with the address. */
function bodyOf({ type, data }: Event, url: URL): string {
  const name: [string, Json][] = type === "" ? [] : [[nameParameter, type]];
  if (data === undefined || (typeof data === "object" && data !== null && !Array.isArray(data))) {
    const pairs = Object.entries((data ?? {}) as JsonObject).flatMap(([key, value]): [string, Json][] =>
      Array.isArray(value) ? value.map((one): [string, Json] => [key, one]) : [[key, value]],
    );
    return [...name, ...pairs]
      .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(textOf(value))}`)
      .join("&");
  }
  for (const [key, value] of name) url.searchParams.set(key, textOf(value));
  return encodeURIComponent(textOf(data));
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface Message {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly body: string;
  /** The message as it came: request line, headers, body. */
  readonly raw: string;
}

async function readMessage(request: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString("utf8");
  const { method = "", url = "/", httpVersion, rawHeaders } = request;
  const headers = rawHeaders.flatMap((header, index) =>
    index % 2 === 0 ? [`${header}: ${rawHeaders[index + 1]}`] : [],
  );
  const raw = [`${method} ${url} HTTP/${httpVersion}`, ...headers, "", body].join("\r\n");
  return { method, query: new URL(url, "http://session").searchParams, body, raw };
}

/** The event a message is: its name from the name parameter or the method, everything else its data. */
function eventOf({ method, query, body, raw }: Message): Event {
  const isForm = body.includes("=");
  const pairs = [...query, ...(isForm ? new URLSearchParams(body) : [])];
  const name = pairs.find(([key]) => key === nameParameter)?.[1];
  const rest = pairs.filter(([key]) => key !== nameParameter);
  const content = isForm || body === "" ? undefined : decodeURIComponent(body);
  const data: Json | undefined = rest.length > 0 ? Object.fromEntries(rest) : content;
  return {
    type: name ?? `HTTP.${method}`,
    originType: httpProcessor,
    raw,
    ...(data === undefined ? {} : { data }),
  };
}
