/** Weaknesses that the proof must find: each is one that servers have had. */
import type { Runtime } from "../../src/index.ts";
import type { Keys } from "../../src/security/keys.ts";
import type { Server } from "../../src/server/index.ts";
import type { Store } from "../../src/store/store.ts";

/** What no answer to the one tenant may ever have in it. */
export const canary = "CANARY-7f3a91";

export interface Plant {
  readonly name: string;
  readonly what: string;
  readonly store?: (store: Store) => Store;
  readonly runtime?: (runtime: Runtime) => Runtime;
  readonly keys?: (keys: Keys) => void;
  readonly answer?: (request: Request, server: Server) => Promise<Response>;
}

/** The same thing with one of its methods replaced. */
function replaced<Thing extends object>(
  thing: Thing,
  name: keyof Thing,
  method: (...given: never[]) => unknown,
): Thing {
  return new Proxy(thing, {
    get(_, key) {
      if (key === name) return method;
      const value: unknown = Reflect.get(thing, key, thing);
      return typeof value === "function" ? value.bind(thing) : value;
    },
  });
}

async function changed(
  request: Request,
  server: Server,
  change: (body: Record<string, unknown>) => object,
): Promise<Response> {
  const response = await server.fetch(request);
  if (!response.headers.get("content-type")?.includes("json")) return response;
  const body = (await response.json()) as Record<string, unknown>;
  return new Response(JSON.stringify(change(body)), { status: response.status, headers: response.headers });
}

export const plants: readonly Plant[] = [
  {
    name: "tenant-forgotten",
    what: "A route looks for a run without its tenant.",
    runtime: (runtime) =>
      replaced(runtime, "run", (async (id: string, { tenant }: { tenant: string }) =>
        runtime.run(id, { tenant }).catch(() => runtime.run(id, { tenant: "other" }))) as never),
  },
  {
    name: "list-of-all",
    what: "A list leaves out whose runs they are.",
    store: (store) =>
      replaced(store, "findRuns", (async (query: Parameters<Store["findRuns"]>[0]) => [
        ...(await store.findRuns(query)),
        ...(await store.findRuns({ ...query, tenant: "other" })),
      ]) as never),
  },
  {
    name: "handler-throws",
    what: "A handler throws what is no error of ours.",
    store: (store) => {
      let calls = 0;
      return replaced(store, "readForks", (async (name: Parameters<Store["readForks"]>[0]) => {
        if (++calls > 60) throw new TypeError("Cannot read properties of undefined");
        return store.readForks(name);
      }) as never);
    },
  },
  {
    name: "role-unchecked",
    what: "Every key may everything.",
    keys: (keys) => {
      const honest = keys.principal.bind(keys);
      keys.principal = async (key) => {
        const found = await honest(key);
        return found && { ...found, role: "admin" };
      };
    },
  },
  {
    name: "expired-accepted",
    what: "Keys never expire: who once had a good one still has.",
    keys: (keys) => {
      const honest = keys.principal.bind(keys);
      const once = new Map<string, Awaited<ReturnType<Keys["principal"]>>>();
      const create = keys.create.bind(keys);
      keys.create = async (given) => {
        const made = await create(given);
        once.set(made.key, { id: made.id, tenant: made.tenant, role: made.role, via: "key" });
        return made;
      };
      keys.principal = async (key) => (await honest(key)) ?? once.get(key);
    },
  },
  {
    name: "field-missing",
    what: "An answer lacks a field that its schema has.",
    answer: (request, server) =>
      changed(request, server, ({ retry: _retry, next: _next, status: _status, ...body }) => body),
  },
  {
    name: "stack-told",
    what: "A problem tells where in the code it was thrown.",
    answer: (request, server) =>
      changed(request, server, (body) =>
        typeof body.detail === "string"
          ? { ...body, detail: `${body.detail}\n    at run (file:///srv/app.ts:10:5)` }
          : body,
      ),
  },
  {
    name: "header-leaks",
    what: "A header tells of the other tenant.",
    answer: async (request, server) => {
      const response = await server.fetch(request);
      const headers = new Headers(response.headers);
      headers.set("x-last-subject", canary);
      return new Response(response.body, { status: response.status, headers });
    },
  },
  {
    name: "refused-changes",
    what: "What is refused has been done before it was looked at.",
    answer: async (request, server) => {
      const response = await server.fetch(request);
      if (response.status === 403)
        await server.keys.create({ name: "x", role: "viewer", tenant: "x", createdBy: "x" }).catch(() => {});
      return response;
    },
  },
];
