/**
 * The app: routes over a runtime. Every request goes the same way:
 *
 *     who asks → may they → how often → what do they ask → the handler → the answer, or the problem
 *
 * A1. Nothing of a request's body is read before its principal is known and allowed.
 * A2. A handler gets its principal's tenant and no other.
 * A3. Whatever is thrown becomes a problem; what is no error of ours says nothing of the inside.
 */
import { Hono } from "hono";
import { HoldfastError, isHoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Activity } from "../runtime/activity/attempt.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { type Ids, newSecret, systemIds } from "../runtime/ids.ts";
import { Past } from "../runtime/live/past.ts";
import { checkName, defaultTenant } from "../runtime/name.ts";
import type { Runtime } from "../runtime/run.ts";
import { noSeal, type Seal } from "../runtime/seal.ts";
import { checkDevPage, checkDevRequest, type DevAccess, devCookieOf, devPrincipal } from "../security/dev.ts";
import { bearerOf, isSame, type Principal } from "../security/identity.ts";
import { Keys } from "../security/keys.ts";
import { isAllowed } from "../security/policy.ts";
import { fleetOf } from "../store/fleet.ts";
import type { Store } from "../store/store.ts";
import { paths, type RouteName } from "./contract/paths.ts";
import type { Route } from "./contract/route.ts";
import { routes } from "./contract.ts";
import { Elsewhere } from "./elsewhere.ts";
import { Feed } from "./feed.ts";
import { problemOf, problemResponse, requestError } from "./problem-answer.ts";
import { type Rate, Rates } from "./rate.ts";
import { Readiness } from "./readiness.ts";
import { neighbourhoodOf, type Remote } from "./remote.ts";
import { readInput } from "./request-input.ts";
import { handlersOf } from "./routes.ts";
import { frameOf, Sinks } from "./sink.ts";
import { studioFile } from "./studio.ts";
import { Tally } from "./tally.ts";
import { registerUploads } from "./uploads.ts";
import { type Handlers, readSteps, type Scope, type World } from "./world.ts";

export interface ServerOptions {
  readonly runtime: Runtime;
  /** The store of that runtime. */
  readonly store: Store;
  readonly seal?: Seal;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Dev mode, with this token: no keys, this machine only, one principal that may everything. */
  readonly dev?: DevAccess;
  /** The server's own tenant; `default` unless given. */
  readonly tenant?: string;
  /** Code that machines which are uploaded may use. */
  readonly activities?: Readonly<Record<string, Activity>>;
  /** The folder of Studio's files. */
  readonly studio?: string;
  readonly version?: string;
  /** What kind of store it is, and how large, for the overview. */
  readonly storeKind?: string;
  readonly storeBytes?: () => Promise<number | undefined>;
  readonly rate?: Rate;
  /** How often an address is told that it has no good key, before it is told to wait. */
  readonly refusals?: Rate;
  readonly streams?: { readonly perPrincipal?: number; readonly all?: number };
  /** Told of mistakes of the server itself. */
  readonly onError?: (error: unknown) => void;
}

export interface Server {
  /** Answers a request; also without any network. Whoever knows where it comes from says so: bad keys are counted by that. */
  readonly fetch: (request: Request, from?: Remote) => Promise<Response> | Response;
  readonly keys: Keys;
  /** Takes nothing new, ends streams with a hint to come back, and lets what is under way end. Says whether all has. */
  drain(withinMs?: number): Promise<boolean>;
  /** Stops listening to the runtime; neither that nor the store is closed. */
  close(): void;
}

export async function createServer(options: ServerOptions): Promise<Server> {
  const serving = new Serving(options);
  await registerUploads(serving.world, serving.failed);
  return serving.open();
}

/** A request to a route, with the parts of its path, and where it comes from. */
interface Asked {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly from: Remote;
}

class Serving {
  readonly world: World;
  readonly #options: ServerOptions;
  readonly #rates: Rates;
  readonly #refusals: Rates;
  readonly #app = new Hono<{ Bindings: Remote }>();
  readonly #handlers: Handlers;
  readonly #stopped: (() => void)[] = [];
  #underWay = 0;
  #isDraining = false;
  #rested: (() => void) | undefined;

  constructor(options: ServerOptions) {
    const { runtime, store, seal = noSeal, clock = systemClock, ids = systemIds, dev } = options;
    const tenant = options.tenant ?? defaultTenant;
    checkName("tenant", tenant);
    const { perPrincipal = limits.streamsPerPrincipalMax, all = limits.streamsMax } = options.streams ?? {};
    this.#options = options;
    this.#rates = new Rates(
      options.rate ?? { perSecond: limits.requestsPerSecond, burst: 2 * limits.requestsPerSecond },
    );
    this.#refusals = new Rates(
      options.refusals ?? { perSecond: limits.refusalsPerSecond, burst: limits.refusalsBurstMax },
      "requests without a good key",
    );
    this.world = {
      ...{ runtime, store, seal, clock, ids, tenant, isDev: dev !== undefined, devToken: dev?.token },
      past: new Past(store, seal),
      keys: new Keys({ store, now: () => clock.now(), secret: newSecret }),
      feed: new Feed(newSecret(6), fleetOf(store) === undefined ? undefined : clock),
      sinks: new Sinks(clock, { perPrincipal, all }, (principal) => this.#isGood(principal)),
      tally: new Tally(() => clock.now()),
      readiness: new Readiness(store, clock),
      ...{ version: options.version ?? "0.0.0", activities: options.activities ?? {} },
      ...{
        storeKind: options.storeKind ?? "store",
        storeBytes: options.storeBytes ?? (async () => undefined),
      },
      problem: this.failed,
      isDraining: () => this.#isDraining,
      unready: () => (this.#isDraining ? "is draining" : this.#closed),
    };
    this.#handlers = handlersOf(this.world);
  }

  /** Why nothing can be asked any more. */
  #closed: string | undefined;

  readonly failed = (error: unknown): void => {
    try {
      this.#options.onError?.(error);
    } catch {
      // There is nobody left to tell.
    }
  };

  open(): Server {
    const { runtime, feed, tally } = this.world;
    const elsewhere = new Elsewhere({ feed, read: (name, since) => readSteps(this.world, name, since) });
    this.#stopped.push(runtime.observe(elsewhere.here), runtime.observe(tally.told));
    this.#stopped.push(runtime.hear(elsewhere.heard), () => feed.close());
    runtime.stopped.then((error) => {
      this.#closed = error === undefined ? "is closed" : "has stopped: its runtime failed";
    });
    for (const [name, [method, path]] of Object.entries(paths))
      this.#app.on(method.toUpperCase(), path.replace(/\{(\w+)\}/g, ":$1"), (c) =>
        this.#answer(name as RouteName, {
          ...{ request: c.req.raw, from: c.env },
          params: c.req.param() as Readonly<Record<string, string>>,
        }),
      );
    this.#app.notFound((c) => this.#rest(c.req.raw));
    this.#app.onError((error) => this.#problem(error));
    return {
      fetch: (request, from = {}) => this.#app.fetch(request, from),
      keys: this.world.keys,
      drain: (withinMs) => this.#drain(withinMs),
      close: () => {
        for (const stop of this.#stopped) stop();
      },
    };
  }

  async #answer(name: RouteName, asked: Asked): Promise<Response> {
    const { clock, tally } = this.world;
    const stamp = () => clock.stamp?.() ?? clock.now();
    const from = stamp();
    this.#underWay++;
    let response: Response;
    try {
      response = await this.#respond(name, asked);
    } catch (error) {
      response = this.#problem(error);
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) this.#rested?.();
    }
    if (paths[name][2] !== "stream") tally.answered(response.status, stamp() - from);
    return response;
  }

  async #respond(name: RouteName, { request, params, from }: Asked): Promise<Response> {
    const route: Route = routes[name];
    const principal = await this.#admit(route, request, from);
    const input = await readInput(route, request, params);
    const scope: Scope = {
      principal,
      idempotencyKey: idempotencyKeyOf(route, request),
      lastEventId: request.headers.get("last-event-id") ?? undefined,
    };
    if (paths[name][2] === "stream") {
      const response = await this.#stream(name, input, scope);
      // Nobody reads what is answered to HEAD.
      if (request.method === "HEAD") await response.body?.cancel();
      return response;
    }
    const handle = this.#handlers[name] as unknown as (input: object, scope: Scope) => unknown;
    const answer = await handle(input, scope);
    const isText = paths[name][2] === "text";
    return new Response(isText ? (answer as string) : JSON.stringify(answer), {
      status: scope.status ?? route.status,
      headers: {
        "content-type": isText ? (textTypes[name] ?? "text/plain; charset=utf-8") : "application/json",
        ...{ "cache-control": "no-store", "x-content-type-options": "nosniff" },
      },
    });
  }

  /** Who asks; throws if they may not, or not now. */
  async #admit(route: Route, request: Request, from: Remote): Promise<Principal> {
    const { dev } = this.#options;
    if (dev !== undefined) checkDevRequest(request);
    if (route.permission === "public") return nobody;
    if (this.#isDraining)
      throw new HoldfastError("SERVER_DRAINING", "The server is about to stop; ask another one", {
        details: { retryAfterS: 1 },
      });
    const principal = await this.#principalOf(request);
    if (principal === undefined) {
      // Only now: whoever has a good key is not to pay for those who have none.
      this.#refusals.take(neighbourhoodOf(from), this.world.clock.now());
      throw new HoldfastError(
        "KEY_REFUSED",
        "The request has no good key; send one as Authorization: Bearer hf_…, or make one with holdfast keys create",
      );
    }
    const isOwn = principal.tenant === this.world.tenant;
    if (!isAllowed(principal.role, route.permission, { isOwn }))
      throw new HoldfastError(
        "NOT_ALLOWED",
        `The role ${principal.role} of this tenant may not ${route.permission}; ask an admin for a key that may`,
      );
    this.#rates.take(`${principal.via} ${principal.id}`, this.world.clock.now());
    return principal;
  }

  async #principalOf(request: Request): Promise<Principal | undefined> {
    const { dev } = this.#options;
    if (dev !== undefined) return devPrincipal(request, dev, this.world.tenant);
    const key = bearerOf(request.headers.get("authorization"));
    return key === undefined ? undefined : this.world.keys.principal(key);
  }

  async #isGood({ via, id }: Principal): Promise<boolean> {
    return via === "dev" || this.world.keys.isGood(id);
  }

  /** Begins a stream; what is wrong before its first event is told as a problem. */
  async #stream(name: RouteName, input: object, scope: Scope): Promise<Response> {
    const sink = this.world.sinks.add(scope.principal);
    const handle = this.#handlers[name] as unknown as (
      input: object,
      scope: Scope,
      to: typeof sink,
    ) => Promise<void>;
    const run = "run" in input ? String(input.run) : undefined;
    try {
      // Whatever run it is about must be there; the rest is told on the way.
      if (run !== undefined) await this.world.runtime.run(run, { tenant: scope.principal.tenant });
    } catch (error) {
      sink.end();
      throw error;
    }
    handle(input, scope, sink).then(
      () => sink.end(frameOf({ event: "end", data: {} })),
      (error: unknown) => {
        if (!isHoldfastError(error)) this.failed(error);
        // Whoever listens comes back where it was, unless that would be in vain.
        const isInVain = isHoldfastError(error) && error.retry !== "later";
        sink.end(isInVain ? frameOf({ event: "problem", data: problemOf(error) }) : undefined);
      },
    );
    return sink.response;
  }

  /** What is no route: Studio's pages and files; the page that is opened with the token gets it as a cookie. */
  async #rest(request: Request): Promise<Response> {
    try {
      const { dev, studio } = this.#options;
      const { pathname, searchParams } = new URL(request.url);
      const isGet = request.method === "GET" || request.method === "HEAD";
      if (dev !== undefined) (isGet ? checkDevPage : checkDevRequest)(request);
      if (/^\/(v1\/|v1$|openapi\.json$|healthz$|readyz$|metrics$)/.test(pathname))
        throw noRoute(request, pathname);
      if (!isGet) throw new HoldfastError("METHOD_UNSUPPORTED", `${request.method} is not for pages`);
      const token = searchParams.get("token");
      if (dev !== undefined && token !== null && isSame(token, dev.token)) {
        searchParams.delete("token");
        // Two slashes would lead to another host.
        const place = pathname.replace(/^\/+/, "/");
        return new Response(null, {
          status: 303,
          headers: {
            location: searchParams.size === 0 ? place : `${place}?${searchParams}`,
            "set-cookie": `${devCookieOf(request.url)}=${token}; Path=/; HttpOnly; SameSite=Strict`,
            "cache-control": "no-store",
          },
        });
      }
      return await studioFile(studio, pathname);
    } catch (error) {
      return this.#problem(error);
    }
  }

  #problem(error: unknown): Response {
    if (!isHoldfastError(error)) this.failed(error);
    return problemResponse(error);
  }

  async #drain(withinMs: number = limits.drainMs): Promise<boolean> {
    this.#isDraining = true;
    this.world.sinks.endAll(limits.streamRetryMs);
    if (this.#underWay === 0) return true;
    return new Promise((over) => {
      const cancel = this.world.clock.after(withinMs, () => over(false));
      this.#rested = () => {
        cancel();
        over(true);
      };
    });
  }
}

/** Who asks what needs no principal. */
const nobody: Principal = { id: "nobody", tenant: "", role: "viewer", via: "key" };

const textTypes: Partial<Record<RouteName, string>> = {
  "health.metrics": "text/plain; version=0.0.4; charset=utf-8",
};

function noRoute(request: Request, path: string): HoldfastError {
  const methods = Object.values(paths).flatMap(([method, pattern]) =>
    new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+")}$`).test(path) ? [method.toUpperCase()] : [],
  );
  if (methods.length === 0)
    return new HoldfastError("ROUTE_UNKNOWN", `There is no route ${path}; /openapi.json lists them`);
  return new HoldfastError(
    "METHOD_UNSUPPORTED",
    `${path} is asked with ${methods.join(" or ")}, not ${request.method}`,
  );
}

/** The key that makes a repeated request the same one; throws where it would not, so that nobody relies on it in vain. */
function idempotencyKeyOf({ name, isKeyed }: Route, request: Request): string | undefined {
  const key = request.headers.get("idempotency-key") ?? undefined;
  if (key === undefined) return undefined;
  checkName("Idempotency-Key", key);
  // What only reads is the same however often it is asked.
  if (!isKeyed && paths[name][0] !== "get")
    throw requestError([
      {
        path: "header.Idempotency-Key",
        message: `means nothing to ${name}, which would be done again; leave it out`,
      },
    ]);
  return key;
}
