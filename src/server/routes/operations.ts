/** The routes of operators: how it goes, who works, dead letters, keys, and what those outside of `/v1` ask. */
import { HoldfastError } from "../../errors.ts";
import { checkName, systemTenant } from "../../runtime/name.ts";
import type { Principal } from "../../security/identity.ts";
import { isAllowed, permissionsOf } from "../../security/policy.ts";
import { serverMetrics } from "../metrics.ts";
import { openApiDocument } from "../openapi.ts";
import { overviewOf } from "../overview.ts";
import { workersOf } from "../workers.ts";
import type { Handlers, Some, World } from "../world.ts";

type OperationHandlers = Some<"operations" | "deadLetters" | "keys" | "me" | "health">;

function unreadyError(part: "server" | "store", why: string): HoldfastError {
  return new HoldfastError("SERVER_UNREADY", `The server is not ready: the ${part} ${why}`, {
    details: { problems: [{ path: part, message: why }], retryAfterS: 1 },
  });
}

/** The tenant whose keys an admin means: their own, or any if theirs is the server's. */
function keyTenant(world: World, tenant: string | undefined, principal: Principal): string {
  if (tenant === undefined || tenant === principal.tenant) return principal.tenant;
  checkName("tenant", tenant);
  if (principal.tenant !== world.tenant)
    throw new HoldfastError("NOT_ALLOWED", "An admin sees to the keys of their own tenant");
  if (tenant === systemTenant)
    throw new HoldfastError(
      "NOT_ALLOWED",
      `The tenant ${JSON.stringify(systemTenant)} is the platform's own`,
    );
  return tenant;
}

export function operationHandlers(world: World): OperationHandlers {
  const { runtime, keys } = world;
  const belonging = ({ tenant }: { tenant: string }) => ({ isOwn: tenant === world.tenant });
  const whose = (tenant: string | undefined, principal: Principal) => keyTenant(world, tenant, principal);
  let document: object | undefined;
  return {
    "operations.overview": (_, { principal }) =>
      overviewOf(world, principal.tenant, isAllowed(principal.role, "oversee", belonging(principal))),
    "operations.workers": () => ({ workers: workersOf(world) }),
    "deadLetters.list": async ({ after = 0, limit = 50 }, { principal: { tenant } }) => {
      const letters: Awaited<ReturnType<Handlers["deadLetters.list"]>>["letters"] = [];
      for await (const letter of runtime.deadLetters.list({ tenant, after })) {
        if (letters.length === limit) return { letters, next: letters.at(-1)?.number as number };
        const { number, run, event, reason, at } = letter;
        letters.push({ number, run, event: { ...event }, reason, at });
      }
      return { letters };
    },
    "deadLetters.redeliver": async ({ number, to }, { principal: { tenant } }) => {
      if (to !== undefined) checkName("run", to);
      await runtime.deadLetters.redeliver(number, { tenant, ...(to === undefined ? {} : { to }) });
      return {};
    },
    "deadLetters.discard": async ({ number }, { principal: { tenant } }) => {
      await runtime.deadLetters.discard(number, { tenant });
      return {};
    },
    "keys.list": async ({ tenant }, { principal }) => ({
      keys: [...(await keys.list(whose(tenant, principal)))],
    }),
    "keys.create": async ({ name, role, tenant, expiresInMs }, { principal }) => {
      const expiresAt = expiresInMs === undefined ? {} : { expiresAt: world.clock.now() + expiresInMs };
      return keys.create({
        name,
        role,
        tenant: whose(tenant, principal),
        createdBy: principal.id,
        ...expiresAt,
      });
    },
    "keys.revoke": ({ key, tenant }, { principal }) => keys.revoke(whose(tenant, principal), key),
    "me.show": (_, { principal: { id, tenant, role, via } }) => ({
      ...{ id, tenant, role, via, permissions: [...permissionsOf(role, belonging({ tenant }))] },
      ...{ version: world.version, isDev: world.isDev },
      // Whoever has come so far has it, if only in a cookie.
      ...(world.devToken === undefined ? {} : { token: world.devToken }),
    }),
    "health.alive": () => "alive\n",
    "health.ready": async () => {
      const why = world.unready();
      if (why !== undefined) throw unreadyError("server", why);
      const whyNot = await world.readiness.store();
      if (whyNot !== undefined) throw unreadyError("store", whyNot);
      return "ready\n";
    },
    "health.metrics": () => serverMetrics(world),
    // Anybody may ask for it, so it is made once.
    "health.openapi": () => {
      document ??= openApiDocument(world.version);
      return document as never;
    },
  };
}
