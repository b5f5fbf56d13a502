/**
 * The client: one method for each route, typed by the contract, made from the table of paths. What a route takes comes in
 * one object; which part of it stands in the path, the query or the body follows from the path and the method.
 */
import { HoldfastError } from "../errors.ts";
import { type Form, paths, type RouteName } from "../server/contract/paths.ts";
import type { AnswerOf, InputOf, Problem, StreamName } from "../server/contract.ts";
import { errorOf } from "./problem.ts";
import { type StreamEvent, streamOf } from "./stream.ts";

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:4400`. */
  readonly url: string;
  /** A key (`hf_…`), or the token of a server in dev mode. Studio needs none: its page has a cookie. */
  readonly key?: string;
  /** Instead of the platform's: for instance `app.fetch` of a server in this process. */
  readonly fetch?: (request: Request) => Promise<Response> | Response;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The same key again is the same call: the id of a run that is started, the key of an event that is sent. */
  readonly idempotencyKey?: string;
  /** Of a stream: goes on after the event of this id. */
  readonly lastEventId?: string;
}

type Answered<Name extends RouteName> = Name extends StreamName
  ? AsyncIterable<StreamEvent<AnswerOf<Name>>>
  : Promise<AnswerOf<Name>>;

type Method<Name extends RouteName> =
  Record<never, never> extends InputOf<Name>
    ? (input?: InputOf<Name>, options?: CallOptions) => Answered<Name>
    : (input: InputOf<Name>, options?: CallOptions) => Answered<Name>;

type GroupOf<Name> = Name extends `${infer Group}.${string}` ? Group : never;
/** `client.runs.list(…)`: a group for each resource, and in it a method for each route. */
export type Client = {
  readonly [Group in GroupOf<RouteName>]: {
    readonly [Name in RouteName as Name extends `${Group}.${infer Verb}` ? Verb : never]: Method<Name>;
  };
};

export function createClient(options: ClientOptions): Client {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [name, [method, path, form]] of Object.entries(paths)) {
    const [group, verb] = name.split(".") as [string, string];
    groups[group] ??= {};
    groups[group][verb] = (input: Input = {}, call: CallOptions = {}) => {
      const request = (lastEventId?: string) =>
        requestOf(options, { method, path, input, call: lastEventId ? { ...call, lastEventId } : call });
      if (form === "stream") return streamOf((id) => ask(options, request(id)), call);
      return read(options, request(), form);
    };
  }
  return groups as unknown as Client;
}

type Input = Readonly<Record<string, unknown>>;

interface Call {
  readonly method: string;
  readonly path: string;
  readonly input: Input;
  readonly call: CallOptions;
}

function requestOf({ url, key }: ClientOptions, { method, path, input, call }: Call): Request {
  const rest = { ...input };
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const target = new URL(url.replace(/\/$/, "") + place);
  const hasBody = method === "post" || method === "put";
  if (!hasBody) for (const [name, value] of Object.entries(rest)) addTo(target.searchParams, name, value);
  const headers: Record<string, string> = { accept: "application/json, text/event-stream, text/plain" };
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  if (hasBody) headers["content-type"] = "application/json";
  if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
  if (call.lastEventId !== undefined) headers["last-event-id"] = call.lastEventId;
  return new Request(target, {
    ...{ method: method.toUpperCase(), headers },
    ...(hasBody ? { body: JSON.stringify(rest) } : {}),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
}

/** A value of a query; a record is one of `name[key]` for each of its fields. */
function addTo(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "object" || value === null) query.set(name, String(value));
  else
    for (const [key, one] of Object.entries(value))
      query.set(
        `${name}[${key}]`,
        typeof one === "string" && isAmbiguous(one) ? JSON.stringify(one) : String(one),
      );
}

/** Whether a text would be read as something else. */
const isAmbiguous = (text: string): boolean =>
  text.startsWith('"') ||
  text === "true" ||
  text === "false" ||
  (text.trim() !== "" && Number.isFinite(Number(text)));

/** The answer, if it is a good one; else the problem is thrown. */
async function ask({ fetch: given = fetch, url }: ClientOptions, request: Request): Promise<Response> {
  let response: Response;
  try {
    response = await given(request);
  } catch (cause) {
    if (request.signal.aborted) throw cause;
    throw new HoldfastError(
      "SERVER_UNREACHABLE",
      `No server answers at ${url}: ${(cause as Error).message}; start one with holdfast dev, or say where it is`,
      { cause },
    );
  }
  if (response.ok) return response;
  throw await problemOf(response);
}

async function read(options: ClientOptions, request: Request, form: Form): Promise<unknown> {
  const response = await ask(options, request);
  return form === "text" ? response.text() : response.json();
}

/** The error that an answer tells of; what is no problem of ours comes from something else that listens there. */
async function problemOf(response: Response): Promise<HoldfastError> {
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
  const text = await response.text();
  if (!isProblem)
    return new HoldfastError(
      "SERVER_UNREACHABLE",
      `${response.url} answers with ${response.status}, and not as a server of Holdfast does`,
    );
  const retryAfter = response.headers.get("retry-after");
  return errorOf(JSON.parse(text) as Problem, retryAfter === null ? {} : { retryAfterS: Number(retryAfter) });
}
