/**
 * Row-level security for a PostgreSQL store: users read what became of their own runs, and nothing else, straight from the
 * database, as Supabase and PostgREST let them; workers have a role of their own.
 *
 * S1. Everything is made in one transaction, under the lock that migrations take, and only if it then holds: roles that
 *     could get round it are refused, and nothing was changed.
 * S2. Making it again gives the same, whatever was changed by hand since.
 * S3. A store of an older version is brought forward first. What users see is taken away before and made again after that,
 *     so that views never keep tables from being changed.
 */
import { HoldfastError } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { checkOptions, type Demand, oneOf, yesOrNo } from "../../options.ts";
import type { PostgresClient, PostgresPool } from "../connect.ts";
import { inTransaction, types } from "../connect.ts";
import { isUndone, storeError } from "../errors.ts";
import { identify, lockSchema, quote } from "../migrate.ts";
import { aName, checkPostgres } from "../options.ts";
import { createPool } from "../pool.ts";
import { migrations } from "../schema.ts";
import { type PostgresOptions, postgres } from "../store.ts";
import { type Identity, identityFunctions } from "./identity.ts";
import type { Names } from "./names.ts";
import { policies, unveil } from "./policies.ts";
import { grants, revokeAll } from "./rights.ts";
import { checkRoles, makeRoles, unusable } from "./roles.ts";
import { checksum, noSendEvent, sendEvent } from "./send-event.ts";
import { look, views } from "./views.ts";

export interface SecureOptions extends Omit<PostgresOptions, "clock"> {
  /** The schema the views are in: `holdfast_views` for the store in `holdfast`, unless given. */
  readonly views?: string;
  /** The role of workers: `holdfast_worker`, unless given. */
  readonly workerRole?: string;
  /** The role of users: `authenticated`, as Supabase has it, unless given. */
  readonly userRole?: string;
  /**
   * What a user goes by. `claim`, unless told otherwise: the `sub` of the token, as `auth.uid()` tells it. `login`: the
   * name of the role that logged in, for users who send SQL of their own and could claim anything.
   */
  readonly identity?: "claim" | "login";
  /** Where the token says which tenant its user belongs to, as `["app_metadata", "tenant"]`; runs of others are not seen. */
  readonly tenantClaim?: string | readonly string[];
  /** Whether errors are told with their messages; they are, unless told otherwise. */
  readonly errors?: boolean;
  /** Whether users may send events to their own runs with `send_event`. Not for a runtime that seals its bytes. */
  readonly events?: boolean;
}

/** Puts a store under row-level security, and makes the views in which users read their own runs. */
export async function secure(urlOrPool: string | PostgresPool, options: SecureOptions = {}): Promise<void> {
  checkPostgres(urlOrPool, options);
  const settled = settle(options);
  const { schema } = settled;
  const pool = typeof urlOrPool === "string" ? await createPool(urlOrPool) : urlOrPool;
  try {
    const version = await identify(pool, schema);
    if (version > 0 && version < migrations.length)
      await withLock(pool, schema, (client) => client.query({ text: unveil(schemasOf(settled)) }));
    const store = postgres(pool, options);
    await store.open();
    await store.close();
    await withLock(pool, schema, (client) => install(client, settled));
  } catch (error) {
    throw storeError(error, `The store in schema ${schema}`);
  } finally {
    if (typeof urlOrPool === "string") await pool.end();
  }
}

const schemasOf = ({ schema, viewSchema }: Settled) => ({ store: quote(schema), views: quote(viewSchema) });

const demands: Readonly<Record<Exclude<keyof SecureOptions, keyof PostgresOptions>, Demand>> = {
  views: aName,
  workerRole: aName,
  userRole: aName,
  identity: oneOf("claim", "login"),
  tenantClaim: {
    is: (given) => {
      const path = typeof given === "string" ? [given] : given;
      return Array.isArray(path) && path.length > 0 && path.every((step) => typeof step === "string");
    },
    wanted: 'where the tenant stands in the token, as ["app_metadata", "tenant"]',
  },
  errors: yesOrNo,
  events: yesOrNo,
};

/** The options with what is meant where nothing was given; throws for what cannot be meant. */
function settle(options: SecureOptions) {
  checkOptions("secure(url, { schema })", options, demands);
  const { schema = "holdfast", workerRole = "holdfast_worker", userRole = "authenticated" } = options;
  const { views: viewSchema = `${schema}_views`, identity = "claim", tenantClaim } = options;
  if (schema === "public" || viewSchema === "public" || schema === viewSchema)
    throw new HoldfastError(
      "STORE_FOREIGN",
      "A store under row-level security and its views need a schema each that is not public; give others",
      { details: { schema, views: viewSchema } },
    );
  if (userRole === workerRole) throw unusable(`Users and workers are both ${userRole}; give each a role`);
  if (identity === "login" && tenantClaim !== undefined)
    throw unusable("Who goes by the role that logged in has no token, and so no tenantClaim");
  const { errors = true, events = false } = options;
  return { schema, viewSchema, workerRole, userRole, identity, tenantClaim, errors, events };
}

type Settled = ReturnType<typeof settle>;

/** One that makes and one that migrates come one after the other; once more if the database undid it in favour of a worker. */
async function withLock<Answer>(
  pool: PostgresPool,
  schema: string,
  work: (client: PostgresClient) => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(pool, async (client) => {
        await lockSchema(client, schema);
        return work(client);
      });
    } catch (error) {
      if (!isUndone(error) || attempt >= limits.undoneAttemptsMax) throw error;
    }
  }
}

async function install(client: PostgresClient, settled: Settled): Promise<void> {
  const { schema, workerRole, userRole, errors, events } = settled;
  const { by, owner, tables, server } = await survey(client, settled);
  if (server < 150_000)
    throw new HoldfastError(
      "STORE_UNSUPPORTED",
      "Row-level security needs views that ask with the rights of whoever reads them, which PostgreSQL has from version 15 on",
    );
  await makeRoles(client, { workerRole, userRole });
  const names: Names = {
    ...schemasOf(settled),
    ...{ workerRole: quote(workerRole), userRole: quote(userRole), owner: quote(owner) },
  };
  const hasTenant = by.tenantClaim !== undefined;
  await client.query({ text: `CREATE SCHEMA IF NOT EXISTS ${names.views} AUTHORIZATION ${names.owner}` });
  // All of it is the owner's, also where a superuser makes it: what runs with its maker's rights has no more than those.
  await client.query({ text: `SET LOCAL ROLE ${names.owner}` });
  // Whoever writes takes the runs first, so that nobody is half-way through.
  await client.query({ text: `LOCK TABLE ${names.store}.run IN ACCESS EXCLUSIVE MODE` });
  const parts = [
    identityFunctions(names, by),
    look(names, hasTenant, errors),
    events ? checksum(names, server >= 180_000) + sendEvent(names, hasTenant) : noSendEvent(names),
    policies(names, tables.map(quote), hasTenant),
    views(names),
    revokeAll(names),
    grants(names, tables.map(quote), [
      ...["uid", "look"],
      ...(hasTenant ? ["tenant"] : []),
      ...(events ? ["send_event"] : []),
    ]),
  ];
  for (const text of parts) await client.query({ text });
  await checkRoles(client, { workerRole, userRole, schema, owner });
}

interface Survey {
  readonly by: Identity;
  readonly owner: string;
  readonly tables: readonly string[];
  /** The server's version, as it numbers them. */
  readonly server: number;
}

async function survey(client: PostgresClient, { schema, identity, tenantClaim }: Settled): Promise<Survey> {
  const { rows } = await client.query({ text: surveyed, values: [schema], types });
  const [found] = rows as { owner: string; tables: string[]; server: number; auth: boolean }[];
  const { owner, tables, server, auth: hasAuth } = found as NonNullable<typeof found>;
  const path = typeof tenantClaim === "string" ? [tenantClaim] : tenantClaim;
  return { by: { by: identity, hasAuth, tenantClaim: path }, owner, tables, server };
}

const surveyed = `
  SELECT pg_get_userbyid((SELECT relowner FROM pg_class WHERE relnamespace = n.oid AND relname = 'run')) AS owner,
    (SELECT jsonb_agg(relname ORDER BY relname) FROM pg_class
      WHERE relnamespace = n.oid AND relkind IN ('r', 'p')) AS tables,
    current_setting('server_version_num')::int AS server,
    to_regprocedure('auth.uid()') IS NOT NULL AS auth
  FROM pg_namespace n WHERE n.nspname = $1`;
