/**
 * Who may do what: roles, each with what it may, in one table. Deny by default: what is not in the table is refused, and a
 * route cannot be declared without a permission of this list.
 */

/** Each role may all that those before it may. */
export const roles = ["viewer", "operator", "developer", "admin"] as const;
export type Role = (typeof roles)[number];

/** What a principal may be allowed to do. `public` needs no principal at all. */
export const permissions = ["public", "read", "oversee", "operate", "develop", "administer"] as const;
export type Permission = (typeof permissions)[number];

/**
 * `read`: look at everything of its tenant. `oversee`: look at the server as a whole, its workers, latencies and store, which
 * tell of all tenants together; a viewer may, so that whoever only gathers figures needs no key that can act. `operate`: send, ask, decide, cancel, retry, pause, advance. `develop`: start
 * runs, travel, upload and mark machines. `administer`: make and revoke keys.
 */
const granted: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["public", "read", "oversee"],
  operator: ["public", "read", "oversee", "operate"],
  developer: ["public", "read", "oversee", "operate", "develop"],
  admin: ["public", "read", "oversee", "operate", "develop", "administer"],
};

/** What only principals of the server's own tenant may, whatever their role. */
const ownTenantOnly: readonly Permission[] = ["oversee"];

/** Whether a principal is of the server's own tenant; of another's, unless that is said. */
export interface Belonging {
  readonly isOwn?: boolean;
}

/** What a role may; nothing for what is no role. */
export function permissionsOf(role: Role, { isOwn = false }: Belonging = {}): readonly Permission[] {
  const all = Object.hasOwn(granted, role) ? granted[role] : [];
  return isOwn ? all : all.filter((permission) => !ownTenantOnly.includes(permission));
}

/** Whether a role may do something; what is unknown on either side is refused. */
export function isAllowed(
  role: Role | undefined,
  permission: Permission,
  belonging: Belonging = {},
): boolean {
  if (permission === "public") return true;
  return role !== undefined && permissionsOf(role, belonging).includes(permission);
}
